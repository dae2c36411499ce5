package trigger

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Bounds of searches, each far beyond any schedule that makes sense.
const (
	// maxLinks is how many blackouts and closed days may follow one another
	// before the last of them counts as having no end.
	maxLinks = 1000
	// maxSkipped is how many times one search passes over.
	maxSkipped = 5000
)

const secondsPerDay = 24 * 60 * 60

// blackout is an ax.Blackout, compiled. It goes by what the clock shows: a
// time shown twice is in it twice.
type blackout struct {
	from, to int // seconds since midnight
	weekdays [7]bool
	days     *calendar.Calendar // nil: every day; else its closed days
	text     string
}

func newBlackout(b ax.Blackout, calendars map[string]*calendar.Calendar) blackout {
	w := blackout{from: int(b.From / time.Second), to: int(b.To / time.Second), days: calendars[b.Calendar], text: b.String()}
	for day := range w.weekdays {
		w.weekdays[day] = len(b.Weekdays) == 0
	}
	for _, day := range b.Weekdays {
		w.weekdays[day] = true
	}
	return w
}

// on reports whether the blackout begins on a date.
func (w *blackout) on(d calendar.Date) bool {
	return w.weekdays[d.Weekday()] && (w.days == nil || !w.days.IsOpen(d))
}

// holds reports whether a clock that shows at, in its own location, is within
// the blackout.
func (w *blackout) holds(at time.Time) bool {
	second := secondOf(at)
	if w.from < w.to {
		return w.from <= second && second < w.to && w.on(calendar.DateOf(at))
	}
	return second >= w.from && w.on(calendar.DateOf(at)) ||
		second < w.to && w.on(calendar.DateOf(at).AddDays(-1))
}

// end returns the first instant after at, which is in the blackout, that is
// not, as far as this stretch of it goes.
func (w *blackout) end(at time.Time) time.Time {
	for {
		left := w.to - secondOf(at)
		if left <= 0 {
			left += secondsPerDay
		}
		end := at.Add(time.Duration(left)*time.Second - time.Duration(at.Nanosecond()))
		_, change := at.ZoneBounds()
		// Beyond its tables package time may name a bound that is past.
		if !change.After(at) || !change.Before(end) {
			return end
		}
		if at = change.In(at.Location()); !w.holds(at) {
			return at
		}
	}
}

// start returns the first instant of the stretch of the blackout that at is in.
func (w *blackout) start(at time.Time) time.Time {
	for {
		passed := secondOf(at) - w.from
		if passed < 0 {
			passed += secondsPerDay
		}
		start := at.Add(-time.Duration(passed)*time.Second - time.Duration(at.Nanosecond()))
		change, _ := at.ZoneBounds()
		if change.IsZero() || !change.After(start) {
			return start
		}
		before := change.Add(-1).In(at.Location())
		if !w.holds(before) {
			return change.In(at.Location())
		}
		at = before
	}
}

func secondOf(t time.Time) int { return calendar.TimeOfDayOf(t).Seconds() }

// blackouts is the stage that keeps due times out of blackouts.
type blackouts struct {
	zone  *time.Location
	list  []blackout
	after bool // put due times off to the end; else leave them out
	// closed is the task's own calendar, or nil: what is put off to a closed
	// day is put off to the end of that as well.
	closed *calendar.Calendar
}

// hold returns the blackout that an instant is in, or nil.
func (b *blackouts) hold(at time.Time) *blackout {
	at = at.In(b.zone)
	for i := range b.list {
		if b.list[i].holds(at) {
			return &b.list[i]
		}
	}
	return nil
}

// end returns the first instant from at on that is in no blackout and on no
// closed day, or the zero time if there is none for years.
func (b *blackouts) end(at time.Time) time.Time {
	at = at.In(b.zone)
	for range maxLinks {
		if w := b.hold(at); w != nil {
			at = w.end(at)
			continue
		}
		day := calendar.DateOf(at)
		if b.closed == nil || b.closed.IsOpen(day) {
			return at
		}
		open, ok := b.closed.NextOpen(day)
		if !ok {
			break
		}
		at = open.In(b.zone, 0, 0, 0)
	}
	return time.Time{}
}

// start returns an instant so that all between it and at is in blackouts or on
// closed days; it is at if that is in neither.
func (b *blackouts) start(at time.Time) time.Time {
	at = at.In(b.zone)
	for range maxLinks {
		before := at.Add(-1)
		if w := b.hold(before); w != nil {
			at = w.start(before)
			continue
		}
		day := calendar.DateOf(before)
		if b.closed == nil || b.closed.IsOpen(day) {
			return at
		}
		open, ok := b.closed.PrevOpen(day)
		if !ok {
			break
		}
		at = open.AddDays(1).In(b.zone, 0, 0, 0)
	}
	return at
}

func (b *blackouts) around(src source) source { return &unblacked{b, src} }

// unblacked is a source outside of blackouts.
type unblacked struct {
	*blackouts
	src source
}

func (u *unblacked) next(after time.Time) (time.Time, error) {
	from := after
	if u.after {
		// What was due since the blackout began comes to its end.
		from = earliest(after, u.start(after.Add(1)).Add(-1))
	}
	for range maxSkipped {
		due, err := u.src.next(from)
		if err != nil || due.IsZero() {
			return time.Time{}, err
		}
		if u.hold(due) != nil {
			end := u.end(due)
			if end.IsZero() {
				return time.Time{}, nil
			}
			if !u.after {
				from = end.Add(-1)
				continue
			}
			due = end
		}
		if due.After(after) {
			return due, nil
		}
		from = due
	}
	return time.Time{}, nil
}
