package main

import (
	"fmt"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// period cuts time into stretches of days.
type period struct {
	start func(calendar.Date) calendar.Date // first day of the stretch that holds a day
	next  func(calendar.Date) calendar.Date // first day of the following one, from a first day
}

func newPeriod(per string) (period, error) {
	switch per {
	case "day":
		return period{
			start: func(d calendar.Date) calendar.Date { return d },
			next:  func(d calendar.Date) calendar.Date { return d.AddDays(1) },
		}, nil
	case "week":
		return period{
			start: func(d calendar.Date) calendar.Date { return d.AddDays(-int(d.Weekday()-time.Monday+7) % 7) },
			next:  func(d calendar.Date) calendar.Date { return d.AddDays(7) },
		}, nil
	case "month":
		return period{
			start: func(d calendar.Date) calendar.Date { return d.AddDays(1 - d.Day) },
			next:  func(d calendar.Date) calendar.Date { return d.AddDays(calendar.DaysIn(d.Year, d.Month)) },
		}, nil
	default:
		return period{}, fmt.Errorf("per: expected day, week or month, got %q", per)
	}
}
