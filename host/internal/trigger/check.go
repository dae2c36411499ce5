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

// maxJitter bounds how far a due time is put off.
const maxJitter = 24 * time.Hour

// FieldError is one fault of a schedule.
type FieldError struct {
	// Field is the key as the configuration spells it: cron, every, delay,
	// anchor, repeat_count, at, trigger, timezone, from, until, calendar, on_closed,
	// calendars, blackout, on_blackout or jitter; empty for the schedule as a
	// whole.
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
	spec := Spec{Schedule: s, Task: task, Calendars: calendars, AnchorAt: cmp.Or(s.From, time.Unix(0, 0))}
	src, err := builtinSource(spec, zone)
	if err != nil {
		return err
	}
	whole, err := Compile(spec)
	if err != nil {
		return err
	}
	for _, stage := range []struct {
		trigger        Trigger
		field, problem string
	}{
		{&Timetable{zone: zone, base: src, staged: src}, firstOf(s), "no date matches, it would never be due"},
		{whole, narrowing(s), "leaves no due time, the task would never run"},
	} {
		times, _, err := stage.trigger.Next(context.Background(), time.Unix(0, 0).Add(-1), time.Time{}, 1)
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
		errs = append(errs, fault("", "the schedule "+problem, "give exactly one of cron, every, delay, at and trigger"))
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
	errs = append(errs, inspectBlackouts(s, calendars)...)
	if s.Jitter < 0 || s.Jitter > maxJitter || s.Jitter%jitterGrain != 0 {
		errs = append(errs, fault("jitter", fmt.Sprintf("%v is no length to put due times off by", s.Jitter),
			"write a duration such as 30s, of whole milliseconds and at most 24h"))
	}
	return zone, errors.Join(errs...)
}

// kindsOf names what the schedule says of cron, every, delay, at and trigger.
func kindsOf(s ax.Schedule) []string {
	var kinds []string
	for _, kind := range []struct {
		name  string
		given bool
	}{
		{"cron", s.Cron != ""}, {"every", s.Every != 0}, {"delay", s.Delay != 0}, {"at", !s.At.IsZero()}, {"trigger", s.Trigger != nil},
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
	case len(s.Blackouts) > 0:
		return "blackout"
	case !s.Until.IsZero():
		return "until"
	default:
		return "from"
	}
}

func inspectInterval(s ax.Schedule) []error {
	var errs []error
	if s.Delay < 0 || s.Delay > 0 && s.Delay < minPeriod || s.Delay%time.Microsecond != 0 {
		errs = append(errs, fault("delay", fmt.Sprintf("%v is no time to wait between runs", s.Delay),
			"write a positive duration with a unit, such as 90s or 5m, of whole microseconds and at least 1ms"))
	}
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
	if s.Calendar != "" {
		errs = append(errs, inspectName("calendar", s.Calendar, calendars)...)
	}
	for _, name := range s.Calendars {
		errs = append(errs, inspectName("calendars", name, calendars)...)
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

func inspectName(field, name string, calendars map[string]*calendar.Calendar) []error {
	if calendars[name] != nil {
		return nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(calendars)), ", ")
	return []error{fault(field, fmt.Sprintf("there is no calendar %q", name), "the calendars are: "+cmp.Or(known, "none"))}
}

func inspectBlackouts(s ax.Schedule, calendars map[string]*calendar.Calendar) []error {
	var errs []error
	for _, b := range s.Blackouts {
		switch day := 24 * time.Hour; {
		case b.From < 0 || b.From >= day || b.To < 0 || b.To > day || b.From%time.Second != 0 || b.To%time.Second != 0:
			errs = append(errs, fault("blackout", fmt.Sprintf("%s is no stretch of a day", b), "write times from 00:00 to 24:00"))
		case b.From == b.To:
			errs = append(errs, fault("blackout", fmt.Sprintf("%s begins when it ends", b), "for the whole day write 00:00-24:00"))
		}
		if b.Calendar != "" {
			errs = append(errs, inspectName("blackout", b.Calendar, calendars)...)
		}
		for _, day := range b.Weekdays {
			if day < time.Sunday || day > time.Saturday {
				errs = append(errs, fault("blackout", fmt.Sprintf("there is no weekday %d", day), "Sunday is 0, Saturday is 6"))
			}
		}
	}
	switch s.OnBlackout {
	case "", ax.BlackoutSkip, ax.BlackoutAfter:
		if s.OnBlackout != "" && len(s.Blackouts) == 0 {
			errs = append(errs, fault("on_blackout", "belongs to blackout only", "remove it or name a blackout"))
		}
	default:
		errs = append(errs, fault("on_blackout", fmt.Sprintf("%q is no policy", s.OnBlackout), "write skip or after"))
	}
	return errs
}
