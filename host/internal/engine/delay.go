package engine

import "time"

// planDelay plans the next due time of a task with a fixed delay, once nothing
// of it runs or waits any more.
func (e *Engine) planDelay(t *task, now time.Time) {
	if t.def.Schedule.Delay <= 0 || !t.schedulable() || !t.st.NextAt.IsZero() || t.st.PlanDone ||
		len(t.active)+len(t.waiting)+len(t.retries) > 0 {
		return
	}
	end := t.lastEnd
	if end.Before(t.st.PrevAt) {
		end = now // of a run that did not start, or of an earlier life
	}
	next, err := nextOf(t.trigger, end)
	if err != nil {
		t.retryLater(now)
		e.park(t, err.Error(), now)
		return
	}
	st := t.st
	st.NextAt, st.PlanDone = next, next.IsZero()
	e.save(t, t.st.NextAt, st)
}
