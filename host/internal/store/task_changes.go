package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/axsched/ax/host/internal/ax"
)

// TaskChanges is what has become of the tasks of an app.
type TaskChanges struct {
	// Version is the one to ask from next time.
	Version int64
	Changed []ax.TaskRow
	Deleted []ax.TaskID
}

// TasksVersion returns a number that grows whenever a task of the app is defined
// anew, paused, parked, let go on or deleted. Due times that move on do not
// count. It reads one row: hosts can ask every few seconds.
func (s *Store) TasksVersion(ctx context.Context, app string) (int64, error) {
	var version int64
	err := s.readDB.QueryRowContext(ctx, s.sql("SELECT version FROM ax_app WHERE app = ?"), app).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) { // no task was ever made
		return 0, nil
	}
	return version, s.wrap("read the version of the tasks", err)
}

// TasksSince returns the tasks that have changed since a version: one of
// TasksVersion read before Tasks, or that of the last TaskChanges. What changes
// meanwhile may be in this answer and in the next one too.
func (s *Store) TasksSince(ctx context.Context, app string, version int64) (TaskChanges, error) {
	c := TaskChanges{}
	var err error
	if c.Version, err = s.TasksVersion(ctx, app); err != nil || c.Version == version {
		return c, err
	}
	c.Changed, err = s.tasks(ctx, "read the changed tasks", where{
		" WHERE app = ? AND changed > ? AND deleted_at IS NULL", []any{app, version},
	})
	if err != nil {
		return c, err
	}
	const what = "read the deleted tasks"
	rows, err := s.query(ctx, "SELECT id FROM ax_task WHERE app = ? AND changed > ? AND deleted_at IS NOT NULL", app, version)
	if err != nil {
		return c, s.wrap(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id ax.TaskID
		if err := rows.Scan(&id); err != nil {
			return c, s.wrap(what, err)
		}
		c.Deleted = append(c.Deleted, id)
	}
	return c, s.wrap(what, rows.Err())
}

// TasksIn returns the tasks of an app in some of its buckets that were not
// deleted, by name.
func (s *Store) TasksIn(ctx context.Context, app string, buckets []int) ([]ax.TaskRow, error) {
	if len(buckets) == 0 {
		return nil, nil
	}
	w := where{}
	w.add("app = ?", app)
	w.add("deleted_at IS NULL")
	args := make([]any, len(buckets))
	for i, b := range buckets {
		args[i] = b
	}
	w.add("bucket IN ("+placeholders(len(args))+")", args...)
	return s.tasks(ctx, "read the tasks of buckets", w)
}

func (s *Store) tasks(ctx context.Context, what string, w where) ([]ax.TaskRow, error) {
	rows, err := s.query(ctx, "SELECT "+taskColumns+" FROM ax_task"+w.text+" ORDER BY name", w.args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.TaskRow
	for rows.Next() {
		var t ax.TaskRow
		if err := scanTask(rows, &t); err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, t)
	}
	return all, s.wrap(what, rows.Err())
}

// nextVersion counts a change of the tasks of an app and returns its number. The
// row stays locked until the transaction ends, so that a number is seen only
// when all lower ones are.
func (s *Store) nextVersion(ctx context.Context, tx *sql.Tx, app string) (int64, error) {
	for range 2 { // another host may make the row at the same time
		res, err := tx.ExecContext(ctx, s.sql("UPDATE ax_app SET version = version + 1 WHERE app = ?"), app)
		if err != nil {
			return 0, err
		}
		there, err := res.RowsAffected()
		if err != nil {
			return 0, err
		}
		if there > 0 {
			break
		}
		if _, err := tx.ExecContext(ctx, s.sql("INSERT INTO ax_app (app, version) VALUES (?, 0)"), app); err != nil && !s.dialect.duplicate(err) {
			return 0, err
		}
	}
	var version int64
	err := tx.QueryRowContext(ctx, s.sql("SELECT version FROM ax_app WHERE app = ?"), app).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("count a change of the tasks: %w", err)
	}
	return version, nil
}
