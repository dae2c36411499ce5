package store

import (
	"context"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// DueRow is what has become of a due time, in short.
type DueRow struct {
	ID          ax.InstanceID
	ScheduledAt time.Time
	Kind        ax.Kind
	Status      ax.Status
	// MissedUntil is the last due time that a MISSED row stands for.
	MissedUntil time.Time
}

// DueRows returns the scheduled and backfilled instances of a task that are due
// at since or later and before until, by due time. Before them comes the newest
// scheduled one that is due earlier, if there is one: a MISSED row may reach into
// the span.
func (s *Store) DueRows(ctx context.Context, app, task string, since, until time.Time) ([]DueRow, error) {
	const what = "read the due times"
	id := int64(ax.NewTaskID(app, task))
	rows, err := s.query(ctx, dueRowsQuery, id, since.UnixMicro(), id, since.UnixMicro(), until.UnixMicro())
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []DueRow
	for rows.Next() {
		var r DueRow
		if err := rows.Scan(&r.ID, timeColumn{&r.ScheduledAt}, &r.Kind, &r.Status, timeColumn{&r.MissedUntil}); err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, r)
	}
	return all, s.wrap(what, rows.Err())
}

const dueRowsQuery = `SELECT * FROM (SELECT id, scheduled_at, kind, status, missed_until FROM ax_instance
  WHERE task_id = ? AND scheduled_at < ? AND kind = 'scheduled' ORDER BY scheduled_at DESC LIMIT 1) older
  UNION ALL SELECT id, scheduled_at, kind, status, missed_until FROM ax_instance
  WHERE task_id = ? AND scheduled_at >= ? AND scheduled_at < ? AND kind IN ('scheduled', 'backfill')
  ORDER BY scheduled_at, kind`

// InstanceBefore returns the newest scheduled instance of a task that is due
// before the given time, or ErrNotFound.
func (s *Store) InstanceBefore(ctx context.Context, app, task string, at time.Time) (ax.Instance, error) {
	i, err := scanInstance(s.readDB.QueryRowContext(ctx, s.sql(instanceBeforeQuery), int64(ax.NewTaskID(app, task)), at.UnixMicro()))
	return i, s.wrap(fmt.Sprintf("read the instance of task %q before %s", task, at.Format(time.RFC3339)), err)
}

const instanceBeforeQuery = "SELECT " + instanceColumns + ` FROM ax_instance
  WHERE task_id = ? AND scheduled_at < ? AND kind = 'scheduled' ORDER BY scheduled_at DESC LIMIT 1`

// CountInstances counts what the filter selects by status; Before and Limit are
// not looked at.
func (s *Store) CountInstances(ctx context.Context, f ax.InstanceFilter) (map[ax.Status]int, error) {
	const what = "count the instances"
	f.Before = 0
	w := instanceWhere(f)
	rows, err := s.query(ctx, "SELECT status, count(*) FROM ax_instance"+w.text+" GROUP BY status", w.args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	counts := map[ax.Status]int{}
	for rows.Next() {
		var status ax.Status
		var n int
		if err := rows.Scan(&status, &n); err != nil {
			return nil, s.wrap(what, err)
		}
		counts[status] = n
	}
	return counts, s.wrap(what, rows.Err())
}
