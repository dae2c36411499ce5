package host

import (
	"context"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
)

// views returns the state of the tasks with these names, or of all: from the
// engine, and of tasks that other hosts schedule from the database.
func (h *Host) views(ctx context.Context, names ...string) ([]engine.View, error) {
	views := h.engine.Views(names...)
	away := map[ax.TaskID]*engine.View{}
	byName := map[string]*engine.View{}
	for i := range views {
		if views[i].Away {
			away[views[i].Row.ID], byName[views[i].Row.Name] = &views[i], &views[i]
		}
	}
	if len(away) == 0 {
		return views, nil
	}
	app := h.live.Load().cfg.App
	rows, err := h.rowsOf(ctx, app, byName)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if v := away[rows[i].ID]; v != nil {
			v.Row.TaskState = rows[i].TaskState
			v.Running, v.Waiting, v.Retrying, v.Backfill, v.Held, v.Writing = 0, 0, 0, 0, false, false
		}
	}
	waiting, err := h.store.Waiting(ctx, app)
	if err != nil {
		return nil, err
	}
	for _, w := range waiting {
		v := byName[w.Task]
		if v == nil {
			continue
		}
		switch w.Status {
		case ax.StatusRunning, ax.StatusDispatched:
			v.Running += int(w.Count)
		case ax.StatusRetrying:
			v.Retrying += int(w.Count)
		default:
			v.Waiting += int(w.Count)
		}
	}
	return views, nil
}

func (h *Host) rowsOf(ctx context.Context, app string, names map[string]*engine.View) ([]ax.TaskRow, error) {
	if len(names) > 1 {
		return h.store.Tasks(ctx, app)
	}
	for name := range names {
		row, err := h.store.Task(ctx, app, name)
		return []ax.TaskRow{row}, err
	}
	return nil, nil
}
