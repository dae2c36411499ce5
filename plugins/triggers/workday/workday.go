package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
)

// workday fires according to a calendar's open days.
type workday struct {
	calendar *calendar.Calendar
	zone     *time.Location
	next     calendar.Source
	log      *slog.Logger
	warned   atomic.Int64 // the year last warned of
}

var _ pluginapi.Trigger = (*workday)(nil)

func newWorkday(s Settings, env pluginapi.Env) (*workday, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	c, err := s.find(env.Calendars)
	if err != nil {
		return nil, err
	}
	if err := s.checkHolidays(c); err != nil {
		return nil, err
	}
	next, err := s.source(c, env)
	if err != nil {
		return nil, err
	}
	return &workday{calendar: c, zone: env.Zone, next: next, log: env.Log}, nil
}

// source builds the search for due times that the mode asks for.
func (s Settings) source(c *calendar.Calendar, env pluginapi.Env) (calendar.Source, error) {
	at, err := s.timeOfDay()
	if err != nil {
		return nil, err
	}
	zone, picker := env.Zone, picker{calendar: c, holidays: s.Holidays}
	switch s.Mode {
	case modeEvery:
		return onDays(picker.every, at, zone), nil
	case modeNth:
		return onDays(picker.nthOfMonth(s.N), at, zone), nil
	case modeBefore:
		return onDays(picker.beforeHoliday, at, zone), nil
	case modeAfter:
		return onDays(picker.afterHoliday, at, zone), nil
	case modeNext, modePrevious:
		pick := dayOfMonth(s.Day)
		return calendar.Filter{
			Calendar: c,
			OnClosed: calendar.OnClosed(s.Mode), // the modes have its words
			Zone:     zone,
			Times:    onDays(pick, at, zone),
			Wall:     onDays(pick, at, time.UTC),
		}.Next, nil
	case modeCron:
		return s.cronSource(c, zone, env.Seed)
	default:
		return nil, fmt.Errorf("mode: there is no mode %q", s.Mode)
	}
}

// Next implements [pluginapi.Trigger]. It warns once for each year that the
// calendar has no list for.
func (w *workday) Next(_ context.Context, after time.Time) (time.Time, error) {
	at, err := w.next(after)
	if err != nil || at.IsZero() {
		return time.Time{}, err
	}
	day := calendar.DateOf(at.In(w.zone))
	if year := int64(day.Year); !w.calendar.Explain(day).Known && w.warned.Swap(year) != year {
		first, last, _ := w.calendar.Coverage()
		w.log.Warn("no holidays are known for this year, so only the weekly pattern counts",
			"calendar", w.calendar.Name(), "year", year, "first_known", first, "last_known", last)
	}
	return at, nil
}

// onDays fires at one time of day on the days that pick finds.
func onDays(pick pickFunc, at calendar.TimeOfDay, zone *time.Location) calendar.Source {
	return func(after time.Time) (time.Time, error) {
		day, found := pick(calendar.DateOf(after.In(zone)))
		for found {
			if due := day.At(at, zone); due.After(after) {
				return due, nil
			}
			day, found = pick(day.AddDays(1))
		}
		return time.Time{}, nil
	}
}
