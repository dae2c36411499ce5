package trigger

import (
	"context"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// Timetable is the Trigger that Compile makes.
type Timetable struct {
	zone *time.Location
	base source     // nil for a plugin's trigger
	from fromPlugin // if base is nil
	// shape is what narrows and moves the times of base; nil for nothing. With
	// a base, staged is base with the stages of shape around it.
	shape  *shape
	staged source
}

// fromPlugin is where the times come from if base is nil.
type fromPlugin struct{ Trigger }

// shape is all that a schedule says beyond when it would be due.
type shape struct {
	closed      *closedDays // nil: no calendar
	blackouts   *blackouts  // nil: none
	jitter      jitter
	from, until time.Time
	// lists are the calendars that have a say in the due times.
	lists []*calendar.Calendar
}

// filteredBatch is how many times a plugin is asked for at once if some of
// them may be thrown away.
const filteredBatch = 64

// Next implements Trigger.
func (t *Timetable) Next(ctx context.Context, after, until time.Time, limit int) ([]time.Time, bool, error) {
	ends := false
	if s := t.shape; s != nil {
		if !s.from.IsZero() && after.Before(s.from) {
			after = s.from.Add(-1)
		}
		if ends = !s.until.IsZero() && (until.IsZero() || !s.until.After(until)); ends {
			until = s.until.Add(-1)
		}
	}
	if !until.IsZero() && !after.Before(until) {
		return nil, ends && limit > 0, nil
	}
	times, exhausted, err := collect(t.source(ctx, until, limit), after, until, limit)
	if ends && err == nil && len(times) < limit {
		exhausted = true
	}
	return times, exhausted, err
}

// source returns the source of due times, but for from and until, for the
// length of a call.
func (t *Timetable) source(ctx context.Context, until time.Time, limit int) source {
	if t.base != nil {
		return t.staged
	}
	return t.shape.around(t.cursor(ctx, until, limit))
}

// cursor makes a source of a plugin's trigger.
func (t *Timetable) cursor(ctx context.Context, until time.Time, limit int) *cursor {
	c := &cursor{ctx: ctx, plugin: t.from, horizon: until, size: limit}
	if s := t.shape; s != nil && s.narrows() {
		c.size = max(limit, filteredBatch)
		if s.moves() {
			c.horizon = time.Time{} // what is due before it may hang on what comes after it
		}
	}
	return c
}

// around returns src with the stages of the shape, which may be nil.
func (s *shape) around(src source) source {
	if s == nil {
		return src
	}
	return s.jitter.around(s.slots(src), s)
}

// slots returns src with the stages before the jitter.
func (s *shape) slots(src source) source {
	if s.closed != nil {
		src = s.closed.around(src)
	}
	if s.blackouts != nil {
		src = s.blackouts.around(src)
	}
	return src
}

// narrows reports whether a time of the source need not be a due time.
func (s *shape) narrows() bool {
	return s.closed != nil || s.blackouts != nil || s.jitter.limit > 0
}

// moves reports whether a due time may be another than that of the source.
func (s *shape) moves() bool {
	return s.closed != nil && s.closed.moves() || s.blackouts != nil && s.blackouts.after || s.jitter.limit > 0
}

// forbids reports whether jitter must not carry a due time to this instant.
func (s *shape) forbids(at time.Time) bool {
	return s.blackouts != nil && s.blackouts.hold(at) != nil ||
		s.closed != nil && !s.closed.days.IsOpen(calendar.DateOf(at.In(s.closed.zone)))
}

// Zone returns the zone of the schedule, in which the due times are.
func (t *Timetable) Zone() *time.Location { return t.zone }

// Narrowed reports whether a calendar or a blackout has a say in the due times.
func (t *Timetable) Narrowed() bool {
	return t.shape != nil && (t.shape.closed != nil || t.shape.blackouts != nil)
}

// Beyond returns the calendars of the schedule that have no list for the year
// of a due time: what they say about it rests on patterns alone.
func (t *Timetable) Beyond(due time.Time) []*calendar.Calendar {
	if t.shape == nil {
		return nil
	}
	var unknown []*calendar.Calendar
	date := calendar.DateOf(due.In(t.zone))
	for _, c := range t.shape.lists {
		if !c.Explain(date).Known {
			unknown = append(unknown, c)
		}
	}
	return unknown
}
