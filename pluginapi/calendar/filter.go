package calendar

import (
	"fmt"
	"time"
)

// maxFilterSteps bounds how many due times on closed days one search passes
// over. Each step leaves at least one closed day behind.
const maxFilterSteps = 5_000

// OnClosed says what becomes of a due time that falls on a closed day.
type OnClosed string

// Skip drops it, ToPrevious and ToNext move it to the nearest open day before
// or after, at the same local time.
const (
	Skip       OnClosed = "skip"
	ToPrevious OnClosed = "previous"
	ToNext     OnClosed = "next"
)

// Source gives the first due time strictly after an instant, or the zero time
// if there is none any more.
type Source func(after time.Time) (time.Time, error)

// Filter keeps the due times of a Source to the open days of a calendar. Due
// times that fall together by being moved are one.
type Filter struct {
	Calendar *Calendar
	OnClosed OnClosed
	Zone     *time.Location
	Times    Source
	// Wall, if set, is Times as it would be in a zone whose clock is never
	// changed: asked and answering in UTC. It keeps a time that the clock
	// change of a closed day displaces from being moved in its displaced form.
	Wall Source
}

// Next returns the first due time strictly after an instant, in Zone, or the
// zero time if there is none. It gives up, as if there were none, where the
// calendar stays closed for more than [SearchYears]. Errors are those of the
// sources, or an unknown OnClosed.
func (f Filter) Next(after time.Time) (time.Time, error) {
	switch f.OnClosed {
	case Skip:
		return f.nextOpenTime(after)
	case ToPrevious, ToNext:
		return f.nextMovedTime(after)
	default:
		return time.Time{}, fmt.Errorf("expected skip, previous or next for closed days, got %q", f.OnClosed)
	}
}

func (f Filter) nextOpenTime(after time.Time) (time.Time, error) {
	for range maxFilterSteps {
		at, err := f.ask(after)
		if err != nil || at.IsZero() {
			return time.Time{}, err
		}
		day := DateOf(at)
		if f.Calendar.IsOpen(day) {
			return at, nil
		}
		open, found := f.Calendar.NextOpen(day)
		if !found {
			return time.Time{}, nil
		}
		// Not back before at: where the clock is put back over midnight, the
		// open day began before the closed one was shown for the second time.
		after = at
		if begin := justBefore(open, f.Zone); begin.After(at) {
			after = begin
		}
	}
	return time.Time{}, nil
}

// nextMovedTime goes from open day to open day, each with the closed days
// whose times are moved to it. Times on those days are handled as wall clock
// readings, written as UTC.
func (f Filter) nextMovedTime(after time.Time) (time.Time, error) {
	cursor := f.firstSource(DateOf(after.In(f.Zone))).midnightUTC()
	for range maxFilterSteps {
		reading, err := f.readingFrom(cursor)
		if err != nil || reading.IsZero() {
			return time.Time{}, err
		}
		day := DateOf(reading)
		group, found := f.groupOf(day)
		if !found {
			open, found := f.Calendar.NextOpen(day)
			if !found {
				return time.Time{}, nil
			}
			cursor = open.midnightUTC()
			continue
		}
		at, err := f.earliest(group, after)
		if err != nil || !at.IsZero() {
			return at, err
		}
		cursor = group.last.AddDays(1).midnightUTC()
	}
	return time.Time{}, nil
}

// dayGroup is an open day with the range of days whose times fall on it: itself
// and the closed days after it (ToPrevious) or before it (ToNext).
type dayGroup struct{ open, first, last Date }

func (f Filter) groupOf(day Date) (dayGroup, bool) {
	open := day
	if !f.Calendar.IsOpen(day) {
		var found bool
		if f.OnClosed == ToPrevious {
			open, found = f.Calendar.PrevOpen(day)
		} else {
			open, found = f.Calendar.NextOpen(day)
		}
		if !found {
			return dayGroup{}, false
		}
	}
	if f.OnClosed == ToNext {
		return dayGroup{open: open, first: f.firstSource(open), last: open}, true
	}
	last := open.AddDays(searchDays)
	if next, found := f.Calendar.NextOpen(open); found {
		last = next.AddDays(-1)
	}
	return dayGroup{open: open, first: open, last: last}, true
}

