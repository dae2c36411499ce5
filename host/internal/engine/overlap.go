package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// overlap applies the task's policy to a due time that finds the concurrency
// limit used up.
func (e *Engine) overlap(t *task, now time.Time) {
	if t.backfilling() > 0 && len(t.waiting) == 0 {
		e.wait(t, nil, now) // a backfill costs no due time
		return
	}
	switch t.def.Overlap {
	case ax.OverlapQueue:
		if len(t.waiting) < max(t.def.QueueLimit, 1) {
			e.wait(t, nil, now)
			return
		}
		e.skip(t, now, fmt.Sprintf("%d run and %d wait already", len(t.active), len(t.waiting)))
	case ax.OverlapDefer:
		e.wait(t, t.oldestWaiting(), now)
	case ax.OverlapReplace:
		e.wait(t, t.oldestWaiting(), now)
		e.cancelOldest(t, now)
	default:
		e.skip(t, now, fmt.Sprintf("an earlier run has not ended (limit %d)", max(t.def.Concurrency, 1)))
	}
}

// oldestWaiting is the oldest due time that waits; a run that a person asked for
// gives its place to nobody.
func (t *task) oldestWaiting() *ax.Instance {
	i := slices.IndexFunc(t.waiting, func(inst ax.Instance) bool { return inst.Kind != ax.KindManual })
	if i < 0 {
		return nil
	}
	return &t.waiting[i]
}

// waitsFor says what a TRIGGERED instance waits for.
func waitsFor(o ax.Overlap) string { return fmt.Sprintf("waits for a place (%s)", o) }

func (e *Engine) skip(t *task, now time.Time, why string) {
	row := e.instance(t, t.st.NextAt, ax.KindScheduled, now)
	row.Status, row.Reason, row.EndedAt = ax.StatusSkipped, "skipped: "+why, now
	e.advance(t, step{
		last: row.ScheduledAt, insert: []ax.Instance{row},
		events: []ax.Event{e.event(&row, now, ax.StageOutcome, "warn", row.Reason)},
		after:  func() { e.observeDropped(ax.DueSkipped, t, row, now) },
	}, now)
}

// wait records the due time as TRIGGERED; instead of, if not nil, is a waiting
// one that gives up its place.
func (e *Engine) wait(t *task, instead *ax.Instance, now time.Time) {
	row := e.instance(t, t.st.NextAt, ax.KindScheduled, now)
	row.Status, row.Reason = ax.StatusTriggered, waitsFor(t.def.Overlap)
	s := step{
		last: row.ScheduledAt, insert: []ax.Instance{row},
		events: []ax.Event{e.event(&row, now, ax.StageTriggerReady, "info", row.Reason)},
	}
	s.after = func() { t.waiting = append(t.waiting, row) }
	if instead != nil {
		old := *instead
		old.Status, old.Reason, old.EndedAt = ax.StatusSkipped, "skipped: the due time after it took its place", now
		s.move = &ax.Move{From: ax.StatusTriggered, Fence: instead.Fence, New: old}
		s.events = append(s.events, e.event(&old, now, ax.StageOutcome, "warn", old.Reason))
		s.after = func() {
			t.waiting = append(without(t.waiting, old.ID), row)
			e.observeDropped(ax.DueSkipped, t, old, now)
		}
	}
	e.advance(t, s, now)
}

func (e *Engine) cancelOldest(t *task, now time.Time) {
	if len(t.active) == 0 {
		return
	}
	id := t.active[0].id
	for i := range t.deferred {
		if t.deferred[i].ID == id {
			e.settleDeferred(t, t.deferred[i], ax.StatusCanceled, pluginapi.ErrReplaced.Error(), now)
			return
		}
	}
	e.cfg.Dispatch.Cancel(id, pluginapi.ErrReplaced)
}
