package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// park stops the scheduling of one task, with a reason that people see. Its due
// times keep; when it goes on they are dealt with as misfires.
func (e *Engine) park(t *task, reason string, now time.Time) {
	fresh := t.st.Parked == ""
	if t.st.Parked != reason {
		t.st.Parked = reason
		e.keepParked(t, reason)
	}
	if fresh {
		e.cfg.Log.Warn("task parked", "task", t.def.Name, "reason", reason)
		e.cfg.Observe(ax.Happening{What: ax.TaskParked, At: now, Task: t.def, Text: reason})
	}
	e.arm(t, now)
}

// unpark lets a parked task go on if what it waited for is there. A task whose
// trigger failed goes on when times were fetched.
func (e *Engine) unpark(t *task, now time.Time) {
	if t.st.Parked == "" || !t.tryAt.IsZero() {
		return
	}
	if err := t.ready(); err != nil {
		t.retryLater(now)
		e.park(t, err.Error(), now)
		return
	}
	planned := t.st.PlanVersion == t.def.Schedule.Version && (!t.st.NextAt.IsZero() || t.st.PlanDone)
	if t.remote && !planned {
		return
	}
	if !t.remote && !t.st.NextAt.IsZero() {
		if _, err := t.after(t.st.NextAt); err != nil {
			t.retryLater(now)
			e.park(t, err.Error(), now)
			return
		}
	}
	e.goOn(t, now)
}

func (e *Engine) goOn(t *task, now time.Time) {
	if t.st.Parked == "" {
		return
	}
	t.st.Parked, t.backoff = "", 0
	e.keepParked(t, "")
	e.cfg.Log.Info("task goes on", "task", t.def.Name)
	e.cfg.Observe(ax.Happening{What: ax.TaskUnparked, At: now, Task: t.def})
}

func (e *Engine) keepParked(t *task, reason string) {
	id, name := t.def.ID, t.def.Name
	e.bg.Go(func() {
		if err := e.cfg.Plans.SetParked(e.ctx, id, reason); err != nil && e.ctx.Err() == nil {
			e.cfg.Log.Error("cannot note why a task is parked", "task", name, "error", err)
		}
	})
}

// Recheck looks at all tasks again after the set of plugins has changed.
func (e *Engine) Recheck() {
	e.post(func(now time.Time) {
		for _, t := range e.tasks {
			e.recheck(t, now)
		}
	})
}

func (e *Engine) recheck(t *task, now time.Time) {
	if t.away {
		return
	}
	t.fetchAt, t.fetchBackoff = time.Time{}, 0
	if t.st.Parked != "" {
		t.tryAt, t.backoff = time.Time{}, 0
	} else if err := t.ready(); err != nil && t.def.Enabled {
		t.retryLater(now)
		e.park(t, err.Error(), now)
		return
	}
	e.visit(t, now)
}

// ErrUnknownTask says that no task has the given name.
var ErrUnknownTask = errors.New("no such task")

// Pause stops the due times of a task until a person resumes it, or until the
// given time if that is not zero. Runs under way and retries go on. A due time
// that came before the pause, and found no room, is missed.
func (e *Engine) Pause(ctx context.Context, name string, until time.Time, by string) error {
	var t *task
	var at time.Time
	quiet := make(chan struct{})
	e.call(func(now time.Time) {
		if t, at = e.names[name], now; t == nil {
			return
		}
		if t.away { // its host reads of it, and accounts for what is due by then
			close(quiet)
			return
		}
		if !t.st.Paused {
			t.pausedAt = now
		}
		t.st.Paused, t.st.PausedUntil = true, until
		t.quiet = append(t.quiet, quiet)
		e.visit(t, now)
	})
	if t == nil {
		return ErrUnknownTask
	}
	err := e.await(ctx, quiet)
	if err == nil {
		err = e.cfg.Plans.SetPaused(ctx, PauseChange{Task: t.def.ID, Paused: true, Until: until, At: at, By: by})
	}
	e.call(func(now time.Time) {
		switch {
		case t.away && err == nil:
			e.cfg.Elsewhere(t.def)
		case !t.away && err != nil:
			t.st.Paused, t.st.PausedUntil = false, time.Time{}
			e.visit(t, now)
		}
	})
	return err
}

func (e *Engine) await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ctx.Done():
		return ErrStopping
	}
}

// closePause accounts for due times that came before a pause.
func (e *Engine) closePause(t *task, now time.Time) {
	if t.st.Paused && !t.pending && t.def.Enabled && !t.gone && !t.st.NextAt.IsZero() && !t.st.NextAt.After(t.pausedAt) {
		e.drop(t, t.missed(t.pausedAt, 0), now, "the task was paused before it came to that")
	}
	if t.pending {
		return
	}
	for _, quiet := range t.quiet {
		close(quiet)
	}
	t.quiet = nil
}

// Resume ends a pause, at the instant of the call. Due times that passed
// meanwhile are not made up for.
func (e *Engine) Resume(ctx context.Context, name, by string) error {
	var t *task
	var at time.Time
	e.call(func(now time.Time) { t, at = e.names[name], now })
	if t == nil {
		return ErrUnknownTask
	}
	if err := e.cfg.Plans.SetPaused(ctx, PauseChange{Task: t.def.ID, At: at, By: by}); err != nil {
		return err
	}
	e.call(func(now time.Time) {
		if t.away {
			e.cfg.Elsewhere(t.def)
			return
		}
		t.resume(at)
		e.visit(t, now)
	})
	return nil
}

// endPause resumes a task whose pause is over.
func (e *Engine) endPause(t *task, now time.Time) {
	end := t.st.PausedUntil
	if !t.st.Paused || end.IsZero() || end.After(now) {
		return
	}
	name, change := t.def.Name, PauseChange{Task: t.def.ID, At: end, By: "the end of the pause"}
	e.bg.Go(func() {
		if err := e.cfg.Plans.SetPaused(e.ctx, change); err != nil && e.ctx.Err() == nil {
			e.cfg.Log.Error("cannot note the end of a pause", "task", name, "error", err)
		}
	})
	t.resume(end)
}

// resume ends the pause of a task at an instant; skipPause does what follows.
func (t *task) resume(at time.Time) {
	if t.st.Paused {
		t.st.Paused, t.st.PausedUntil, t.pausedTo = false, time.Time{}, at.Truncate(time.Microsecond)
	}
}

// skipPause moves the plan past the due times of a pause that is over.
func (e *Engine) skipPause(t *task, now time.Time) {
	if t.pausedTo.IsZero() || t.pending || !t.tryAt.IsZero() {
		return
	}
	last := t.pausedTo.Add(-time.Microsecond) // what is due at the end of the pause is no part of it
	if t.remote {
		t.fetchFrom = last
	}
	if t.st.NextAt.IsZero() || !t.st.NextAt.Before(t.pausedTo) {
		t.pausedTo = time.Time{}
		return
	}
	st := t.st
	if t.remote {
		st.Planned = slices.DeleteFunc(slices.Clone(st.Planned), func(p time.Time) bool { return !p.After(last) })
		st.NextAt = time.Time{}
		if len(st.Planned) > 0 {
			st.NextAt, st.Planned = st.Planned[0], st.Planned[1:]
		}
	} else {
		next, err := nextOf(t.trigger, last)
		if err != nil {
			t.retryLater(now)
			e.park(t, err.Error(), now)
			return
		}
		st.NextAt, st.PlanDone = next, next.IsZero()
	}
	e.save(t, t.st.NextAt, st)
}
