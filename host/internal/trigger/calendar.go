package trigger

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// maxRejected bounds how many due times in a row may fall on closed days
// before the schedule counts as never due. Days that are closed together count
// once, so a weekly schedule is followed for about 77 years.
const maxRejected = 4000

// withCalendar wraps src so that no due time is on a closed day.
func withCalendar(src source, days *calendar.Calendar, zone *time.Location, policy ax.OnClosed) source {
	if policy == ax.ClosedPrevious || policy == ax.ClosedNext {
		return moved{src: src, days: days, zone: zone, back: policy == ax.ClosedPrevious}
	}
	return openOnly{src: src, days: days, zone: zone}
}

// openOnly leaves out what falls on closed days.
type openOnly struct {
	src  source
	days *calendar.Calendar
	zone *time.Location
}

func (o openOnly) next(after, until time.Time) (time.Time, error) {
	for range maxRejected {
		due, err := o.src.next(after, until)
		if err != nil || due.IsZero() {
			return time.Time{}, err
		}
		date := calendar.DateOf(due.In(o.zone))
		if o.days.IsOpen(date) {
			return due, nil
		}
		open, ok := o.days.NextOpen(date)
		if !ok {
			return time.Time{}, nil
		}
		after = midnight(open, o.zone).Add(-1)
		if beyond(after, until) {
			return time.Time{}, errLater
		}
	}
	return time.Time{}, nil
}

// midnight returns the first instant of a date.
func midnight(d calendar.Date, zone *time.Location) time.Time {
	return d.In(zone, 0, 0, 0)
}
