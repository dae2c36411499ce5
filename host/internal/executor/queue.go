package executor

import "github.com/axsched/ax/host/internal/ax"

// queue lets an attempt that is not claimed yet wait for its worker.
func (e *Executor) queue(a ax.Attempt) {
	id := a.Instance.ID
	e.mu.Lock()
	e.queued[id] = true
	e.mu.Unlock()
	out := func() {
		e.mu.Lock()
		delete(e.queued, id)
		e.mu.Unlock()
	}
	t := &ticket{lane: e.cfg.Jobs.Lane(a.Task), room: ax.RoomQueue, notBefore: a.Instance.ScheduledAt}
	with := func(claim func()) func() {
		return func() {
			e.wg.Go(func() {
				defer out()
				claim()
			})
		}
	}
	t.start = with(func() { e.claimAndRun(a) })
	t.claim = with(func() { e.claimAhead(a, t) })
	t.back = out // it stays DISPATCHED for the next start, or another host
	e.pool.enqueue(t)
}

// Receive takes on an attempt that another host has dispatched to this one: the
// row is DISPATCHED, and is claimed when its turn comes. It reports false if
// there is no room.
func (e *Executor) Receive(a ax.Attempt) bool {
	if e.cfg.Fenced() || !e.pool.place(e.cfg.Jobs.Lane(a.Task)) {
		return false
	}
	e.queue(a)
	return true
}

// claimAndRun claims an attempt whose worker is taken, and runs it if nobody was
// faster.
func (e *Executor) claimAndRun(a ax.Attempt) {
	if claimed, ok := e.claim(a); ok {
		e.run(e.enter(claimed.Instance.ID), claimed)
		return
	}
	e.pool.release(e.cfg.Jobs.Lane(a.Task), ax.RoomNow)
}

// claim moves an attempt to RUNNING, and reports false if that was not to be.
func (e *Executor) claim(a ax.Attempt) (ax.Attempt, bool) {
	now := e.cfg.Now()
	inst := a.Instance.Claim(e.cfg.Node, e.cfg.Incarnation, now)
	applied, err := e.write(ax.Change{
		Move:   &ax.Move{From: a.Instance.Status, Fence: a.Instance.Fence, New: inst},
		Events: []ax.Event{e.event(&inst, now, ax.StageClaimed, "info", "claimed by "+e.cfg.Node)},
	})
	if err != nil {
		e.cfg.Log.Error("cannot claim an instance, it stays for the next start of the host",
			"instance_id", inst.ID, "task", a.Task.Name, "error", err)
	}
	return ax.Attempt{Task: a.Task, Instance: inst}, applied
}
