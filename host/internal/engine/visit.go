package engine

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// visit does all that can be done for a task now, and arms it for later. It is
// the only place where decisions about a task begin, whatever woke it up: its
// time, the end of an attempt, room in the pool, a change of its definition.
func (e *Engine) visit(t *task, now time.Time) {
	if !e.firing || t.away {
		return
	}
	if t.stale && !t.pending {
		e.reload(t)
		return
	}
	if !t.tryAt.IsZero() && !t.tryAt.After(now) {
		t.tryAt = time.Time{}
	}
	e.endPause(t, now)
	e.expireDeferred(t, now)
	e.skipPause(t, now)
	e.closePause(t, now)
	e.unpark(t, now)
	if t.tryAt.IsZero() {
		e.startRetries(t, now)
		e.startWaiting(t, now)
		e.plan(t, now)
		e.planDelay(t, now)
		for e.dueNow(t, now) {
			if !e.due(t, now) {
				break
			}
		}
		e.startBackfill(t, now)
		e.foresee(t, now)
	}
	e.arm(t, now)
}

func (e *Engine) dueNow(t *task, now time.Time) bool {
	return t.schedulable() && t.tryAt.IsZero() && !t.st.NextAt.IsZero() && !t.st.NextAt.After(now)
}

// due deals with the task's next due time, which has come. It reports whether
// the task may be looked at again at once.
func (e *Engine) due(t *task, now time.Time) bool {
	if err := t.ready(); err != nil {
		t.retryLater(now)
		e.park(t, err.Error(), now)
		return false
	}
	if e.late(t, now) {
		return e.misfire(t, now)
	}
	if t.def.Overlap == ax.OverlapDefer {
		t.round = len(t.waiting)
		e.startWaiting(t, now)
		if t.full() {
			t.round = 0 // the next chance is the next due time
		}
	}
	if t.full() {
		if t.st.NextAt.After(t.catchUp) {
			e.overlap(t, now)
		} // else they are caught up one after the other: the end of a run wakes it
		return false
	}
	due := t.st.NextAt
	if t.broadcast() {
		if due.After(t.catchUp) || len(t.active)+len(t.waiting) == 0 { // else they are caught up one after the other
			e.dueShards(t, due, step{}, now)
		}
		return false
	}
	place := e.cfg.Dispatch.Reserve(t.def, now)
	if place.Room == ax.RoomNone {
		e.hold(t, now)
		return false
	}
	e.fire(t, e.claim(e.instance(t, due, ax.KindScheduled, now), place, now), place, step{last: due}, now)
	return false
}

// hold lets the task wait for room; its due time keeps its place.
func (e *Engine) hold(t *task, now time.Time) {
	if t.heldSince.IsZero() {
		t.heldSince = now
	}
	if t.held {
		return
	}
	t.held = true
	if e.admitting != t { // else it stays at the head of its lane
		e.held[t.lane] = append(e.held[t.lane], t)
	}
}

// Freed tells the engine that there may be room in the pool again.
func (e *Engine) Freed() {
	e.post(func(now time.Time) {
		for lane := range e.held {
			e.admit(lane, now)
		}
	})
}

// admit lets the tasks that wait in a lane go on, in order, until one finds no
// room: the ones behind it would find none either.
func (e *Engine) admit(lane string, now time.Time) {
	for len(e.held[lane]) > 0 {
		t := e.held[lane][0]
		e.admitting, t.held = t, false
		e.visit(t, now)
		e.admitting = nil
		if t.held {
			return
		}
		e.held[lane] = e.held[lane][1:]
	}
	delete(e.held, lane)
}

// startRetries starts attempts whose waiting time is over.
func (e *Engine) startRetries(t *task, now time.Time) {
	for i := 0; i < len(t.retries); i++ {
		inst := t.retries[i]
		if inst.RetryAt.After(now) {
			continue
		}
		if !e.begin(t, inst, now) {
			if inst.Shards > 0 {
				continue // others have nodes of their own
			}
			return
		}
		t.retries = without(t.retries, inst.ID)
		i--
	}
}

// startWaiting starts due times that wait for a place under the concurrency
// limit.
func (e *Engine) startWaiting(t *task, now time.Time) {
	e.startShards(t, now)
	for len(t.waiting) > 0 && t.waiting[0].Shards == 0 {
		if t.def.Overlap == ax.OverlapDefer && t.round == 0 && t.goesOn() {
			return
		}
		if !e.begin(t, t.waiting[0], now) {
			return
		}
		t.waiting = t.waiting[1:]
		t.round = max(t.round-1, 0)
	}
}

// begin moves an instance that has a row already on to an attempt, or to its end
// if there can be none. It reports false if there is no place for it now.
func (e *Engine) begin(t *task, old ax.Instance, now time.Time) bool {
	if t.full() {
		return false
	}
	if t.ready() != nil {
		t.retryLater(now)
		return false
	}
	place, gone := e.placeOf(t, &old, now)
	if gone {
		e.giveUp(t, old, now)
		return true
	}
	if place.Room == ax.RoomNone {
		return false
	}
	inst := e.claim(old, place, now)
	t.entered(&inst, now)
	t.heldSince = time.Time{}
	task, gen := t.def, t.owning
	e.starts.Add(1)
	e.submit(ax.Change{
		Move:   &ax.Move{From: old.Status, Fence: old.Fence, New: inst},
		Events: []ax.Event{e.claimEvent(&inst, now)},
		Done: func(applied bool, err error) {
			defer e.starts.Done()
			if applied {
				e.cfg.Dispatch.Start(ax.Attempt{Task: task, Instance: inst}, place)
				return
			}
			e.cfg.Dispatch.Release(task, place)
			e.post(func(now time.Time) {
				if gen == t.owning {
					e.notBegun(t, old, err, now)
				}
			})
		},
	})
	return true
}

// placeOf finds a place for an instance that has a row already; gone says that
// there will be none.
func (e *Engine) placeOf(t *task, old *ax.Instance, now time.Time) (place ax.Place, gone bool) {
	if old.Shards > 0 {
		return e.placeOfShard(t, old, now)
	}
	// A retry goes where the attempt before it was, whose caches are warm.
	if place = e.cfg.Dispatch.ReserveNear(t.def, now, old.Node); place.Room == ax.RoomNone {
		e.hold(t, now)
	}
	return place, false
}

// notBegun takes note that a move to an attempt was not written.
func (e *Engine) notBegun(t *task, old ax.Instance, err error, now time.Time) {
	t.left(old.ID)
	if err == nil { // another host moved it on: see what it left
		t.stale = true
		e.visit(t, now)
		return
	}
	e.cfg.Log.Error("cannot start an instance, will try again", "task", t.def.Name, "instance_id", old.ID, "error", err)
	t.putBack(old)
	t.retryLater(now)
	e.arm(t, now)
}