// firstSource returns the first day whose times may fall on day or later.
func (f Filter) firstSource(day Date) Date {
	if f.OnClosed == ToPrevious {
		return day
	}
	if open, found := f.Calendar.PrevOpen(day); found {
		return open.AddDays(1)
	}
	return day.AddDays(-searchDays)
}

// earliest returns the first time after the given instant that falls on the
// group's open day, or the zero time.
func (f Filter) earliest(g dayGroup, after time.Time) (time.Time, error) {
	best, err := f.ownTime(g.open, after)
	if err != nil {
		return time.Time{}, err
	}
	var begin time.Duration // what the wall clock shows at after, if that is on the open day
	if local := after.In(f.Zone); DateOf(local) == g.open {
		begin = time.Duration(TimeOfDayOf(local).Seconds()) * time.Second
	}
	first, end := g.first, g.last.AddDays(1).midnightUTC()
	if first == g.open {
		first = first.AddDays(1)
	}
	for cursor := first.midnightUTC().Add(begin); cursor.Before(end); {
		reading, err := f.readingFrom(cursor)
		if err != nil {
			return time.Time{}, err
		}
		day := DateOf(reading)
		if reading.IsZero() || day.After(g.last) {
			break
		}
		cursor = day.AddDays(1).midnightUTC().Add(begin)
		if day == g.open {
			continue // ownTime has these
		}
		at := f.instant(g.open, reading)
		if !at.After(after) {
			cursor = reading.Add(1)
			continue
		}
		if best.IsZero() || at.Before(best) {
			best = at
		}
	}
	return best, nil
}

// ownTime returns the first time after the given instant that the source has
// on an open day itself, or the zero time.
func (f Filter) ownTime(open Date, after time.Time) (time.Time, error) {
	if begin := justBefore(open, f.Zone); begin.After(after) {
		after = begin
	}
	at, err := f.ask(after)
	if err != nil || DateOf(at) != open {
		return time.Time{}, err
	}
	return at, nil
}

// readingFrom returns the first wall clock reading, at or after another one,
// at which the source has a due time; both as UTC.
func (f Filter) readingFrom(from time.Time) (time.Time, error) {
	if f.Wall != nil {
		return askStrictly(f.Wall, from.Add(-1))
	}
	after := f.instant(DateOf(from), from).Add(-1)
	for {
		at, err := f.ask(after)
		if err != nil || at.IsZero() {
			return time.Time{}, err
		}
		reading := DateOf(at).midnightUTC().Add(sinceMidnight(at))
		if !reading.Before(from) {
			return reading, nil
		}
		after = at // shown for the second time
	}
}

// ask returns the source's next time in the filter's zone.
func (f Filter) ask(after time.Time) (time.Time, error) {
	at, err := askStrictly(f.Times, after)
	if err != nil || at.IsZero() {
		return time.Time{}, err
	}
	return at.In(f.Zone), nil
}

// askStrictly refuses an answer that would make a search run in circles.
func askStrictly(source Source, after time.Time) (time.Time, error) {
	at, err := source(after)
	if err == nil && !at.IsZero() && !at.After(after) {
		return time.Time{}, fmt.Errorf("asked for a time after %s, the source gave %s", after, at)
	}
	return at, err
}

// instant returns when the zone's clock shows a reading's time of day on a date.
func (f Filter) instant(day Date, reading time.Time) time.Time {
	return day.At(TimeOfDayOf(reading), f.Zone).Add(time.Duration(reading.Nanosecond()))
}

func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(TimeOfDayOf(t).Seconds())*time.Second + time.Duration(t.Nanosecond())
}

// justBefore is the instant to ask a source with for the times of a day.
func justBefore(day Date, zone *time.Location) time.Time {
	return day.In(zone, 0, 0, 0).Add(-1)
}
