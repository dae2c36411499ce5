package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// fetchCount is how many due times are fetched ahead from a plugin, and
	// fetchBelow when more are asked for.
	fetchCount = 64
	fetchBelow = fetchCount / 2
	// fetchTimeout bounds one fetch, the start of the plugin included.
	fetchTimeout = 30 * time.Second
	// farFuture is beyond every due time that anybody plans.
	farFuture = 200 * 365 * 24 * time.Hour
)

// Plan computes the first due time of a task whose schedule is new or has
// changed, for a trigger that is not remote; row.AnchorAt is when it was first
// seen.
func Plan(row *ax.TaskRow, trigger Trigger, now time.Time) error {
	after := now
	if row.Schedule.RepeatCount != nil && row.Schedule.Anchor.IsZero() {
		after = row.AnchorAt.Add(-time.Microsecond) // the first due time is the anchor itself
	}
	next, err := nextOf(trigger, after)
	if err != nil {
		return err
	}
	row.NextAt, row.Planned, row.PlanDone = next, nil, next.IsZero()
	row.PlanVersion = row.Schedule.Version
	return nil
}

// nextOf asks a trigger for one due time and checks it; a panic is an error.
func nextOf(trigger Trigger, after time.Time) (next time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in the trigger: %v", p)
		}
	}()
	times, _, err := trigger.Next(context.Background(), after, after.Add(farFuture), 1)
	if err != nil || len(times) == 0 {
		return time.Time{}, err
	}
	if !times[0].After(after) {
		return time.Time{}, fmt.Errorf("the trigger answered %s, which is not after %s", times[0], after)
	}
	return times[0], nil
}

// after returns the due time that follows one, from the trigger or from what
// was fetched ahead; zero if none is known.
func (t *task) after(due time.Time) (time.Time, error) {
	if t.def.Schedule.Delay > 0 {
		return time.Time{}, nil
	}
	if !t.remote {
		return nextOf(t.trigger, due)
	}
	i := slices.IndexFunc(t.st.Planned, func(p time.Time) bool { return p.After(due) })
	if i < 0 {
		return time.Time{}, nil
	}
	return t.st.Planned[i], nil
}

// following makes the compare-and-set that moves the plan past due.
func (t *task) following(due time.Time) (*ax.Plan, error) {
	plan := &ax.Plan{Task: t.def.ID, From: t.st.NextAt, Prev: due}
	if t.def.Schedule.Delay > 0 {
		return plan, nil // what follows is known when the run has ended
	}
	next, err := t.after(due)
	if err != nil {
		return nil, err
	}
	plan.To = next
	if !t.remote {
		plan.PlanDone = next.IsZero()
		return plan, nil
	}
	i := slices.IndexFunc(t.st.Planned, func(p time.Time) bool { return p.After(next) })
	if next.IsZero() || i < 0 {
		i = len(t.st.Planned)
	}
	plan.Planned, plan.PlanDone = slices.Clone(t.st.Planned[i:]), t.st.PlanDone
	if plan.Planned == nil {
		plan.Planned = []time.Time{}
	}
	return plan, nil
}

// plan sees to it that the next due times of a remote trigger are known.
func (e *Engine) plan(t *task, now time.Time) {
	if !t.remote || t.fetching || t.gone || t.pending || t.fetchAt.After(now) {
		return
	}
	t.fetchAt = time.Time{}
	fresh := t.st.PlanVersion != t.def.Schedule.Version
	if !fresh && (t.st.PlanDone || len(t.st.Planned) >= fetchBelow) {
		return
	}
	after := t.st.AnchorAt
	switch {
	case fresh && !after.IsZero():
	case fresh:
		after = now
	case len(t.st.Planned) > 0:
		after = t.st.Planned[len(t.st.Planned)-1]
	case !t.st.NextAt.IsZero():
		after = t.st.NextAt
	case !t.st.PrevAt.IsZero():
		after = t.st.PrevAt
	}
	if after.Before(t.fetchFrom) {
		after = t.fetchFrom
	}
	t.fetching = true
	gen, trigger := t.gen, t.trigger
	e.bg.Go(func() {
		ctx, cancel := context.WithTimeout(e.ctx, fetchTimeout)
		defer cancel()
		times, done, err := ask(ctx, trigger, after)
		e.post(func(now time.Time) { e.fetched(t, gen, fresh, times, done || len(times) == 0, err, now) })
	})
}

