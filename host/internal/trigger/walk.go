package trigger

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// walk is a way along the candidates of a timetable.
type walk struct {
	*shape
	rest  *candidates
	zone  *time.Location
	slots source // the source with the stages before the jitter
	// seen holds the slots that candidates met before have come to, as far as
	// another one can come to the same; newest is the last of them.
	seen   map[int64]bool
	newest time.Time
	open   calendar.Date // the last open day met, if times are moved back
	// What is known about the date and the year met last.
	day    calendar.Day
	year   int
	beyond []string
}

func newWalk(ctx context.Context, t *Timetable, after time.Time) *walk {
	base := t.base
	if base == nil {
		base = &cursor{ctx: ctx, plugin: t.from, size: trailBatch}
	}
	s := t.shape
	if s == nil {
		s = &shape{}
	}
	w := &walk{shape: s, zone: t.zone, slots: s.slots(base)}
	w.rest = newCandidates(base, s.closed, t.zone, w.reach(after))
	if s.closed != nil && s.closed.moves() || s.blackouts != nil && s.blackouts.after {
		w.seen = map[int64]bool{}
	}
	return w
}

// reach returns the instant after which the candidates come that can be due
// after the given one.
func (w *walk) reach(after time.Time) time.Time {
	after = after.Add(-w.jitter.limit)
	if w.blackouts != nil && w.blackouts.after {
		after = earliest(after, w.blackouts.start(after.Add(1)).Add(-1))
	}
	if w.closed != nil && w.closed.policy == calendar.ToNext {
		day := calendar.DateOf(after.In(w.zone))
		if open, ok := w.closed.days.PrevOpen(day); ok {
			after = earliest(after, open.AddDays(1).In(w.zone, 0, 0, 0).Add(-1))
		}
	}
	return after
}

// horizon returns how far candidates reach that can be due up to an instant.
func (w *walk) horizon(until time.Time) time.Time {
	if until.IsZero() || w.closed == nil || w.closed.policy != calendar.ToPrevious {
		return until
	}
	open, ok := w.closed.days.NextOpen(calendar.DateOf(until.In(w.zone)))
	if !ok {
		return time.Time{}
	}
	return open.In(w.zone, 0, 0, 0).Add(-1)
}

// leap goes on from a candidate that cannot be due before from to the first one
// that can.
func (w *walk) leap(at time.Time) {
	if w.from.IsZero() {
		return
	}
	if start := w.reach(w.from.Add(-1)); at.Before(start) {
		w.rest = newCandidates(w.rest.base, w.closed, w.zone, start)
	}
}

// past reports whether no candidate after this one can be due before until.
func (w *walk) past(at time.Time) bool {
	return !w.until.IsZero() && !at.Before(w.until) && at.After(w.horizon(w.until))
}

// next returns the next step, or one without a time at the end.
func (w *walk) next() (Step, error) {
	at, reading, err := w.rest.next()
	if errors.Is(err, errLater) {
		return Step{}, nil
	}
	if err != nil || at.IsZero() {
		return Step{}, err
	}
	step := Step{At: at, Verdict: VerdictDue}
	date := calendar.DateOf(reading)
	slot, ok := w.slot(&step, at, reading, date)
	if ok {
		due, err := w.due(slot)
		if err != nil {
			return Step{}, err
		}
		if w.taken(slot, at, date) {
			step.Verdict, step.Into = VerdictMerged, due
		} else {
			step.Due, step.Delay = due, due.Sub(slot)
			w.bound(&step)
		}
	}
	if date.Year != w.year {
		w.year, w.beyond = date.Year, nil
		for _, c := range w.lists {
			if !c.Explain(date).Known {
				w.beyond = append(w.beyond, c.Name())
			}
		}
	}
	step.Beyond = w.beyond
	return step, nil
}

// slot applies calendar and blackouts to a candidate. ok is false if it is left
// out.
func (w *walk) slot(step *Step, at, reading time.Time, date calendar.Date) (slot time.Time, ok bool) {
	slot = at
	if w.closed != nil {
		if w.day.Date != date {
			w.day = w.closed.days.Explain(date)
		}
		if !w.day.Open {
			step.Closed = new(w.day)
			if slot, ok = w.closed.move(date, reading); !ok {
				step.Verdict = VerdictClosed
				return slot, false
			}
			step.Verdict = VerdictMoved
		}
	}
	if w.blackouts == nil {
		return slot, true
	}
	if in := w.blackouts.hold(slot); in != nil {
		step.Blackout = in.text
		end := w.blackouts.end(slot)
		if !w.blackouts.after || end.IsZero() {
			step.Verdict = VerdictBlackout
			return slot, false
		}
		slot, step.Verdict = end, VerdictMoved
	}
	return slot, true
}

