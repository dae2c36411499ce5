package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// partitioned is a table with a partition for each day and one more, the rest,
// for what is later than all of them. What is older than the first day goes into
// that, so no row is ever without a place.
type partitioned struct {
	table, column string
	// bound is the first value of the column that is of a later day.
	bound func(day time.Time) int64
}

var partitionedTables = []partitioned{
	{"ax_instance", "scheduled_at", func(day time.Time) int64 { return day.AddDate(0, 0, 1).UnixMicro() }},
	{"ax_log", "id", func(day time.Time) int64 { return ax.FirstID(day.AddDate(0, 0, 1)) }},
}

const (
	// tasksAtOnce is how many tasks a statement names.
	tasksAtOnce   = 500
	restPartition = "p_rest"
	dayPartition  = "p20060102"
)

// partition is one that the server has.
type partition struct {
	name string
	day  time.Time // zero for the rest
}

// partitionAhead makes the partitions of the days to come, where the account may
// do that: else the owner has to.
func (d mySQL) partitionAhead(ctx context.Context, s *Store) error {
	_, _, err := s.DropDays(ctx, ax.Kept{})
	return err
}

func (d mySQL) maintainPartitions(ctx context.Context, s *Store, p PartitionParams) (PartitionReport, error) {
	var report PartitionReport
	if made, err := d.tableExists(ctx, s.readDB, s.sql("ax_lease")); err != nil || !made {
		return report, err // there are no tables yet
	}
	_, err := d.tryLease(ctx, s, "partitions", func(ctx context.Context) error {
		return d.changePartitions(ctx, s, p, &report)
	})
	return report, err
}

func (d mySQL) changePartitions(ctx context.Context, s *Store, p PartitionParams, report *PartitionReport) error {
	now, err := d.now(ctx, s.readDB)
	if err != nil {
		return err
	}
	db, err := d.owner()
	if err != nil {
		return err
	}
	defer db.Close()
	// While a change of a table waits for its readers, all others wait for it.
	if _, err := db.ExecContext(ctx, "SET SESSION lock_wait_timeout = 5"); err != nil {
		return err
	}
	for _, t := range partitionedTables {
		m := partitionMaker{mySQL: d, store: s, db: db, partitioned: t, report: report}
		if err := m.run(ctx, p, now.Truncate(24*time.Hour)); err != nil {
			return fmt.Errorf("%s: %w", s.sql(t.table), permitted(err))
		}
	}
	return nil
}

// permitted marks the errors that say that the account lacks a right.
func permitted(err error) error {
	if n := number(err); n == 1142 || n == 1044 || n == 1227 {
		return fmt.Errorf("%w: %w", ErrNotPermitted, err)
	}
	return err
}

// partitionMaker works on one table.
type partitionMaker struct {
	mySQL
	partitioned

	store  *Store
	db     *sql.DB
	report *PartitionReport
}

func (m *partitionMaker) run(ctx context.Context, p PartitionParams, today time.Time) error {
	have, err := m.read(ctx)
	if err != nil {
		return err
	}
	if len(have) == 0 {
		return m.begin(ctx, today, p.Ahead)
	}
	days := 0
	var last time.Time
	for _, one := range have {
		if !one.day.IsZero() {
			m.until(one.day)
			last = one.day
			days++
		}
	}
	if days == 0 {
		return errors.New("its partitions are not by day: somebody else made them")
	}
	rest := have[len(have)-1].name == restPartition
	if err := m.extend(ctx, extension{last: last, until: today.AddDate(0, 0, p.Ahead), rest: rest}); err != nil {
		return err
	}
	if p.Since.IsZero() {
		return nil
	}
	for _, one := range have {
		if one.day.IsZero() || days == 1 || one.day.AddDate(0, 0, 1).After(p.Since) {
			break // the youngest day stays, as the one that later ones come after
		}
		gone, err := m.drop(ctx, one, p)
		if err != nil {
			return err
		}
		if gone {
			days--
		}
	}
	return nil
}

func (m *partitionMaker) until(day time.Time) {
	if end := day.AddDate(0, 0, 1); end.After(m.report.Until) {
		m.report.Until = end
	}
}

// read returns the partitions, in their order; none if the table has none.
func (m *partitionMaker) read(ctx context.Context) ([]partition, error) {
	rows, err := m.db.QueryContext(ctx, `SELECT partition_name FROM information_schema.partitions
  WHERE table_schema = DATABASE() AND table_name = ? AND partition_name IS NOT NULL ORDER BY partition_ordinal_position`, m.store.sql(m.table))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []partition
	for rows.Next() {
		var one partition
		if err := rows.Scan(&one.name); err != nil {
			return nil, err
		}
		one.day, _ = time.Parse(dayPartition, one.name) // zero if it is none
		all = append(all, one)
	}
	return all, rows.Err()
}

