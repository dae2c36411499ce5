package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Errors of Transfer.
var (
	// ErrInUse: a host gives signs of life in one of the databases.
	ErrInUse = errors.New("a host uses the database")
	// ErrNotEmpty: the target has data that is not of this transfer.
	ErrNotEmpty = errors.New("the target has other data")
)

const (
	// aliveFor is how new a sign of life must be for its host to count as alive.
	aliveFor = 20 * time.Second
	// transferRows and transferBytes bound what goes over in one transaction.
	transferRows  = 500
	transferBytes = 1 << 20
)

// moved is a table that Transfer moves. What is not named here belongs to hosts
// that run: their rows, leases and witnesses.
type moved struct {
	name string
	// key is a column of integers by whose order rows go; empty for a small table,
	// which goes at once.
	key string
}

var movedTables = []moved{
	{"ax_app", ""}, {"ax_task", "id"}, {"ax_instance", "id"}, {"ax_log", "id"}, {"ax_audit", "id"},
	{"ax_alert", "id"}, {"ax_alert_event", "id"}, {"ax_alert_task", "task_id"}, {"ax_alert_notifier", ""}, {"ax_alert_silence", "id"}, {"ax_request", ""},
}

// TransferProgress is how far a Transfer is, in rows.
type TransferProgress struct {
	Table       string
	Done, Total int64 // of all tables
}

// TransferReport says what a Transfer did.
type TransferReport struct {
	// Rows counts those that are in the target, by table; Moved those of all
	// tables that came with this call.
	Rows  map[string]int64
	Moved int64
	// Complete: an earlier call had moved everything.
	Complete bool
}

// Transfer copies all tasks, instances, events, alerts and the audit trail into
// another database, with their ids. Both must have the schema of this program, the
// source may be open for reading only. A call that was cut short is resumed by the
// next: how far it is stands in the target, in the table ax_transfer, which stays
// there. No host may run on either; progress may be nil.
func Transfer(ctx context.Context, from, to *Store, progress func(TransferProgress)) (TransferReport, error) {
	t := &transfer{from: from, to: to, progress: progress, report: TransferReport{Rows: map[string]int64{}}}
	if err := t.run(ctx); err != nil {
		return t.report, fmt.Errorf("move the data: %w", err)
	}
	return t.report, nil
}

type transfer struct {
	from, to    *Store
	progress    func(TransferProgress)
	report      TransferReport
	done, total int64
}

