package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/axsched/ax/host/internal/ax"
)

const taskColumns = `id, app, name, definition, source, enabled,
  next_at, prev_at, planned, plan_version, plan_done, anchor_at,
  paused, paused_until, parked, failures,
  revision, created_at, created_by, updated_at, updated_by`

// Tasks returns the tasks of an app that were not deleted, by name.
func (s *Store) Tasks(ctx context.Context, app string) ([]ax.TaskRow, error) {
	const what = "read the tasks"
	const which = " FROM ax_task WHERE app = ? AND deleted_at IS NULL"
	// The rows are large and may be a million: growing the slice step by step
	// would cost more than counting them first. The count is only a hint.
	var n int
	if err := s.readDB.QueryRowContext(ctx, s.sql("SELECT count(*)"+which), app).Scan(&n); err != nil {
		return nil, s.wrap(what, err)
	}
	rows, err := s.query(ctx, "SELECT "+taskColumns+which+" ORDER BY name", app)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	all := make([]ax.TaskRow, 0, n)
	for rows.Next() {
		all = append(all, ax.TaskRow{})
		if err := scanTask(rows, &all[len(all)-1]); err != nil {
			return nil, s.wrap(what, err)
		}
	}
	return all, s.wrap(what, rows.Err())
}

// Task returns the task of that name, or ErrNotFound, also if it was deleted.
func (s *Store) Task(ctx context.Context, app, name string) (ax.TaskRow, error) {
	var t ax.TaskRow
	err := scanTask(s.readDB.QueryRowContext(ctx,
		s.sql("SELECT "+taskColumns+" FROM ax_task WHERE id = ? AND app = ? AND name = ? AND deleted_at IS NULL"),
		int64(ax.NewTaskID(app, name)), app, name), &t)
	return t, s.wrap(fmt.Sprintf("read task %q", name), err)
}

// scanner is a *sql.Row or a *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// scanTask reads a row of taskColumns into an empty t.
func scanTask(row scanner, t *ax.TaskRow) error {
	var (
		id                            ax.TaskID
		app, name, definition, source string
		enabled                       bool
	)
	err := row.Scan(&id, &app, &name, &definition, &source, &enabled,
		timeColumn{&t.NextAt}, timeColumn{&t.PrevAt}, timesColumn{&t.Planned}, &t.PlanVersion, &t.PlanDone, timeColumn{&t.AnchorAt},
		&t.Paused, timeColumn{&t.PausedUntil}, &t.Parked, &t.Failures,
		&t.Revision, timeColumn{&t.CreatedAt}, &t.CreatedBy, timeColumn{&t.UpdatedAt}, &t.UpdatedBy)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(definition), &t.Task); err != nil {
		return fmt.Errorf("definition of task %q: %w", name, err)
	}
	t.ID, t.App, t.Name, t.Source, t.Enabled = id, app, name, source, enabled
	return nil
}
