package engine

import (
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// maxCounted bounds how many missed due times one row stands for.
const maxCounted = 200_000

// late reports whether the next due time was noticed too late to just run it.
func (e *Engine) late(t *task, now time.Time) bool {
	due := t.st.NextAt
	return now.Sub(due) > t.def.Misfire.Threshold && due.After(t.catchUp)
}

// misfire applies the task's policy to the due times that were missed. It
// reports whether the task may be looked at again at once.
func (e *Engine) misfire(t *task, now time.Time) bool {
	m := t.def.Misfire
	switch m.Policy {
	case ax.MisfireAll:
		return e.misfireAll(t, now)
	case ax.MisfireOnce:
		e.misfireOnce(t, now)
	default:
		e.drop(t, t.missed(now.Add(-m.Threshold), 0), now, "late by more than "+m.Threshold.String())
	}
	return false
}

// misfireOnce runs the newest due time; the ones before it are missed.
func (e *Engine) misfireOnce(t *task, now time.Time) {
	if t.full() {
		// The run under way began after all of them: it is the one run.
		e.drop(t, t.missed(now, 0), now, "late, and the task runs just now")
		return
	}
	const why = "late: only the newest due time runs"
	span := t.missed(now, 1)
	if span.more {
		e.drop(t, span, now, why)
		return
	}
	s := step{last: span.newest}
	if span.count > 0 {
		row := e.missedRow(t, span, now, why)
		s.insert = []ax.Instance{row}
		s.events = []ax.Event{e.event(&row, now, ax.StageOutcome, "warn", row.Reason)}
		s.after = func() { e.observeDropped(ax.DueMissed, t, row, now) }
	}
	if t.broadcast() {
		e.dueShards(t, span.newest, s, now)
		return
	}
	place := e.cfg.Dispatch.Reserve(t.def, now)
	if place.Room == ax.RoomNone {
		e.hold(t, now)
		return
	}
	e.fire(t, e.claim(e.instance(t, span.newest, ax.KindScheduled, now), place, now), place, s, now)
}

// misfireAll drops what lies outside the window and above the cap; the rest
// runs one after the other.
func (e *Engine) misfireAll(t *task, now time.Time) bool {
	m := t.def.Misfire
	if m.Window > 0 && t.st.NextAt.Before(now.Add(-m.Window)) {
		e.drop(t, t.missed(now.Add(-m.Window), 0), now, "older than the window of "+m.Window.String())
		return false
	}
	if m.Cap > 0 {
		if span := t.missed(now, m.Cap); span.count > 0 {
			e.drop(t, span, now, fmt.Sprintf("more than %d missed due times", m.Cap))
			return false
		}
	}
	t.catchUp = now
	return true
}

// span is a run of due times: count of them from first to last are dropped, and
// newest is the last of all that were looked at.
type span struct {
	first, last, newest time.Time
	count               int
	more                bool // it ends at maxCounted, newest is not the newest
}

// missed walks over the due times up to limit, except for the newest keep ones.
func (t *task) missed(limit time.Time, keep int) span {
	s := span{first: t.st.NextAt}
	ring := make([]time.Time, 0, keep+1)
	for due := t.st.NextAt; !due.IsZero() && !due.After(limit); {
		ring = append(ring, due)
		if len(ring) > keep {
			s.last, ring = ring[0], ring[1:]
			s.count++
		}
		s.newest = due
		if s.count >= maxCounted {
			s.more = true
			break
		}
		next, err := t.after(due)
		if err != nil {
			break // advance will meet the error again and park the task
		}
		due = next
	}
	return s
}

// drop records due times as missed.
func (e *Engine) drop(t *task, s span, now time.Time, why string) {
	if s.count == 0 {
		return
	}
	row := e.missedRow(t, s, now, why)
	e.advance(t, step{
		last: s.last, insert: []ax.Instance{row},
		events: []ax.Event{e.event(&row, now, ax.StageOutcome, "warn", row.Reason)},
		after:  func() { e.observeDropped(ax.DueMissed, t, row, now) },
	}, now)
}

func (e *Engine) missedRow(t *task, s span, now time.Time, why string) ax.Instance {
	row := e.instance(t, s.first, ax.KindScheduled, now)
	row.Status, row.Params, row.ParamsBound = ax.StatusMissed, nil, false
	row.Missed, row.MissedUntil, row.EndedAt = s.count, s.last, now
	row.Reason = fmt.Sprintf("%d due times missed: %s", s.count, why)
	if s.count == 1 {
		row.Reason = "missed: " + why
	}
	return row
}

func (e *Engine) observeDropped(what ax.HappeningKind, t *task, row ax.Instance, now time.Time) {
	e.cfg.Observe(ax.Happening{What: what, At: now, Task: t.def, Instance: row, Text: row.Reason})
}
