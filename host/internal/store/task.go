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
	rows, err := s.query(ctx, "SELECT "+taskColumns+" FROM ax_task WHERE app = ? AND deleted_at IS NULL ORDER BY name", app)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.TaskRow
	for rows.Next() {
		row, err := scanTask(rows)
		if err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, row)
	}
	return all, s.wrap(what, rows.Err())
}

// Task returns the task of that name, or ErrNotFound, also if it was deleted.
func (s *Store) Task(ctx context.Context, app, name string) (ax.TaskRow, error) {
	row, err := scanTask(s.readDB.QueryRowContext(ctx,
		s.sql("SELECT "+taskColumns+" FROM ax_task WHERE id = ? AND app = ? AND name = ? AND deleted_at IS NULL"),
		int64(ax.NewTaskID(app, name)), app, name))
	return row, s.wrap(fmt.Sprintf("read task %q", name), err)
}

// scanner is a *sql.Row or a *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

func scanTask(row scanner) (ax.TaskRow, error) {
	var (
		t                             ax.TaskRow
		id                            ax.TaskID
		app, name, definition, source string
		enabled                       bool
	)
	err := row.Scan(&id, &app, &name, &definition, &source, &enabled,
		timeColumn{&t.NextAt}, timeColumn{&t.PrevAt}, timesColumn{&t.Planned}, &t.PlanVersion, &t.PlanDone, timeColumn{&t.AnchorAt},
		&t.Paused, timeColumn{&t.PausedUntil}, &t.Parked, &t.Failures,
		&t.Revision, timeColumn{&t.CreatedAt}, &t.CreatedBy, timeColumn{&t.UpdatedAt}, &t.UpdatedBy)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal([]byte(definition), &t.Task); err != nil {
		return t, fmt.Errorf("definition of task %q: %w", name, err)
	}
	t.ID, t.App, t.Name, t.Source, t.Enabled = id, app, name, source, enabled
	return t, nil
}
