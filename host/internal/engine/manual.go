package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Manual asks for a run by hand.
type Manual struct {
	Task string
	// Params are laid over the task's own, a JSON object or nil.
	Params json.RawMessage
	// Force starts it also if the concurrency limit is used up.
	Force bool
	By    string
	// Request, if not nil, is done once: if it was done before the error is
	// ax.ErrRepeated. Its Instance is set here.
	Request *ax.Request
}

// Errors of RunNow.
var (
	ErrBusy   = errors.New("the task runs already, up to its concurrency limit; wait for it, or start it with --force (in the API: \"force\": true)")
	ErrNoNode = errors.New("no host can take the task now")
	ErrFull   = errors.New("all workers are busy and the queue is full; try again later")
)

// RunNow starts a task by hand; its schedule stays as it is. Paused and
// disabled tasks can be run as well.
func (e *Engine) RunNow(ctx context.Context, m Manual) (ax.InstanceID, error) {
	type answer struct {
		id  ax.InstanceID
		err error
	}
	result := make(chan answer, 1)
	ok := e.call(func(now time.Time) {
		e.runNow(m, now, func(id ax.InstanceID, err error) { result <- answer{id, err} })
	})
	if !ok {
		return 0, ErrStopping
	}
	select {
	case a := <-result:
		return a.id, a.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (e *Engine) runNow(m Manual, now time.Time, answer func(ax.InstanceID, error)) {
	t := e.names[m.Task]
	switch {
	case t == nil:
		answer(0, ErrUnknownTask)
		return
	case !e.firing:
		answer(0, ErrStopping)
		return
	case t.away:
		e.runElsewhere(t, m, now, answer)
		return
	}
	if err := t.ready(); err != nil {
		answer(0, err)
		return
	}
	if t.full() && !m.Force {
		e.runLater(t, m, now, answer)
		return
	}
	if t.broadcast() {
		e.runShards(t, m, now, answer)
		return
	}
	place := e.cfg.Dispatch.Reserve(t.def, now)
	if place.Room == ax.RoomNone {
		answer(0, ErrFull)
		return
	}
	inst := e.claim(e.manual(t, m, now), place, now)
	t.entered(&inst, now)
	task := t.def
	e.starts.Add(1)
	e.submit(ax.Change{
		Request: m.request(inst.ID),
		Insert:  []ax.Instance{inst},
		Events: []ax.Event{
			e.event(&inst, now, ax.StageTriggerReady, "info", fmt.Sprintf("started by hand by %s", m.By)),
			e.claimEvent(&inst, now),
		},
		Done: func(applied bool, err error) {
			defer e.starts.Done()
			if applied {
				e.cfg.Dispatch.Start(ax.Attempt{Task: task, Instance: inst}, place)
				answer(inst.ID, nil)
				return
			}
			e.cfg.Dispatch.Release(task, place)
			answer(0, fmt.Errorf("write the instance: %w", err))
			e.post(func(now time.Time) { t.left(inst.ID); e.visit(t, now) })
		},
	})
}

// request is what is written of the request, nil for nothing.
func (m *Manual) request(id ax.InstanceID) *ax.Request {
	if m.Request == nil {
		return nil
	}
	r := *m.Request
	r.Instance = id
	return &r
}

// runLater deals with a run by hand that finds the concurrency limit used up, as
// the policy for overlaps says: it is refused, or waits like a due time.
func (e *Engine) runLater(t *task, m Manual, now time.Time, answer func(ax.InstanceID, error)) {
	switch {
	case t.def.Overlap == ax.OverlapSkip:
		answer(0, ErrBusy)
		return
	case len(t.waiting) >= max(t.def.QueueLimit, 1):
		answer(0, fmt.Errorf("%w (%d runs wait already)", ErrBusy, len(t.waiting)))
		return
	}
	inst := e.manual(t, m, now)
	inst.Status, inst.Reason = ax.StatusTriggered, waitsFor(t.def.Overlap)
	e.submit(ax.Change{
		Insert: []ax.Instance{inst}, Request: m.request(inst.ID),
		Events: []ax.Event{e.event(&inst, now, ax.StageTriggerReady, "info", fmt.Sprintf("started by hand by %s; %s", m.By, inst.Reason))},
		Done: func(applied bool, err error) {
			if !applied {
				answer(0, fmt.Errorf("write the instance: %w", err))
				return
			}
			e.post(func(now time.Time) { e.handIn(t, inst, now) })
			answer(inst.ID, nil)
		},
	})
}

// handIn takes on a run by hand that has a row and waits.
func (e *Engine) handIn(t *task, inst ax.Instance, now time.Time) {
	if t.away || t.gone || t.knows(inst.ID) {
		return // who has the task now finds the row
	}
	e.takeOn(t, inst, now)
	t.sortBackfill()
	if t.def.Overlap == ax.OverlapReplace && t.full() && inst.Kind == ax.KindManual {
		e.cancelOldest(t, now)
	}
	e.visit(t, now)
}

func (e *Engine) manual(t *task, m Manual, now time.Time) ax.Instance {
	inst := e.instance(t, t.manualAt(now), ax.KindManual, now)
	m.lay(&inst)
	return inst
}

// lay gives an instance the parameters of the request; the executor lays them over
// the task's own.
func (m *Manual) lay(inst *ax.Instance) {
	if len(m.Params) > 0 {
		inst.Params, inst.ParamsBound = m.Params, false
	}
}

// runElsewhere leaves a run by hand to the host that schedules the task.
func (e *Engine) runElsewhere(t *task, m Manual, now time.Time, answer func(ax.InstanceID, error)) {
	if t.broadcast() {
		e.runShards(t, m, now, answer)
		return
	}
	task, inst := t.def, e.manual(t, m, now)
	inst.Status, inst.Reason = ax.StatusTriggered, "waits for the host that schedules the task"
	e.submit(ax.Change{
		Request: m.request(inst.ID),
		Insert:  []ax.Instance{inst},
		Events:  []ax.Event{e.event(&inst, now, ax.StageTriggerReady, "info", fmt.Sprintf("started by hand by %s", m.By))},
		Done: func(applied bool, err error) {
			if !applied {
				answer(0, fmt.Errorf("write the instance: %w", err))
				return
			}
			answer(inst.ID, nil)
			e.cfg.Elsewhere(task)
		},
	})
}

// manualAt returns the time of a request, no two alike: it is part of the
// instance's key.
func (t *task) manualAt(now time.Time) time.Time {
	at := now.Truncate(time.Microsecond)
	if !at.After(t.lastManual) {
		at = t.lastManual.Add(time.Microsecond)
	}
	t.lastManual = at
	return at
}
