package store

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// OverdueTasks returns the tasks of an app whose next due time was before the
// given time and that should have recorded it, the most overdue first.
func (s *Store) OverdueTasks(ctx context.Context, app string, before time.Time, n int) ([]ax.OverdueTask, error) {
	return collect(ctx, s, "look for due times without a row", func(row scanner) (ax.OverdueTask, error) {
		var t ax.OverdueTask
		err := row.Scan(&t.ID, &t.Name, timeColumn{&t.NextAt}, &t.Parked)
		return t, err
	}, overdueQuery, app, before.UnixMicro(), n)
}

const overdueQuery = `SELECT id, name, next_at, parked FROM ax_task
  WHERE app = ? AND next_at < ? AND enabled = 1 AND paused = 0 AND deleted_at IS NULL ORDER BY next_at LIMIT ?`

// WatchedInstances returns what waits or runs, the oldest of each state first.
func (s *Store) WatchedInstances(ctx context.Context, app string, n int) ([]ax.WatchedInstance, error) {
	return collect(ctx, s, "look for slow and late runs", func(row scanner) (ax.WatchedInstance, error) {
		var i ax.WatchedInstance
		err := row.Scan(&i.ID, &i.TaskID, &i.TaskName, &i.Status, timeColumn{&i.ScheduledAt}, timeColumn{&i.StartedAt}, &i.Attempt, &i.Node)
		return i, err
	}, `SELECT id, task_id, task_name, status, scheduled_at, started_at, attempt, node FROM ax_instance
  WHERE app = ? AND status IN (?, ?, ?) ORDER BY status, id LIMIT ?`,
		app, string(ax.StatusTriggered), string(ax.StatusDispatched), string(ax.StatusRunning), n)
}

// CountRecent counts the instances that were recorded since the given time, by
// status.
func (s *Store) CountRecent(ctx context.Context, app string, since time.Time) (map[ax.Status]int, error) {
	type count struct {
		status ax.Status
		n      int
	}
	rows, err := collect(ctx, s, "count the newest instances", func(row scanner) (count, error) {
		var c count
		err := row.Scan(&c.status, &c.n)
		return c, err
	}, "SELECT status, count(*) FROM ax_instance WHERE id >= ? AND app = ? GROUP BY status", ax.FirstID(since), app)
	counts := map[ax.Status]int{}
	for _, c := range rows {
		counts[c.status] = c.n
	}
	return counts, err
}

// NewestSuccesses returns those of the tasks that have an instance, recorded
// since the given time, that was a success, and when the newest of them ended.
func (s *Store) NewestSuccesses(ctx context.Context, ids []ax.TaskID, since time.Time) ([]ax.TaskSuccess, error) {
	return inChunks(ids, func(chunk []ax.TaskID) ([]ax.TaskSuccess, error) {
		args := append(idArgs(chunk), ax.FirstID(since), string(ax.StatusSuccess))
		return collect(ctx, s, "look for successes", func(row scanner) (ax.TaskSuccess, error) {
			var t ax.TaskSuccess
			err := row.Scan(&t.ID, &t.Name, timeColumn{&t.At})
			return t, err
		}, "SELECT task_id, max(task_name), max(ended_at) FROM ax_instance WHERE task_id IN ("+placeholders(len(chunk))+
			") AND id >= ? AND status = ? GROUP BY task_id", args...)
	})
}
