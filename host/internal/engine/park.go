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
	quiet := make(chan struct{})
	e.call(func(now time.Time) {
		if t = e.names[name]; t == nil {
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
		err = e.cfg.Plans.SetPaused(ctx, t.def.ID, true, until, by)
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

// Resume ends a pause. Due times that passed meanwhile are not made up for.
func (e *Engine) Resume(ctx context.Context, name, by string) error {
	var t *task
	e.call(func(time.Time) { t = e.names[name] })
	if t == nil {
		return ErrUnknownTask
	}
	if err := e.cfg.Plans.SetPaused(ctx, t.def.ID, false, time.Time{}, by); err != nil {
		return err
	}
	e.call(func(now time.Time) {
		if t.away {
			e.cfg.Elsewhere(t.def)
			return
		}
		e.resume(t, now)
		e.visit(t, now)
	})
	return nil
}

// endPause resumes a task whose pause is over.
func (e *Engine) endPause(t *task, now time.Time) {
	if !t.st.Paused || t.st.PausedUntil.IsZero() || t.st.PausedUntil.After(now) {
		return
	}
	id, name := t.def.ID, t.def.Name
	e.bg.Go(func() {
		if err := e.cfg.Plans.SetPaused(e.ctx, id, false, time.Time{}, "the end of the pause"); err != nil && e.ctx.Err() == nil {
			e.cfg.Log.Error("cannot note the end of a pause", "task", name, "error", err)
		}
	})
	e.resume(t, now)
}

// resume moves the plan past the due times of the pause.
func (e *Engine) resume(t *task, now time.Time) {
	wasPaused := t.st.Paused
	t.st.Paused, t.st.PausedUntil = false, time.Time{}
	if !wasPaused || t.pending || t.st.NextAt.IsZero() || t.st.NextAt.After(now) {
		return
	}
	st := t.st
	if t.remote {
		st.Planned = slices.DeleteFunc(slices.Clone(st.Planned), func(p time.Time) bool { return !p.After(now) })
		st.NextAt = time.Time{}
		if len(st.Planned) > 0 {
			st.NextAt, st.Planned = st.Planned[0], st.Planned[1:]
		}
		t.fetchFrom = now
	} else {
		next, err := nextOf(t.trigger, now)
		if err != nil {
			t.retryLater(now)
			e.park(t, err.Error(), now)
			return
		}
		st.NextAt, st.PlanDone = next, next.IsZero()
	}
	e.save(t, t.st.NextAt, st)
}
