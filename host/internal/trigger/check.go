package trigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// minPeriod is the shortest interval. Due times are kept in microseconds and
// every one of them is a row of the database.
const minPeriod = time.Millisecond

// FieldError is one fault of a schedule.
type FieldError struct {
	// Field is the key as the configuration spells it: cron, every, anchor,
	// repeat_count, at, trigger, timezone, from, until, calendar, on_closed or
	// calendars; empty for the schedule as a whole.
	Field string
	// Part is the offending part of the value, if it is known.
	Part string
	// Message says what is wrong and how to put it right.
	Message string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Faults takes an error of Check or Compile apart.
func Faults(err error) []*FieldError {
	if fault, ok := err.(*FieldError); ok { //nolint:errorlint // the tree is walked below
		return []*FieldError{fault}
	}
	var faults []*FieldError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			faults = append(faults, Faults(err)...)
		}
	}
	return faults
}

func fault(field, problem, remedy string) *FieldError {
	message := problem
	if remedy != "" {
		message += "; " + remedy
	}
	return &FieldError{Field: field, Message: message}
}

// Check returns the faults of a task's schedule: what Compile refuses, and a
// schedule that has no due time at all, past or to come. A schedule that had
// its last due time is no fault, or a restart would refuse what ran before.
// What only a plugin knows is not checked. The error is a *FieldError, or
// several of them joined; Faults takes them apart.
func Check(s ax.Schedule, task string, calendars map[string]*calendar.Calendar) error {
	zone, err := inspect(s, calendars)
	if err != nil || s.Trigger != nil {
		return err
	}
	// An interval's due times depend on nothing that could rule them all out
	// but a window or a calendar; any anchor will do to find out.
	anchor := cmp.Or(s.From, time.Unix(0, 0))
	src, err := builtinSource(Spec{Schedule: s, Task: task, AnchorAt: anchor}, zone)
	if err != nil {
		return err
	}
	for _, stage := range []struct {
		src            source
		field, problem string
	}{
		{src, firstOf(s), "no date matches, it would never be due"},
		{wrapped(src, s, calendars, zone), narrowing(s), "leaves no due time, the task would never run"},
	} {
		times, _, err := builtin{stage.src}.Next(context.Background(), time.Unix(0, 0).Add(-1), time.Time{}, 1)
		if err != nil {
			return err
		}
		if len(times) == 0 {
			return fault(stage.field, stage.problem, "change it, or remove the task")
		}
	}
	return nil
}

// inspect checks the fields one by one, as far as the schedule itself and the
// calendars can tell, and returns the zone.
func inspect(s ax.Schedule, calendars map[string]*calendar.Calendar) (*time.Location, error) {
	var errs []error
	if kinds := kindsOf(s); len(kinds) != 1 {
		problem := "says not when the task is due"
		if len(kinds) > 1 {
			problem = "has " + strings.Join(kinds, " and ")
		}
		errs = append(errs, fault("", "the schedule "+problem, "give exactly one of cron, every, at and trigger"))
	}
	zone, err := Zone(s.Timezone)
	if err != nil {
		errs = append(errs, fault("timezone", err.Error(), ""))
	}
	errs = append(errs, inspectInterval(s)...)
	if !s.From.IsZero() && !s.Until.IsZero() && !s.From.Before(s.Until) {
		errs = append(errs, fault("until", "is not after from, so nothing lies between", "swap the two or move one"))
	}
	errs = append(errs, inspectCalendars(s, calendars)...)
	return zone, errors.Join(errs...)
}

// kindsOf names what the schedule says of cron, every, at and trigger.
func kindsOf(s ax.Schedule) []string {
	var kinds []string
	for _, kind := range []struct {
		name  string
		given bool
	}{
		{"cron", s.Cron != ""}, {"every", s.Every != 0}, {"at", !s.At.IsZero()}, {"trigger", s.Trigger != nil},
	} {
		if kind.given {
			kinds = append(kinds, kind.name)
		}
	}
	return kinds
}

func firstOf(s ax.Schedule) string { return kindsOf(s)[0] }

// narrowing names the field to blame if the wrappers leave nothing.
func narrowing(s ax.Schedule) string {
	switch {
	case s.Calendar != "":
		return "calendar"
	case !s.Until.IsZero():
		return "until"
	default:
		return "from"
	}
}

func inspectInterval(s ax.Schedule) []error {
	var errs []error
	if s.Every == 0 {
		if !s.Anchor.IsZero() {
			errs = append(errs, fault("anchor", "belongs to every only", "remove it or write every"))
		}
		if s.RepeatCount != nil {
			errs = append(errs, fault("repeat_count", "belongs to every only", "remove it or write every"))
		}
		return errs
	}
	if s.Every < minPeriod || s.Every%time.Microsecond != 0 {
		errs = append(errs, fault("every", fmt.Sprintf("%v is no interval to repeat a task in", s.Every),
			"write a positive duration with a unit, such as 90s, 5m or 36h, of whole microseconds and at least 1ms"))
	}
	if s.RepeatCount != nil && *s.RepeatCount < 0 {
		errs = append(errs, fault("repeat_count", fmt.Sprintf("%d is negative", *s.RepeatCount),
			"write 0 for a single run, or leave it out for no end"))
	}
	return errs
}

func inspectCalendars(s ax.Schedule, calendars map[string]*calendar.Calendar) []error {
	var errs []error
	missing := func(field, name string) {
		if calendars[name] == nil {
			known := strings.Join(slices.Sorted(maps.Keys(calendars)), ", ")
			errs = append(errs, fault(field, fmt.Sprintf("there is no calendar %q", name),
				"the calendars are: "+cmp.Or(known, "none")))
		}
	}
	if s.Calendar != "" {
		missing("calendar", s.Calendar)
	}
	for _, name := range s.Calendars {
		missing("calendars", name)
	}
	switch s.OnClosed {
	case "", ax.ClosedSkip, ax.ClosedPrevious, ax.ClosedNext:
		if s.OnClosed != "" && s.Calendar == "" {
			errs = append(errs, fault("on_closed", "belongs to calendar only", "remove it or name a calendar"))
		}
	default:
		errs = append(errs, fault("on_closed", fmt.Sprintf("%q is no policy", s.OnClosed), "write skip, previous or next"))
	}
	return errs
}