// begin makes partitions of a table that is empty. One with rows stays as it is,
// as it does on a server that has no partitions.
func (m *partitionMaker) begin(ctx context.Context, today time.Time, ahead int) error {
	if made, err := m.tableExists(ctx, m.db, m.store.sql(m.table)); err != nil || !made {
		return err
	}
	var there int
	err := m.db.QueryRowContext(ctx, m.store.sql("SELECT count(*) FROM (SELECT 1 FROM "+m.table+" LIMIT 1) AS t")).Scan(&there)
	if err != nil || there > 0 {
		return err
	}
	first := today.AddDate(0, 0, -1)
	text := "ALTER TABLE " + m.table + " PARTITION BY RANGE (" + m.column + ") (" + m.list(first, today.AddDate(0, 0, ahead)) + ")"
	_, err = m.db.ExecContext(ctx, m.store.sql(text))
	if number(err) != 0 && !m.transient(err) && !errors.Is(permitted(err), ErrNotPermitted) {
		m.report.Added = nil
		m.store.log.Warn("the server has no partitions by day: old rows will be deleted one by one", "table", m.store.sql(m.table), "error", err)
		return nil
	}
	return err
}

// extension says which days are missing: those after last up to until, and the
// rest if somebody has dropped it.
type extension struct {
	last, until time.Time
	rest        bool
}

// extend makes the days that are missing. Rows that went into the rest meanwhile
// move to them.
func (m *partitionMaker) extend(ctx context.Context, e extension) error {
	first := e.last.AddDate(0, 0, 1)
	if e.rest && first.After(e.until) {
		return nil
	}
	added, end := len(m.report.Added), m.report.Until
	change := " ADD PARTITION ("
	if e.rest {
		change = " REORGANIZE PARTITION " + restPartition + " INTO ("
	}
	_, err := m.db.ExecContext(ctx, m.store.sql("ALTER TABLE "+m.table+change+m.list(first, e.until)+")"))
	if err != nil {
		m.report.Added, m.report.Until = m.report.Added[:added], end
	}
	return err
}

// list writes the partitions from one day to another, and the rest.
func (m *partitionMaker) list(first, last time.Time) string {
	var b strings.Builder
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		name := day.Format(dayPartition)
		b.WriteString("PARTITION " + name + " VALUES LESS THAN (" + strconv.FormatInt(m.bound(day), 10) + "), ")
		m.report.Added = append(m.report.Added, m.store.sql(m.table)+"."+name)
		m.until(day)
	}
	b.WriteString("PARTITION " + restPartition + " VALUES LESS THAN MAXVALUE")
	return b.String()
}

// drop drops a day if nobody needs it any more. A row that comes into it between
// the look and the drop goes with it: one that is due before all that is kept.
func (m *partitionMaker) drop(ctx context.Context, one partition, p PartitionParams) (bool, error) {
	for _, need := range m.needs(one, p) {
		var n int
		err := m.db.QueryRowContext(ctx, m.store.sql("SELECT count(*) FROM (SELECT 1 FROM "+need.from+" WHERE "+need.where+" LIMIT 1) AS t"),
			need.args...).Scan(&n)
		if err != nil || n > 0 {
			return false, err
		}
	}
	if _, err := m.db.ExecContext(ctx, m.store.sql("ALTER TABLE "+m.table+" DROP PARTITION "+one.name)); err != nil {
		return false, err
	}
	m.report.Dropped = append(m.report.Dropped, m.store.sql(m.table)+"."+one.name)
	return true, nil
}

// need is a reason to keep a day: that there is such a row. Each is found by an
// index.
type need struct {
	from, where string
	args        []any
}

// needs lists what keeps a day. Instances stay if they are another app's, not
// finished, of a task of which more is kept, or were made late, as a backfill is. Events stay as long as there
// are instances of that day or the day before.
func (m *partitionMaker) needs(one partition, p PartitionParams) []need {
	if m.table == "ax_log" {
		return []need{{"ax_instance", "id >= ? AND id < ?", []any{m.bound(one.day.AddDate(0, 0, -2)), m.bound(one.day)}}}
	}
	from := m.table + " PARTITION (" + one.name + ")"
	w := where{}
	w.add("app = ?", p.App)
	in(&w, "status", ax.Unfinished())
	needs := []need{
		{from, "app < ? OR app > ?", []any{p.App, p.App}},
		{from, "id >= ?", []any{ax.FirstID(p.Since)}},
		{from, strings.TrimPrefix(w.text, " WHERE "), w.args},
	}
	for _, longer := range p.Longer() {
		for ids := range slices.Chunk(longer.IDs, tasksAtOnce) {
			args := []any{ax.FirstID(longer.Since)}
			for _, id := range ids {
				args = append(args, int64(id))
			}
			needs = append(needs, need{from, "id >= ? AND task_id IN (" + placeholders(len(ids)) + ")", args})
		}
	}
	return needs
}
