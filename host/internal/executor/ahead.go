package executor

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// patience is how long an attempt that was claimed ahead waits for its worker.
// Then the guess that its turn would come soon was wrong, and it gives its claim
// back: what is RUNNING in the database runs, but for this moment, and what
// waits survives a crash without the loss of an attempt.
const patience = time.Second

// claimAhead claims an attempt that has waited in the queue and will soon get a
// worker. So no worker waits for the database.
func (e *Executor) claimAhead(a ax.Attempt, waited *ticket) {
	if claimed, ok := e.claim(a); ok {
		e.queueClaimed(claimed, waited.turn)
		return
	}
	e.pool.release(waited.lane, ax.RoomSoon)
}

// queueClaimed puts an attempt into the queue whose claim is in the database, at
// its old turn or, with 0, at the end.
func (e *Executor) queueClaimed(a ax.Attempt, turn int64) {
	ctx := e.enter(a.Instance.ID)
	t := &ticket{lane: e.cfg.Jobs.Lane(a.Task), room: ax.RoomSoon, turn: turn, notBefore: a.Instance.ScheduledAt}
	e.wg.Add(1) // for the timer, until it is stopped or done
	late := time.AfterFunc(max(t.notBefore.Sub(e.cfg.Now()), 0)+patience, func() {
		defer e.wg.Done()
		e.late(ctx, a, t)
	})
	inTime := func() {
		if late.Stop() {
			e.wg.Done()
		}
	}
	t.start = func() {
		e.wg.Go(func() { e.run(ctx, a) })
		inTime()
	}
	t.back = func() {
		e.wg.Go(func() { e.giveBack(a, "the host stops before the job began") })
		inTime()
	}
	e.pool.enqueue(t)
}

// late lets a claimed attempt that still waits wait on without its claim. One
// that was canceled meanwhile has nothing to wait for.
func (e *Executor) late(ctx context.Context, a ax.Attempt, t *ticket) {
	if cause := context.Cause(ctx); cause != nil {
		if e.pool.withdraw(t) {
			e.leave(a.Instance.ID)
			e.Settle(a, ax.Outcome{Status: ax.StatusCanceled, Error: cause.Error(), EndedAt: e.cfg.Now()})
		}
		return
	}
	given := make(chan struct{})
	defer close(given)
	waits := ax.Attempt{Task: a.Task, Instance: unclaimed(a.Instance)}
	unclaimedTicket := &ticket{
		lane: t.lane, room: ax.RoomQueue,
		start: func() {
			e.wg.Go(func() {
				<-given
				e.claimAndRun(waits)
			})
		},
		back: func() {},
	}
	if e.pool.replace(t, unclaimedTicket) {
		e.pool.took(t.lane, patience) // so that the next guess is better
		e.giveBack(a, "no worker became free")
	}
}

// unclaimed is a claimed instance whose job did not begin, as it waits for
// another claim.
func unclaimed(inst ax.Instance) ax.Instance {
	inst.Status, inst.StartedAt = ax.StatusDispatched, time.Time{}
	inst.Attempt--
	return inst
}

// giveBack takes back the claim of an attempt whose job did not begin.
func (e *Executor) giveBack(a ax.Attempt, why string) {
	e.leave(a.Instance.ID)
	inst := unclaimed(a.Instance)
	_, err := e.write(ax.Change{
		Move:   &ax.Move{From: a.Instance.Status, Fence: inst.Fence, New: inst},
		Events: []ax.Event{e.event(&inst, e.cfg.Now(), ax.StageDispatched, "info", "claim given back: "+why)},
	})
	if err != nil {
		e.cfg.Log.Error("cannot give a claim back; the instance will be found LOST at the next start",
			"instance_id", inst.ID, "task", a.Task.Name, "error", err)
	}
}
