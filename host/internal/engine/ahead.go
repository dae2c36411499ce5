package engine

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// lead is how long before their due time the rows of a crowd are written, so
	// that their jobs need not wait for the commit.
	lead = 25 * time.Millisecond
	// crowd is how many due times that are seen together are worth it. A single
	// row takes a millisecond or two, and a claim long before its job is one more
	// attempt that a crash can cost.
	crowd = 8
)

// foresee notes a task whose due time comes within the lead.
func (e *Engine) foresee(t *task, now time.Time) {
	if due := t.st.NextAt; t.schedulable() && due.After(now) && !due.After(now.Add(lead)) {
		e.early = append(e.early, t)
	}
}

// fireAhead writes the due times that this round saw coming, if they are a
// crowd. What cannot simply run is left for its due time: much may have changed
// by then.
func (e *Engine) fireAhead(now time.Time) {
	if len(e.early) >= crowd {
		for _, t := range e.early {
			e.ahead(t, now)
		}
	}
	clear(e.early)
	e.early = e.early[:0]
}

func (e *Engine) ahead(t *task, now time.Time) {
	due := t.st.NextAt
	if !t.schedulable() || t.full() || t.broadcast() || t.ready() != nil || len(t.waiting)+len(t.retries)+len(t.backfill) > 0 {
		return
	}
	place := e.cfg.Dispatch.Reserve(t.def, due)
	if place.Room == ax.RoomNone {
		return
	}
	e.fire(t, e.claim(e.instance(t, due, ax.KindScheduled, now), place, due), place, step{last: due}, now)
}