// ask fetches due times from a trigger that may have bugs. It is asked for the
// first one twice: a trigger that looks at the clock would be due for ever.
func ask(ctx context.Context, trigger Trigger, after time.Time) (times []time.Time, done bool, err error) {
	times, done, err = trigger.Next(ctx, after, after.Add(farFuture), fetchCount)
	if err != nil || len(times) == 0 {
		return times, done, err
	}
	if err := rising(times, after); err != nil {
		return nil, false, err
	}
	again, _, err := trigger.Next(ctx, after, after.Add(farFuture), 1)
	if err != nil {
		return nil, false, err
	}
	if len(again) == 0 || !again[0].Equal(times[0]) {
		return nil, false, fmt.Errorf("the trigger answered %s and then %v when asked twice for the due time after %s; it must give the same answer each time",
			times[0].Format(time.RFC3339Nano), again, after.Format(time.RFC3339Nano))
	}
	return times, done, nil
}

func rising(times []time.Time, after time.Time) error {
	for _, at := range times {
		if !at.After(after) {
			return fmt.Errorf("the trigger answered %s, which is not after %s", at.Format(time.RFC3339Nano), after.Format(time.RFC3339Nano))
		}
		after = at
	}
	return nil
}

// fetched adds fetched due times to the plan and writes it.
func (e *Engine) fetched(t *task, gen int, fresh bool, times []time.Time, done bool, err error, now time.Time) {
	t.fetching = false
	if gen != t.gen || t.pending {
		e.visit(t, now) // the plan moved on meanwhile: look again
		return
	}
	if err != nil {
		e.fetchFailed(t, err, now)
		return
	}
	st, from := t.st, t.st.NextAt
	if fresh {
		st.NextAt, st.Planned, st.PlanVersion = time.Time{}, nil, t.def.Schedule.Version
	}
	st.Planned = append(slices.Clone(st.Planned), times...)
	st.PlanDone = done
	if st.NextAt.IsZero() && len(st.Planned) > 0 {
		st.NextAt, st.Planned = st.Planned[0], st.Planned[1:]
	}
	e.save(t, from, st)
}

// save writes a plan in the background and takes it over.
func (e *Engine) save(t *task, from time.Time, st ax.TaskState) {
	t.pending = true
	gen := t.gen
	e.bg.Go(func() {
		saved, err := e.cfg.Plans.SavePlan(e.ctx, t.def.ID, from, st)
		e.post(func(now time.Time) {
			if gen == t.gen {
				t.pending = false
				switch {
				case saved:
					e.planned(t, st, now)
				case err == nil:
					t.stale = true
				default:
					e.cfg.Log.Error("cannot write a plan, will try again", "task", t.def.Name, "error", err)
					t.retryLater(now)
				}
			}
			e.visit(t, now)
		})
	})
}

// planned takes over a plan that is in the database.
func (e *Engine) planned(t *task, st ax.TaskState, now time.Time) {
	st.Parked, st.Paused, st.PausedUntil = t.st.Parked, t.st.Paused, t.st.PausedUntil
	t.st, t.backoff, t.fetchBackoff = st, 0, 0
	if t.ready() == nil {
		e.goOn(t, now)
	}
}

// fetchFailed parks the task once it has no due time left to go on with.
func (e *Engine) fetchFailed(t *task, err error, now time.Time) {
	if errors.Is(err, context.Canceled) {
		return
	}
	t.fetchAt = now.Add(grow(&t.fetchBackoff))
	if t.st.NextAt.IsZero() || t.st.PlanVersion != t.def.Schedule.Version {
		e.park(t, err.Error(), now)
	} else {
		e.cfg.Log.Warn("cannot fetch further due times, going on with the known ones",
			"task", t.def.Name, "known", 1+len(t.st.Planned), "error", err)
	}
	e.arm(t, now)
}
