package alert

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Quiet is times of day, and days, in which a receiver wants no messages.
type Quiet struct {
	Zone  *time.Location
	Hours []ax.Blackout
	// Calendars holds those that the hours name.
	Calendars map[string]*calendar.Calendar
}

// maxStretches bounds how many quiet stretches may follow one another; beyond
// that a message leaves.
const maxStretches = 400

// Until returns the first instant from at on that is not quiet.
func (q *Quiet) Until(at time.Time) time.Time {
	for range maxStretches {
		end, held := q.end(at)
		if !held {
			return at
		}
		at = end
	}
	return at
}

// end returns the end of a stretch that holds at, if there is one.
func (q *Quiet) end(at time.Time) (time.Time, bool) {
	local := at.In(q.zone())
	today := calendar.DateOf(local)
	for i := range q.Hours {
		h := &q.Hours[i]
		for _, day := range []calendar.Date{today.AddDays(-1), today} {
			from, to := q.stretch(h, day)
			if q.on(h, day) && !at.Before(from) && at.Before(to) {
				return to, true
			}
		}
	}
	return at, false
}

func (q *Quiet) zone() *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	return q.Zone
}

// stretch returns the instants between which the hours of a day lie.
func (q *Quiet) stretch(h *ax.Blackout, day calendar.Date) (from, to time.Time) {
	at := func(d calendar.Date, clock time.Duration) time.Time {
		return time.Date(d.Year, d.Month, d.Day, 0, 0, int(clock/time.Second), 0, q.zone())
	}
	from = at(day, h.From)
	if h.To > h.From {
		return from, at(day, h.To)
	}
	return from, at(day.AddDays(1), h.To)
}

// on reports whether the hours begin on a date.
func (q *Quiet) on(h *ax.Blackout, d calendar.Date) bool {
	if len(h.Weekdays) > 0 && !slices.Contains(h.Weekdays, d.Weekday()) {
		return false
	}
	if h.Calendar == "" {
		return true
	}
	c := q.Calendars[h.Calendar]
	return c != nil && !c.IsOpen(d)
}
