package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// step moves a task's plan past one or more due times, together with the rows
// that account for them.
type step struct {
	last   time.Time // the newest due time that is accounted for
	insert []ax.Instance
	move   *ax.Move
	events []ax.Event
	// written is called in the writer's goroutine, afterwards in the loop.
	written func()
	after   func()
	// failed is called in the writer's goroutine if nothing was written.
	failed func()
}

// instance makes the row of a due time, still PENDING.
func (e *Engine) instance(t *task, due time.Time, kind ax.Kind, now time.Time) ax.Instance {
	inst := e.unbound(t, due, kind, now)
	t.bind(&inst)
	return inst
}

// unbound is instance without the parameters.
func (e *Engine) unbound(t *task, due time.Time, kind ax.Kind, now time.Time) ax.Instance {
	return ax.Instance{
		ID: ax.InstanceID(e.cfg.IDs.Next(now)), TaskID: t.def.ID, TaskName: t.def.Name, App: e.cfg.App,
		ScheduledAt: due.In(t.zone), Kind: kind, Status: ax.StatusPending,
		TraceID: ax.NewTraceID(), CreatedAt: now,
	}
}

// bind gives an instance its parameters, as far as they are made by the host.
func (t *task) bind(inst *ax.Instance) {
	if t.params != nil {
		inst.Params, inst.ParamsBound = t.params(inst)
	}
}

// claim turns an instance into what its row is with a place for an attempt: the
// claim is part of the same write if a worker is free, or will be in moments.
func (e *Engine) claim(inst ax.Instance, place ax.Place, now time.Time) ax.Instance {
	if place.Room.Claims() {
		return inst.Claim(place.Node, place.Incarnation, now)
	}
	return inst.Dispatch(place.Node, place.Incarnation)
}

func (e *Engine) claimEvent(inst *ax.Instance, now time.Time) ax.Event {
	if inst.Status == ax.StatusDispatched {
		return e.event(inst, now, ax.StageDispatched, "info", "queued on "+inst.Node+": all workers are busy")
	}
	return e.event(inst, now, ax.StageClaimed, "info", fmt.Sprintf("attempt %d claimed by %s", inst.Attempt, inst.Node))
}

// fire writes an instance that has a place and starts it. s says what else the
// step accounts for.
func (e *Engine) fire(t *task, inst ax.Instance, place ax.Place, s step, now time.Time) {
	task := t.def
	t.entered(&inst, now)
	s.insert = append(s.insert, inst)
	s.events = append(s.events,
		e.event(&inst, now, ax.StageTriggerReady, "info", t.noticed(inst.ScheduledAt, now)),
		e.claimEvent(&inst, now))
	s.written = func() { e.cfg.Dispatch.Start(ax.Attempt{Task: task, Instance: inst}, place) }
	s.failed = func() {
		e.cfg.Dispatch.Release(task, place)
		e.post(func(time.Time) { t.left(inst.ID) })
	}
	e.advance(t, s, now)
}

// noticed says how a due time came to be started now.
func (t *task) noticed(due, now time.Time) string {
	seen := now
	if !t.heldSince.IsZero() {
		seen = t.heldSince
		if seen.Before(due) { // it waited for room before that for something else
			seen = due
		}
	}
	if due.After(seen) {
		return fmt.Sprintf("due %s, written %s ahead", due.Format(time.RFC3339Nano), due.Sub(seen).Round(time.Microsecond))
	}
	text := fmt.Sprintf("due %s, noticed %s later", due.Format(time.RFC3339Nano), seen.Sub(due).Round(time.Microsecond))
	if !t.heldSince.IsZero() {
		text += fmt.Sprintf("; there was no room in the queue for %s", now.Sub(seen).Round(time.Millisecond))
		t.heldSince = time.Time{}
	}
	return text
}

// advance writes a step by compare-and-set on the task's next due time.
func (e *Engine) advance(t *task, s step, now time.Time) {
	plan, err := t.following(s.last)
	if err != nil {
		if s.failed != nil {
			s.failed()
		}
		t.retryLater(now)
		e.park(t, err.Error(), now)
		return
	}
	t.pending = true
	gen := t.gen
	e.starts.Add(1)
	e.submit(ax.Change{
		Plan: plan, Insert: s.insert, Move: s.move, Events: s.events,
		Done: func(applied bool, err error) {
			defer e.starts.Done()
			if applied && s.written != nil {
				s.written()
			}
			if !applied && s.failed != nil {
				s.failed()
			}
			e.post(func(now time.Time) { e.advanced(t, gen, plan, s, applied, err, now) })
		},
	})
}

// advanced takes note of the answer to a step.
func (e *Engine) advanced(t *task, gen int, plan *ax.Plan, s step, applied bool, err error, now time.Time) {
	if gen != t.gen { // the plan was replaced meanwhile
		e.visit(t, now)
		return
	}
	t.pending = false
	switch {
	case applied:
		t.backoff = 0
		t.st.NextAt, t.st.PrevAt = plan.To, plan.Prev
		t.st.Planned, t.st.PlanDone = plan.Planned, plan.PlanDone
		if s.after != nil {
			s.after()
		}
	case err == nil: // another host was faster: see what it left
		t.stale = true
	case errors.Is(err, ax.ErrDuplicate) && e.firing:
		e.duplicate(t, s, now)
	default:
		e.cfg.Log.Error("cannot write a due time, will try again", "task", t.def.Name, "due", s.last, "error", err)
		t.retryLater(now)
	}
	e.visit(t, now)
}

// duplicate goes on after a step found a row of one of its due times. A step of
// several is made again with the first of them alone, so that no other is lost.
func (e *Engine) duplicate(t *task, s step, now time.Time) {
	due := t.st.NextAt
	if !s.last.Equal(due) {
		e.drop(t, span{first: due, last: due, count: 1}, now, "late, and one after it has a row already")
		return
	}
	e.cfg.Log.Warn("a due time has a row already, going on to the next one", "task", t.def.Name, "due", due)
	e.advance(t, step{last: due}, now)
}

func (e *Engine) event(inst *ax.Instance, at time.Time, stage ax.Stage, level, text string) ax.Event {
	return ax.Event{
		ID: e.cfg.IDs.Next(at), InstanceID: inst.ID, TaskID: inst.TaskID, At: at,
		Attempt: inst.Attempt, Stage: stage, Level: level, Node: e.cfg.Node, Text: text,
	}
}
