package calendar

import (
	"fmt"
	"time"
)

// searchBack is further than any zone's clock is from UTC, so that a search
// beginning this long before a local time cannot begin after it.
const searchBack = 2 * secondsPerDay

// TimeOfDay is what a wall clock shows, 00:00:00 to 23:59:59.
type TimeOfDay struct {
	Hour, Minute, Second int
}

// ParseTimeOfDay reads "15:04" or "15:04:05".
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		// The length rules out fractions and one-digit hours, which time.Parse lets pass.
		if t, err := time.Parse(layout, text); err == nil && len(text) == len(layout) {
			return TimeOfDayOf(t), nil
		}
	}
	return TimeOfDay{}, fmt.Errorf("expected a time of day such as 02:00 or 02:00:30, got %q", text)
}

// TimeOfDayOf returns the time of day that t shows in its own location,
// without the fraction of its second.
func TimeOfDayOf(t time.Time) TimeOfDay {
	hour, minute, second := t.Clock()
	return TimeOfDay{Hour: hour, Minute: minute, Second: second}
}

// String returns "15:04:05".
func (t TimeOfDay) String() string {
	return fmt.Sprintf("%02d:%02d:%02d", t.Hour, t.Minute, t.Second)
}

// Seconds returns the seconds from 00:00:00.
func (t TimeOfDay) Seconds() int {
	return (t.Hour*60+t.Minute)*60 + t.Second
}

// In returns the first instant at which a clock in loc shows this date and
// time or a later one. That is
//
//   - the instant itself on an ordinary day,
//   - the first of the two where the clock is put back and shows it twice,
//   - the first instant after the gap where the clock is put forward past it,
//     also where a gap swallows the whole date (Samoa, 30 December 2011).
//
// Later local times never give earlier instants.
func (d Date) In(loc *time.Location, hour, minute, second int) time.Time {
	wall := time.Date(d.Year, d.Month, d.Day, hour, minute, second, 0, time.UTC).Unix()
	period := time.Unix(wall-searchBack, 0).In(loc)
	for {
		_, offset := period.Zone()
		start, end := period.ZoneBounds()
		if !end.IsZero() && !end.After(period) {
			// Beyond its tables package time gives each year 365 days, so on
			// the last day of a leap year the bound is past. No rule changes
			// the clock on that day.
			end = period.Add(secondsPerDay * time.Second)
		}
		at := time.Unix(wall-int64(offset), 0).In(loc)
		if end.IsZero() || at.Before(end) {
			if at.Before(start) {
				return start
			}
			return at
		}
		period = end
	}
}

// At is [Date.In] for a time of day that is already parsed.
func (d Date) At(t TimeOfDay, loc *time.Location) time.Time {
	return d.In(loc, t.Hour, t.Minute, t.Second)
}