func (t *transfer) run(ctx context.Context) error {
	for _, side := range []struct {
		store *Store
		name  string
	}{{t.from, "source"}, {t.to, "target"}} {
		ahead, err := side.store.schemaAhead(ctx)
		if err == nil && ahead > 0 { // what it has added would stay behind
			err = fmt.Errorf("%w: move the data with the program that made it", ErrSchemaNew)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
		if err := side.store.unused(ctx); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
	}
	complete, err := t.begin(ctx)
	if err != nil {
		return err
	}
	t.report.Complete = complete
	counts := map[string]int64{}
	for _, table := range movedTables {
		if counts[table.name], err = t.from.countRows(ctx, table.name); err != nil {
			return err
		}
		there, err := t.to.countRows(ctx, table.name)
		if err != nil {
			return err
		}
		t.total, t.done = t.total+counts[table.name], t.done+there
	}
	for _, table := range movedTables {
		if !complete {
			if err := t.table(ctx, table); err != nil {
				return fmt.Errorf("%s: %w", table.name, err)
			}
		}
		n, err := t.to.countRows(ctx, table.name)
		switch {
		case err != nil:
			return err
		case !complete && n != counts[table.name]:
			return fmt.Errorf("%s has %d rows in the source and %d in the target: somebody else has written there", table.name, counts[table.name], n)
		}
		t.report.Rows[table.name] = n
	}
	if complete {
		return nil
	}
	return t.finish(ctx)
}

// unused returns ErrInUse if a host has given a sign of life of late.
func (s *Store) unused(ctx context.Context) error {
	var name sql.NullString
	err := s.readDB.QueryRowContext(ctx, s.sql("SELECT max(name) FROM ax_node WHERE beat_at > "+s.dialect.clock()+" - ?"), aliveFor.Microseconds()).Scan(&name)
	if err == nil && name.Valid {
		return fmt.Errorf("%w: %s; stop it first, and if it was killed wait %s", ErrInUse, name.String, aliveFor)
	}
	return s.wrap("look for hosts", err)
}

func (s *Store) countRows(ctx context.Context, table string) (n int64, err error) {
	err = s.readDB.QueryRowContext(ctx, s.sql("SELECT count(*) FROM "+table)).Scan(&n)
	return n, s.wrap("count "+table, err)
}

// fingerprint tells databases apart: when their first table was made.
func (s *Store) fingerprint(ctx context.Context) (string, error) {
	var at int64
	err := s.readDB.QueryRowContext(ctx, s.sql("SELECT applied_at FROM ax_schema WHERE version = 1")).Scan(&at)
	return s.dialect.kind() + " " + strconv.FormatInt(at, 10), s.wrap("read when the database was made", err)
}

// wholeTransfer is the row of ax_transfer about all tables.
const wholeTransfer = "*"

// begin makes or finds ax_transfer, and reports whether an earlier call has moved
// everything.
func (t *transfer) begin(ctx context.Context) (complete bool, err error) {
	source, err := t.from.fingerprint(ctx)
	if err != nil {
		return false, err
	}
	const create = "CREATE TABLE IF NOT EXISTS ax_transfer (name VARCHAR(64) NOT NULL PRIMARY KEY, source VARCHAR(64) NOT NULL, last_key BIGINT NOT NULL, done BIGINT NOT NULL)"
	if _, err := t.to.exec(ctx, "make the table of what was moved", create); err != nil {
		return false, err
	}
	var known string
	var done int64
	err = t.to.readDB.QueryRowContext(ctx, t.to.sql("SELECT source, done FROM ax_transfer WHERE name = ?"), wholeTransfer).Scan(&known, &done)
	switch {
	case err == nil && known != source:
		return false, fmt.Errorf("%w: it was filled from another database", ErrNotEmpty)
	case err == nil:
		return done > 0, nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, t.to.wrap("look what was moved", err)
	}
	for _, table := range movedTables {
		n, err := t.to.countRows(ctx, table.name)
		if err != nil {
			return false, err
		}
		if n > 0 {
			return false, fmt.Errorf("%w: %d rows in %s", ErrNotEmpty, n, table.name)
		}
	}
	return false, t.to.writeTx(ctx, "begin to move", func(tx *sql.Tx) error {
		for _, name := range append([]string{wholeTransfer}, names(movedTables)...) {
			if _, err := tx.ExecContext(ctx, t.to.sql("INSERT INTO ax_transfer (name, source, last_key, done) VALUES (?, ?, ?, 0)"), name, source, beforeAll); err != nil {
				return err
			}
		}
		return nil
	})
}

// beforeAll is smaller than all keys: ids of tasks are hashes and may be 0.
const beforeAll = -1

func names(tables []moved) []string {
	all := make([]string, len(tables))
	for i, t := range tables {
		all[i] = t.name
	}
	return all
}

// finish notes that everything has been moved.
func (t *transfer) finish(ctx context.Context) error {
	return t.to.writeTx(ctx, "note that everything is there", func(tx *sql.Tx) error {
		return t.advance(ctx, tx, step{name: wholeTransfer, was: beforeAll, done: 1})
	})
}

// step is the progress of a table from one key to another.
type step struct {
	name           string
	was, key, done int64
}

// advance notes a step, unless another transfer has done so meanwhile.
func (t *transfer) advance(ctx context.Context, tx *sql.Tx, s step) error {
	res, err := tx.ExecContext(ctx, t.to.sql("UPDATE ax_transfer SET last_key = ?, done = ? WHERE name = ? AND last_key = ? AND done = 0"), s.key, s.done, s.name, s.was)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, errors.New("another process moves data as well"))
	}
	return nil
}

// table moves what is left of a table.
func (t *transfer) table(ctx context.Context, table moved) error {
	var last, done int64
	err := t.to.readDB.QueryRowContext(ctx, t.to.sql("SELECT last_key, done FROM ax_transfer WHERE name = ?"), table.name).Scan(&last, &done)
	if err != nil {
		return t.to.wrap("look how far it is", err)
	}
	t.tell(table.name, 0)
	for done == 0 {
		batch, err := t.read(ctx, table, last)
		if err != nil {
			return err
		}
		next := step{name: table.name, was: last, key: batch.last}
		if batch.end {
			next.done = 1
		}
		err = t.to.writeTx(ctx, "write", func(tx *sql.Tx) error {
			if err := batch.insert(ctx, t.to, tx, table.name); err != nil {
				return err
			}
			return t.advance(ctx, tx, next)
		})
		if err != nil {
			return err
		}
		last, done = next.key, next.done
		t.report.Moved += int64(len(batch.rows))
		t.tell(table.name, int64(len(batch.rows)))
	}
	return nil
}

func (t *transfer) tell(table string, more int64) {
	t.done += more
	if t.progress != nil {
		t.progress(TransferProgress{Table: table, Done: t.done, Total: t.total})
	}
}
