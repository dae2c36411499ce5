package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Settings of the trigger.
type Settings struct {
	Per      string `json:"per" ax:"default=day,enum=day|week|month" doc:"Fires once in each of these. A week begins on Monday."`
	From     string `json:"from" ax:"required" doc:"Start of the window, local time, 15:04 or 15:04:05."`
	To       string `json:"to" ax:"required" doc:"End of the window, itself not in it. Before from, it is on the day after."`
	Calendar string `json:"calendar" doc:"Name of a calendar: only windows that begin on its open days."`
}

// random fires at one drawn time in each period.
type random struct {
	period   period
	from, to calendar.TimeOfDay
	zone     *time.Location
	calendar *calendar.Calendar // nil: every day
	draw     draw
}

var _ pluginapi.Trigger = (*random)(nil)

func newRandom(s Settings, env pluginapi.Env) (*random, error) {
	span, err := newPeriod(s.Per)
	if err != nil {
		return nil, err
	}
	from, err := calendar.ParseTimeOfDay(s.From)
	if err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	to, err := calendar.ParseTimeOfDay(s.To)
	if err != nil {
		return nil, fmt.Errorf("to: %w", err)
	}
	if from == to {
		return nil, errors.New("to: the window is empty, from and to are the same time")
	}
	r := &random{period: span, from: from, to: to, zone: env.Zone}
	r.draw = draw{seed: env.Seed, per: s.Per, from: from, to: to, zone: env.Zone.String()}
	if s.Calendar == "" {
		return r, nil
	}
	if r.calendar = env.Calendars[s.Calendar]; r.calendar == nil {
		if len(env.Calendars) == 0 {
			return nil, fmt.Errorf("calendar: the trigger was given no calendar: name it beside the settings as well, trigger: {use: random, calendars: [%[1]s], with: {calendar: %[1]s, …}}",
				s.Calendar)
		}
		return nil, fmt.Errorf("calendar: the trigger was not given the calendar %q: add it to its calendars, which are %s",
			s.Calendar, strings.Join(slices.Sorted(maps.Keys(env.Calendars)), ", "))
	}
	return r, nil
}

// Next implements [pluginapi.Trigger].
func (r *random) Next(_ context.Context, after time.Time) (time.Time, error) {
	// The window of the day before may go on past midnight.
	first := r.period.start(calendar.DateOf(after.In(r.zone)).AddDays(-1))
	last := first.AddDays(calendar.SearchYears * 366)
	for first.Before(last) {
		next := r.period.next(first)
		if at, found := r.timeIn(first, next); found && at.After(after) {
			return at, nil
		}
		first = next
	}
	return time.Time{}, nil
}

// timeIn returns the drawn time of the period from first up to but not
// including next, or false if none of its days is open.
func (r *random) timeIn(first, next calendar.Date) (time.Time, bool) {
	var day calendar.Date
	var lowest uint64
	found := false
	for d := first; d.Before(next); d = d.AddDays(1) {
		if r.calendar != nil && !r.calendar.IsOpen(d) {
			continue
		}
		// The day with the lowest ticket wins, so that a change of the
		// calendar moves the draw only if it closes the winner or opens a better one.
		if ticket := r.draw.ticket(d); !found || ticket < lowest {
			day, lowest, found = d, ticket, true
		}
	}
	if !found {
		return time.Time{}, false
	}
	return r.timeOn(day), true
}

// timeOn returns the drawn time in the window that begins on a day. A change
// of the clock makes the window longer or shorter; all of it is drawn from.
func (r *random) timeOn(day calendar.Date) time.Time {
	begin, end := day.At(r.from, r.zone), day.At(r.to, r.zone)
	if r.to.Seconds() < r.from.Seconds() {
		end = day.AddDays(1).At(r.to, r.zone)
	}
	length := uint64(end.Sub(begin) / time.Second) // 0 where the clock skips the whole window
	return begin.Add(time.Duration(r.draw.below(day, length)) * time.Second)
}
