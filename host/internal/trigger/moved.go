package trigger

import (
	"errors"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// moved brings due times on closed days to the nearest open day at the same
// local time: the one before (back) or the one after.
//
// An open day gathers its own due times and those of the run of closed days
// next to it. A Sunday's 08:00 and a Saturday's 10:00 thus come to Monday in
// the order 08:00, 10:00, so each date is searched apart.
type moved struct {
	src  source
	days *calendar.Calendar
	zone *time.Location
	back bool
}

func (m moved) next(after, until time.Time) (time.Time, error) {
	day := calendar.DateOf(after.In(m.zone))
	if !m.days.IsOpen(day) {
		open, ok := m.days.NextOpen(day)
		if !ok {
			return time.Time{}, nil
		}
		day = open
	}
	for range maxRejected {
		if beyond(midnight(day, m.zone), until) {
			return time.Time{}, errLater
		}
		first, last := m.gathered(day)
		due, err := m.onDay(day, first, last, after)
		if err != nil || !due.IsZero() {
			return due, err
		}
		day, err = m.dayOfNext(last, until)
		if err != nil || day == (calendar.Date{}) {
			return time.Time{}, err
		}
	}
	return time.Time{}, nil
}

// gathered returns the first and the last date whose due times come to day.
// Beyond the reach of the calendar's search there is no further date.
func (m moved) gathered(day calendar.Date) (first, last calendar.Date) {
	if m.back {
		if open, ok := m.days.NextOpen(day); ok {
			return day, open.AddDays(-1)
		}
		return day, day.AddDays(366 * calendar.SearchYears)
	}
	if open, ok := m.days.PrevOpen(day); ok {
		return open.AddDays(1), day
	}
	return day.AddDays(-366 * calendar.SearchYears), day
}

// dayOfNext returns the open day to which the first due time after the date
// last comes. The zero Date: there is none any more.
func (m moved) dayOfNext(last calendar.Date, until time.Time) (calendar.Date, error) {
	if m.back && !until.IsZero() {
		// What comes back to the days up to until is due before the next open
		// day; if there is no such day, at any time.
		open, ok := m.days.NextOpen(calendar.DateOf(until.In(m.zone)))
		until = time.Time{}
		if ok {
			until = midnight(open, m.zone)
		}
	}
	due, err := m.src.next(midnight(last.AddDays(1), m.zone).Add(-1), until)
	if err != nil || due.IsZero() {
		return calendar.Date{}, err
	}
	date := calendar.DateOf(due.In(m.zone))
	if m.days.IsOpen(date) {
		return date, nil
	}
	step := m.days.NextOpen
	if m.back {
		step = m.days.PrevOpen
	}
	open, ok := step(date)
	if !ok {
		return calendar.Date{}, nil
	}
	return open, nil
}

// onDay returns the earliest due time after the given instant that comes to
// day from the dates first to last, or the zero time.
func (m moved) onDay(day, first, last calendar.Date, after time.Time) (time.Time, error) {
	var best time.Time
	end := midnight(last.AddDays(1), m.zone)
	for date := first; !date.After(last); date = date.AddDays(1) {
		if first != last {
			// Long runs are mostly empty: go on at the next date with a due time.
			due, err := within(m.src, midnight(date, m.zone).Add(-1), end)
			if err != nil {
				return time.Time{}, err
			}
			if due.IsZero() {
				break
			}
			date = calendar.DateOf(due.In(m.zone))
		}
		due, err := m.fromDate(date, day, after)
		if err != nil {
			return time.Time{}, err
		}
		if !due.IsZero() && (best.IsZero() || due.Before(best)) {
			best = due
		}
	}
	return best, nil
}

// fromDate is onDay for a single date.
func (m moved) fromDate(date, day calendar.Date, after time.Time) (time.Time, error) {
	start, end := midnight(date, m.zone), midnight(date.AddDays(1), m.zone)
	if date == day {
		return within(m.src, latest(after, start.Add(-1)), end)
	}
	var best time.Time
	// Where the clock is put back local times repeat; between two such changes
	// they rise, and so do the times moved to the other day.
	for start.Before(end) {
		change := end
		if _, bound := start.ZoneBounds(); !bound.IsZero() && bound.Before(end) {
			change = bound
		}
		due, err := m.firstMoved(start, change, day, after)
		if err != nil {
			return time.Time{}, err
		}
		if !due.IsZero() && (best.IsZero() || due.Before(best)) {
			best = due
		}
		start = change.In(m.zone)
	}
	return best, nil
}

// firstMoved returns the first due time in [start, end) that comes to day
// after the given instant, as moved there.
func (m moved) firstMoved(start, end time.Time, day calendar.Date, after time.Time) (time.Time, error) {
	from := start.Add(-1)
	if local := after.In(m.zone); calendar.DateOf(local) == day {
		// Nothing with an earlier local time can come out after it.
		from = latest(from, start.Add(sinceMidnight(local)-sinceMidnight(start)-1))
	}
	for {
		due, err := within(m.src, from, end)
		if err != nil || due.IsZero() {
			return time.Time{}, err
		}
		if to := m.to(day, due); to.After(after) {
			return to, nil
		}
		from = due
	}
}

// to moves a due time to another day, keeping its local time.
func (m moved) to(day calendar.Date, due time.Time) time.Time {
	clock := calendar.TimeOfDayOf(due.In(m.zone))
	at := day.At(clock, m.zone)
	if calendar.TimeOfDayOf(at) == clock {
		at = at.Add(time.Duration(due.Nanosecond()))
	}
	return at
}

// within returns the first due time of src after the given instant and before
// end, or the zero time.
func within(src source, after, end time.Time) (time.Time, error) {
	due, err := src.next(after, end.Add(-1))
	if errors.Is(err, errLater) || !due.Before(end) {
		return time.Time{}, nil
	}
	return due, err
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// sinceMidnight is what the clock shows, as a duration.
func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(calendar.TimeOfDayOf(t).Seconds())*time.Second + time.Duration(t.Nanosecond())
}
