package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TaskOwner is who schedules a task.
type TaskOwner struct {
	// Incarnation is that of the host, empty if none has taken the task yet.
	Incarnation string
	// Fence grows by one each time the owner changes.
	Fence int64
}

// TaskOwner returns who schedules a task, or ErrNotFound.
func (s *Store) TaskOwner(ctx context.Context, task ax.TaskID) (TaskOwner, error) {
	var o TaskOwner
	err := s.readDB.QueryRowContext(ctx, s.sql("SELECT owner, fence FROM ax_task WHERE id = ? AND deleted_at IS NULL"), int64(task)).
		Scan(&o.Incarnation, &o.Fence)
	return o, s.wrap(fmt.Sprintf("read the owner of task %d", task), err)
}

// MoveOwner gives a task to the host with an incarnation if the fence still is
// the one that the caller saw. It returns false if it is not: another host was
// faster.
func (s *Store) MoveOwner(ctx context.Context, task ax.TaskID, fence int64, incarnation string) (bool, error) {
	n, err := s.exec(ctx, fmt.Sprintf("move the owner of task %d", task),
		"UPDATE ax_task SET owner = ?, fence = fence + 1 WHERE id = ? AND fence = ? AND deleted_at IS NULL", incarnation, int64(task), fence)
	return n > 0, err
}

// UnfinishedOf is Unfinished for the instances that hosts with these
// incarnations are running or have been sent.
func (s *Store) UnfinishedOf(ctx context.Context, app string, incarnations []string) iter.Seq2[ax.Instance, error] {
	if len(incarnations) == 0 {
		return func(func(ax.Instance, error) bool) {}
	}
	w := where{}
	in(&w, "owner", incarnations)
	return s.unfinishedWhere(ctx, app, w)
}

// RetriesDue returns at most limit instances whose next attempt was due before a
// time, with ids above after, by rising id.
func (s *Store) RetriesDue(ctx context.Context, app string, before time.Time, after ax.InstanceID, limit int) ([]ax.Instance, error) {
	const what = "read the retries that are overdue"
	w := where{}
	w.add("app = ?", app)
	w.add("status = ?", string(ax.StatusRetrying))
	w.add("id > ?", int64(after))
	w.add("retry_at < ?", micros(before))
	rows, err := s.query(ctx, "SELECT "+instanceColumns+" FROM ax_instance"+w.text+" ORDER BY id LIMIT ?", append(w.args, limit)...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	list, err := scanInstances(rows)
	return list, s.wrap(what, err)
}

// CountActive counts the instances of a task that are DISPATCHED or RUNNING, on
// whatever host. It reads the active instances of the app, which are few.
func (s *Store) CountActive(ctx context.Context, app string, task ax.TaskID) (int, error) {
	text, args := countActiveQuery(app, task)
	var n sql.NullInt64
	err := s.readDB.QueryRowContext(ctx, s.sql(text), args...).Scan(&n)
	return int(n.Int64), s.wrap(fmt.Sprintf("count what runs of task %d", task), err)
}

func countActiveQuery(app string, task ax.TaskID) (text string, args []any) {
	w := where{}
	w.add("app = ?", app)
	in(&w, "status", []ax.Status{ax.StatusDispatched, ax.StatusRunning})
	// A condition on task_id would lead through the whole history of the task.
	return "SELECT sum(CASE WHEN task_id = ? THEN 1 ELSE 0 END) FROM ax_instance" + w.text, append([]any{int64(task)}, w.args...)
}
