package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
)

// horizonMonths bounds the search. The rarest day there is, a fifth weekday
// in February, comes at the latest after 40 years (2072 to 2112, over 2100).
const horizonMonths = 41 * 12

// fullMonth has no more than this many of each weekday.
const fullMonth = 5

// Settings of the trigger.
type Settings struct {
	Weekday string `json:"weekday" ax:"required" doc:"The weekday: MON to SUN, or the whole name, in any case."`
	Nth     int    `json:"nth" ax:"default=-1,min=-5,max=5" doc:"Which one of the month: 1 to 5 from its start, -1 (the last) to -5 from its end. A month that lacks it is passed over."`
	Time    string `json:"time" ax:"default=00:00:00" doc:"Local time of day, 15:04 or 15:04:05."`
	Months  []int  `json:"months" ax:"min=1,max=12" doc:"Only in these months, 1 to 12. Without it, in all."`
}

// lastWeekday fires on one weekday of each chosen month.
type lastWeekday struct {
	weekday time.Weekday
	nth     int
	time    calendar.TimeOfDay
	months  []int // empty: all
	zone    *time.Location
}

var _ pluginapi.Trigger = (*lastWeekday)(nil)

func newLastWeekday(s Settings, zone *time.Location) (*lastWeekday, error) {
	weekday, err := calendar.ParseWeekday(s.Weekday)
	if err != nil {
		return nil, fmt.Errorf("weekday: %w", err)
	}
	at, err := calendar.ParseTimeOfDay(s.Time)
	if err != nil {
		return nil, fmt.Errorf("time: %w", err)
	}
	if s.Nth == 0 || s.Nth < -fullMonth || s.Nth > fullMonth {
		return nil, fmt.Errorf("nth: expected 1 to 5 or -1 to -5, got %d", s.Nth)
	}
	for _, month := range s.Months {
		if month < 1 || month > 12 {
			return nil, fmt.Errorf("months: expected 1 to 12, got %d", month)
		}
	}
	return &lastWeekday{weekday: weekday, nth: s.Nth, time: at, months: s.Months, zone: zone}, nil
}

// Next implements [pluginapi.Trigger].
func (l *lastWeekday) Next(_ context.Context, after time.Time) (time.Time, error) {
	year, month, _ := after.In(l.zone).Date()
	for range horizonMonths {
		if day, found := l.dayOf(year, month); found {
			if at := day.At(l.time, l.zone); at.After(after) {
				return at, nil
			}
		}
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
	return time.Time{}, nil
}

// dayOf returns the day chosen in a month, or false if it has none.
func (l *lastWeekday) dayOf(year int, month time.Month) (calendar.Date, bool) {
	if len(l.months) > 0 && !slices.Contains(l.months, int(month)) {
		return calendar.Date{}, false
	}
	length := calendar.DaysIn(year, month)
	day := calendar.Date{Year: year, Month: month, Day: 1}
	if l.nth > 0 {
		day.Day += daysBetween(day.Weekday(), l.weekday) + 7*(l.nth-1)
	} else {
		day.Day = length
		day.Day -= daysBetween(l.weekday, day.Weekday()) + 7*(-l.nth-1)
	}
	return day, day.Day >= 1 && day.Day <= length
}

// daysBetween returns how many days after one weekday the other comes, 0 to 6.
func daysBetween(from, to time.Weekday) int {
	return int(to-from+7) % 7
}
