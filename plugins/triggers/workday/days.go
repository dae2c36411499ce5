package main

import (
	"slices"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// pickFunc returns the first picked day on or after a date, or false if there
// is none within [calendar.SearchYears].
type pickFunc func(from calendar.Date) (calendar.Date, bool)

// picker finds days of a calendar.
type picker struct {
	calendar *calendar.Calendar
	holidays []string // names that count as holidays; empty: all
}

// every picks each open day.
func (p picker) every(from calendar.Date) (calendar.Date, bool) {
	if p.calendar.IsOpen(from) {
		return from, true
	}
	return p.calendar.NextOpen(from)
}

// nthOfMonth picks the nth open day of each month, from its end if n is
// negative.
func (p picker) nthOfMonth(n int) pickFunc {
	return inMonths(func(year int, month time.Month) (calendar.Date, bool) {
		return p.calendar.NthOpenOfMonth(year, month, n)
	})
}

// dayOfMonth picks a day of each month that has it, from its end if day is
// negative. It asks no calendar.
func dayOfMonth(day int) pickFunc {
	return inMonths(func(year int, month time.Month) (calendar.Date, bool) {
		length, number := calendar.DaysIn(year, month), day
		if day < 0 {
			number = length + 1 + day
		}
		return calendar.Date{Year: year, Month: month, Day: number}, number >= 1 && number <= length
	})
}

// inMonths goes from month to month.
func inMonths(dayOf func(int, time.Month) (calendar.Date, bool)) pickFunc {
	return func(from calendar.Date) (calendar.Date, bool) {
		year, month := from.Year, from.Month
		for range 12 * calendar.SearchYears {
			if day, found := dayOf(year, month); found && !day.Before(from) {
				return day, true
			}
			if month++; month > time.December {
				year, month = year+1, time.January
			}
		}
		return calendar.Date{}, false
	}
}

// beforeHoliday picks the last open day before each holiday.
func (p picker) beforeHoliday(from calendar.Date) (calendar.Date, bool) {
	last := from.AddDays(calendar.SearchYears * 365)
	day, found := p.every(from)
	for found && !day.After(last) {
		var next calendar.Date
		if next, found = p.calendar.NextOpen(day); found && p.hasHoliday(day, next) {
			return day, true
		}
		day = next
	}
	return calendar.Date{}, false
}

// afterHoliday picks the first open day after each holiday.
func (p picker) afterHoliday(from calendar.Date) (calendar.Date, bool) {
	last := from.AddDays(calendar.SearchYears * 365)
	day, found := p.every(from)
	for found && !day.After(last) {
		if previous, known := p.calendar.PrevOpen(day); known && p.hasHoliday(previous, day) {
			return day, true
		}
		day, found = p.calendar.NextOpen(day)
	}
	return calendar.Date{}, false
}

// hasHoliday reports whether the closed days between two open ones are a
// holiday: at least one of them is closed by a rule of the calendar, not by
// its weekly pattern alone, and has a name that counts. The weekend beside
// such a day belongs to the holiday.
func (p picker) hasHoliday(open, next calendar.Date) bool {
	for d := open.AddDays(1); d.Before(next); d = d.AddDays(1) {
		day := p.calendar.Explain(d)
		if day.ByRule && (len(p.holidays) == 0 || slices.Contains(p.holidays, day.Reason)) {
			return true
		}
	}
	return false
}
