package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// Ended tells the engine of the end of an attempt, or of an instance that now
// waits for its callback. It does not block.
func (e *Engine) Ended(end ax.Ended) {
	e.post(func(now time.Time) {
		t := e.tasks[end.Instance.TaskID]
		if t == nil || t.away {
			return
		}
		inst := end.Instance
		t.deferred = without(t.deferred, inst.ID)
		switch {
		case inst.Deferred:
			t.deferred = append(t.deferred, inst)
		default:
			t.left(inst.ID)
			t.lastEnd = inst.EndedAt
			if end.WillRetry && t.gone {
				e.cancelRow(inst, "the task was removed", now, nil)
			} else if end.WillRetry {
				t.retries = append(t.retries, inst)
			}
		}
		if t.gone && len(t.active) == 0 {
			delete(e.tasks, t.def.ID)
			return
		}
		e.visit(t, now)
	})
}

// Returned tells the engine of an attempt that could not begin: its instance,
// TRIGGERED again, waits until what it takes is there. It does not block.
func (e *Engine) Returned(inst ax.Instance) {
	e.post(func(now time.Time) {
		t := e.tasks[inst.TaskID]
		if t == nil || t.away || !t.holds(inst.ID) {
			return
		}
		t.left(inst.ID)
		if t.gone {
			e.cancelRow(inst, "the task was removed", now, nil)
			if len(t.active) == 0 {
				delete(e.tasks, t.def.ID)
			}
			return
		}
		t.putBack(inst)
		t.retryLater(now) // it is not known yet why its plugin cannot be had
		e.visit(t, now)
	})
}

// putBack lets an instance that was not begun wait where it came from.
func (t *task) putBack(inst ax.Instance) {
	switch {
	case inst.Status == ax.StatusRetrying:
		t.retries = append(t.retries, inst)
	case inst.Kind == ax.KindBackfill:
		t.backfill = append([]ax.Instance{inst}, t.backfill...)
	default:
		t.waiting = append([]ax.Instance{inst}, t.waiting...)
		t.round = max(t.round, 1)
	}
}

// expireDeferred ends deferred runs whose callback did not come in time.
func (e *Engine) expireDeferred(t *task, now time.Time) {
	for _, inst := range slices.Clone(t.deferred) {
		if !inst.DeadlineAt.After(now) {
			e.settleDeferred(t, inst, ax.StatusTimeout, "no callback came by "+inst.DeadlineAt.UTC().Format(time.RFC3339), now)
		}
	}
}

func (e *Engine) settleDeferred(t *task, inst ax.Instance, status ax.Status, text string, now time.Time) {
	t.deferred = without(t.deferred, inst.ID)
	attempt := ax.Attempt{Task: t.def, Instance: inst}
	out := ax.Outcome{Status: status, Error: text, StartedAt: inst.StartedAt, EndedAt: now}
	e.bg.Go(func() { e.cfg.Dispatch.Settle(attempt, out) })
}

// ErrNotRunning says that an instance has ended, or runs on a host that is gone.
var ErrNotRunning = errors.New("the instance does not run any more")

// Cancel ends an instance: a run under way is told to stop, a waiting one will
// not start. inst is its row as read just now.
func (e *Engine) Cancel(inst ax.Instance, by string) error {
	result := make(chan error, 1)
	why := "canceled by " + by
	ok := e.call(func(now time.Time) {
		t := e.tasks[inst.TaskID]
		switch {
		case t == nil:
			result <- ErrUnknownTask
		case e.cfg.Dispatch.Cancel(inst.ID, pluginapi.ErrCanceled):
			result <- nil
		case inst.Status == ax.StatusRunning && inst.Deferred:
			e.settleDeferred(t, inst, ax.StatusCanceled, why, now)
			result <- nil
		case inst.Status == ax.StatusTriggered || inst.Status == ax.StatusDispatched || inst.Status == ax.StatusRetrying:
			e.cancelRow(inst, why, now, func(applied bool, err error) {
				if err == nil && !applied {
					err = ErrNotRunning
				}
				result <- err
				if t.away && applied {
					e.cfg.Elsewhere(t.def)
				}
				e.post(func(now time.Time) {
					if applied {
						t.left(inst.ID)
						t.waiting, t.retries, t.backfill = without(t.waiting, inst.ID), without(t.retries, inst.ID), without(t.backfill, inst.ID)
					}
					e.visit(t, now)
				})
			})
		default:
			result <- ErrNotRunning
		}
	})
	if !ok {
		return ErrNotRunning
	}
	return <-result
}

// cancelRow moves an instance that waits to CANCELED.
func (e *Engine) cancelRow(inst ax.Instance, why string, now time.Time, done func(bool, error)) {
	row := inst
	row.Status, row.Reason, row.EndedAt, row.RetryAt = ax.StatusCanceled, why, now, time.Time{}
	if done == nil {
		done = func(applied bool, err error) {
			if err != nil {
				e.cfg.Log.Error("cannot cancel an instance", "instance_id", inst.ID, "task", inst.TaskName, "error", err)
			}
		}
	}
	e.submit(ax.Change{
		Move:   &ax.Move{From: inst.Status, Fence: inst.Fence, New: row},
		Events: []ax.Event{e.event(&row, now, ax.StageCancel, "warn", why)},
		Done:   done,
	})
}