// move returns the time to which a reading of a closed date is moved.
func (c *closedDays) move(date calendar.Date, reading time.Time) (time.Time, bool) {
	var open calendar.Date
	ok := false
	switch c.policy {
	case calendar.ToNext:
		open, ok = c.days.NextOpen(date)
	case calendar.ToPrevious:
		open, ok = c.days.PrevOpen(date)
	case calendar.Skip:
	}
	return open.At(calendar.TimeOfDayOf(reading), c.zone).Add(time.Duration(reading.Nanosecond())), ok
}

// taken reports whether an earlier candidate has come to the slot, and notes it.
func (w *walk) taken(slot, at time.Time, date calendar.Date) bool {
	if w.seen == nil {
		return false
	}
	w.forget(at, date)
	key := slot.UnixNano()
	if w.seen[key] {
		return true
	}
	w.seen[key] = true
	if slot.After(w.newest) {
		w.newest = slot
	}
	return false
}

// forget drops the slots that no candidate from this one on can come to.
func (w *walk) forget(at time.Time, date calendar.Date) {
	if w.closed != nil && w.closed.policy == calendar.ToPrevious {
		// Those of the last open day are in use until the next one.
		if date == w.open || !w.closed.days.IsOpen(date) {
			return
		}
		w.open = date
	} else if !at.After(w.newest) {
		return
	}
	maps.DeleteFunc(w.seen, func(slot int64, _ bool) bool { return slot < at.UnixNano() })
}

// due adds the jitter to a slot.
func (w *walk) due(slot time.Time) (time.Time, error) {
	if w.jitter.limit == 0 {
		return slot, nil
	}
	following, err := w.slots.next(slot)
	if err != nil && !errors.Is(err, errLater) {
		return time.Time{}, err
	}
	return (&jittered{jitter: w.jitter, shape: w.shape}).delay(slot, following), nil
}

// bound holds a due time against from and until.
func (w *walk) bound(step *Step) {
	switch {
	case !w.from.IsZero() && step.Due.Before(w.from):
		step.outside = "before from, " + w.from.In(w.zone).Format(time.RFC3339)
	case !w.until.IsZero() && !step.Due.Before(w.until):
		step.outside = "not before until, " + w.until.In(w.zone).Format(time.RFC3339)
	default:
		return
	}
	step.Verdict, step.Due = VerdictOutside, time.Time{}
}

// candidates yields the times of a source; on closed days whose times are
// moved, what the expression says instead of what a change of the clock makes
// of it.
type candidates struct {
	base   source
	wall   calendar.Source // nil: base alone
	closed *closedDays
	zone   *time.Location

	after   time.Time // base was asked up to here
	reading time.Time // wall was asked up to here
}

func newCandidates(base source, closed *closedDays, zone *time.Location, after time.Time) *candidates {
	c := &candidates{base: base, closed: closed, zone: zone, after: after}
	if closed != nil && closed.wall != nil {
		c.wall, c.reading = closed.wall, readingOf(after.In(zone))
	}
	return c
}

// next returns the next candidate and what the clock shows then, as UTC; the
// zero time at the end.
func (c *candidates) next() (at, reading time.Time, err error) {
	for {
		if at, err = c.base.next(c.after); err != nil {
			return time.Time{}, time.Time{}, err
		}
		at = at.In(c.zone)
		if c.wall == nil {
			c.after = at
			return at, at, nil
		}
		if reading, err = c.wall(c.reading); err != nil {
			return time.Time{}, time.Time{}, err
		}
		if at.IsZero() && reading.IsZero() {
			return at, reading, nil
		}
		day := calendar.DateOf(reading)
		if onBase := calendar.DateOf(at); reading.IsZero() || !at.IsZero() && onBase.Before(day) {
			day = onBase
		}
		if at, reading, ok := c.on(day, at, reading); ok {
			return at, reading, nil
		}
	}
}

// on returns the candidate on a day, on which one of the two is, and goes past
// it. Without one it goes past the day.
func (c *candidates) on(day calendar.Date, at, reading time.Time) (time.Time, time.Time, bool) {
	next := day.AddDays(1)
	pastDay, pastReading := next.In(c.zone, 0, 0, 0).Add(-1), midnight(next).Add(-1)
	if c.closed.days.IsOpen(day) {
		c.reading = pastReading
		if calendar.DateOf(at) == day {
			c.after = at
			return at, at, true
		}
		return at, reading, false
	}
	c.after = pastDay
	if calendar.DateOf(reading) == day {
		c.reading = reading
		return day.At(calendar.TimeOfDayOf(reading), c.zone), reading, true
	}
	return at, reading, false
}

// readingOf is what a clock shows, written as UTC.
func readingOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

func midnight(d calendar.Date) time.Time { return d.In(time.UTC, 0, 0, 0) }
