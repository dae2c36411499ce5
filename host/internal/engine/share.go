package engine

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Taken is what the database has of a task that this host begins to schedule.
type Taken struct {
	Task  ax.TaskID
	State ax.TaskState
	// PauseAt is the instant of the last pause or resumption, zero if there was
	// none.
	PauseAt time.Time
	// Unfinished are its instances that have not ended.
	Unfinished []ax.Instance
}

// Share says anew which tasks this host schedules. It lets go of the others at
// once, and returns those that are new: they wait for Take. Two hosts that think
// for a moment that a task is theirs do no harm, since every step is a
// compare-and-set on what the other one moves on as well.
func (e *Engine) Share(mine func(*ax.Task) bool) (gained []*ax.Task) {
	e.call(func(time.Time) {
		e.mine = mine
		for _, t := range e.tasks {
			switch own := !t.gone && mine(t.def); {
			case !own && !t.gone:
				e.letGo(t)
			case t.away && own:
				t.wanted = true
				gained = append(gained, t.def)
			}
		}
	})
	return gained
}

// letGo leaves a task to another host, which finds all there is to know in the
// database. Attempts that run here go on.
func (e *Engine) letGo(t *task) {
	t.wanted = false
	if t.away {
		return
	}
	t.away, t.pending, t.stale = true, false, false
	t.gen++
	t.owning++
	t.active, t.waiting, t.retries, t.deferred, t.backfill, t.round = nil, nil, nil, nil, nil, 0
	t.tryAt, t.backoff, t.fetchAt, t.fetchBackoff, t.heldSince = time.Time{}, 0, time.Time{}, 0, time.Time{}
	for _, quiet := range t.quiet {
		close(quiet)
	}
	t.quiet = nil
}

// Take begins to schedule tasks that Share has returned, as far as they are
// still wanted.
func (e *Engine) Take(taken []Taken) {
	e.call(func(now time.Time) {
		for i := range taken {
			t := e.tasks[taken[i].Task]
			if t == nil || !t.wanted || t.gone {
				continue
			}
			t.away, t.wanted, t.pausedAt, t.pausedTo, t.lastEnd = false, false, time.Time{}, time.Time{}, time.Time{}
			t.gen++
			t.owning++
			t.st.Paused = false
			e.loaded(t, taken[i], now)
		}
	})
}

// Reread reads tasks anew that another host has changed: paused, resumed, or
// given a run by hand. Those that this host does not schedule are passed over.
func (e *Engine) Reread(ids []ax.TaskID) {
	e.post(func(now time.Time) {
		for _, id := range ids {
			if t := e.tasks[id]; t != nil && !t.away && !t.gone {
				t.stale = true
				e.visit(t, now)
			}
		}
	})
}

// reload reads what another host has left of a task.
func (e *Engine) reload(t *task) {
	t.pending = true
	gen, def := t.gen, t.def
	e.bg.Go(func() {
		taken, err := e.cfg.Plans.LoadState(e.ctx, def)
		e.post(func(now time.Time) {
			if gen != t.gen {
				return
			}
			t.pending = false
			if err != nil {
				e.cfg.Log.Error("cannot read a task's state, will try again", "task", def.Name, "error", err)
				t.retryLater(now)
				e.arm(t, now)
				return
			}
			t.stale = false
			e.loaded(t, taken, now)
		})
	})
}

// loaded takes over what was read of a task.
func (e *Engine) loaded(t *task, taken Taken, now time.Time) {
	was := t.st.Paused
	t.st = taken.State
	switch {
	case was && !t.st.Paused:
		t.st.Paused = true
		t.resume(taken.PauseAt)
	case !was && t.st.Paused:
		t.pausedAt = taken.PauseAt
	}
	for _, inst := range taken.Unfinished {
		if !t.knows(inst.ID) {
			e.takeOn(t, inst, now)
		}
	}
	t.sortBackfill()
	e.recheck(t, now)
}

func (t *task) knows(id ax.InstanceID) bool {
	same := func(inst ax.Instance) bool { return inst.ID == id }
	return t.holds(id) || slices.ContainsFunc(t.waiting, same) || slices.ContainsFunc(t.retries, same) ||
		slices.ContainsFunc(t.backfill, same)
}

func (t *task) holds(id ax.InstanceID) bool {
	return slices.ContainsFunc(t.active, func(a activeRun) bool { return a.id == id })
}

// takeOn adds an instance that has a row already to what is known of a task.
func (e *Engine) takeOn(t *task, inst ax.Instance, now time.Time) {
	inst.ScheduledAt = inst.ScheduledAt.In(t.zone)
	switch {
	case inst.Status == ax.StatusRetrying:
		t.retries = append(t.retries, inst)
	case inst.Status == ax.StatusRunning:
		t.entered(&inst, now)
		if inst.Deferred {
			t.deferred = append(t.deferred, inst)
		}
	case inst.Status == ax.StatusDispatched && e.cfg.Dispatch.Takes(inst.Owner):
		t.entered(&inst, now)
	case inst.Status == ax.StatusTriggered || inst.Status == ax.StatusDispatched:
		if inst.Kind == ax.KindBackfill {
			t.backfill = append(t.backfill, inst)
			return
		}
		t.waiting = append(t.waiting, inst)
		t.round = len(t.waiting) // it waited long enough
	default:
		e.cfg.Log.Error("cannot take on an instance in this state", "instance_id", inst.ID, "status", inst.Status)
	}
}

// Handed tells the engine of instances that other hosts have written for tasks of
// this one: runs by hand and backfills. Those that it knows are passed over.
func (e *Engine) Handed(rows []ax.Instance) {
	e.post(func(now time.Time) {
		for _, inst := range rows {
			if t := e.tasks[inst.TaskID]; t != nil {
				e.handIn(t, inst, now)
			}
		}
	})
}

// Unsure returns the attempts of which nothing was heard for some time, and
// those whose host is not there any more: whoever reads their rows tells Found.
// What runs or waits on this host is certain.
func (e *Engine) Unsure(age time.Duration) (ids []ax.InstanceID) {
	e.call(func(now time.Time) {
		for _, t := range e.tasks {
			for _, a := range t.active {
				if (now.Sub(a.since) >= age || !e.cfg.Dispatch.Takes(a.owner)) && !e.cfg.Dispatch.Holds(a.id) {
					ids = append(ids, a.id)
				}
			}
		}
	})
	return ids
}

// Found tells the engine what has become of attempts that it was unsure of.
func (e *Engine) Found(rows []ax.Instance) {
	e.post(func(now time.Time) {
		for _, inst := range rows {
			if t := e.tasks[inst.TaskID]; t != nil && !t.away && t.holds(inst.ID) && !e.cfg.Dispatch.Holds(inst.ID) {
				e.found(t, inst, now)
			}
		}
	})
}

func (e *Engine) found(t *task, inst ax.Instance, now time.Time) {
	t.left(inst.ID)
	t.deferred = without(t.deferred, inst.ID)
	if inst.Status.Final() {
		t.lastEnd = inst.EndedAt
	} else if !t.knows(inst.ID) {
		e.takeOn(t, inst, now)
		t.sortBackfill()
	}
	e.visit(t, now)
}

// Moved tells the engine that an attempt goes to another host than the one that
// it was first meant for.
func (e *Engine) Moved(inst ax.Instance) {
	e.post(func(now time.Time) {
		if t := e.tasks[inst.TaskID]; t != nil && !t.away && t.holds(inst.ID) {
			t.left(inst.ID)
			t.entered(&inst, now)
		}
	})
}
