package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/axsched/ax/pluginapi/calendar"
)

// The modes, each a way to pick days or times.
const (
	modeEvery    = "every"
	modeNth      = "nth"
	modeNext     = "next"
	modePrevious = "previous"
	modeBefore   = "before"
	modeAfter    = "after"
	modeCron     = "cron"
)

// Settings of the trigger.
type Settings struct {
	Calendar string   `json:"calendar" ax:"required" doc:"Name of the calendar that says which days are open."`
	Mode     string   `json:"mode" ax:"default=every,enum=every|nth|next|previous|before|after|cron" doc:"every: each open day. nth: the nth open day of the month. next, previous: a day of the month, or the nearest open day after or before it. before, after: the last open day before a holiday, the first one after it. cron: the times of an expression, on open days."`
	Time     string   `json:"time" doc:"Local time of day, 15:04 or 15:04:05; 00:00:00 if absent. Not for mode cron."`
	N        int      `json:"n" ax:"min=-31,max=31" doc:"Mode nth: which open day of the month, 1 for the first, -1 for the last. A month with fewer is passed over."`
	Day      int      `json:"day" ax:"min=-31,max=31" doc:"Modes next and previous: the day of the month, 1 to 31, or -1 for the last. A month without it is passed over."`
	Holidays []string `json:"holidays" doc:"Modes before and after: only holidays with one of these names in the calendar."`
	Cron     string   `json:"cron" doc:"Mode cron: the expression."`
	OnClosed string   `json:"on_closed" ax:"enum=skip|previous|next" doc:"Mode cron: what becomes of a time on a closed day. It is dropped (skip, if absent) or moved to the open day before or after, at the same local time."`
}

// check refuses settings that the mode lacks or has no use for.
func (s Settings) check() error {
	uses := []struct {
		key      string
		given    bool
		modes    []string
		optional bool
	}{
		{key: "n", given: s.N != 0, modes: []string{modeNth}},
		{key: "day", given: s.Day != 0, modes: []string{modeNext, modePrevious}},
		{key: "cron", given: s.Cron != "", modes: []string{modeCron}},
		{key: "on_closed", given: s.OnClosed != "", modes: []string{modeCron}, optional: true},
		{key: "holidays", given: len(s.Holidays) > 0, modes: []string{modeBefore, modeAfter}, optional: true},
		{key: "time", given: s.Time != "", modes: []string{modeEvery, modeNth, modeNext, modePrevious, modeBefore, modeAfter}, optional: true},
	}
	var faults []error
	for _, use := range uses {
		wanted := slices.Contains(use.modes, s.Mode)
		switch {
		case use.given && !wanted:
			faults = append(faults, fmt.Errorf("%s: not used in mode %s, only in %s", use.key, s.Mode, strings.Join(use.modes, ", ")))
		case !use.given && wanted && !use.optional:
			faults = append(faults, fmt.Errorf("%s: needed in mode %s", use.key, s.Mode))
		}
	}
	return errors.Join(faults...)
}

// timeOfDay returns the time setting, midnight if it is absent.
func (s Settings) timeOfDay() (calendar.TimeOfDay, error) {
	if s.Time == "" {
		return calendar.TimeOfDay{}, nil
	}
	at, err := calendar.ParseTimeOfDay(s.Time)
	if err != nil {
		return calendar.TimeOfDay{}, fmt.Errorf("time: %w", err)
	}
	return at, nil
}

// find returns the calendar that the settings name.
func (s Settings) find(calendars map[string]*calendar.Calendar) (*calendar.Calendar, error) {
	if c := calendars[s.Calendar]; c != nil {
		return c, nil
	}
	if len(calendars) == 0 {
		return nil, fmt.Errorf("calendar: the trigger was given no calendar: name it beside the settings as well, trigger: {use: workday, calendars: [%[1]s], with: {calendar: %[1]s, …}}",
			s.Calendar)
	}
	return nil, fmt.Errorf("calendar: the trigger was not given the calendar %q: add it to its calendars, which are %s",
		s.Calendar, strings.Join(slices.Sorted(maps.Keys(calendars)), ", "))
}

// checkHolidays refuses names that no rule of the calendar has: a misspelt
// holiday would never fire, and nobody would notice.
func (s Settings) checkHolidays(c *calendar.Calendar) error {
	known := c.RuleNames()
	for _, name := range s.Holidays {
		if !slices.Contains(known, name) {
			return fmt.Errorf("holidays: calendar %q names no %q, only %s", s.Calendar, name, strings.Join(known, ", "))
		}
	}
	return nil
}
