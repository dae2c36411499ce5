package trigger

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
	"github.com/axsched/ax/pluginapi/cron"
)

// Spec is what Compile needs to know about a task.
type Spec struct {
	Schedule ax.Schedule
	// Task is the name that Seed is made from.
	Task string
	// Calendars holds at least the calendars that the schedule names.
	Calendars map[string]*calendar.Calendar
	// Plugins is needed for schedules with a plugin's trigger.
	Plugins Plugins
	// AnchorAt anchors an interval that has a repeat count but no anchor of its
	// own: when the schedule was first seen.
	AnchorAt time.Time
}

// Compile makes the Timetable of a task. The error, if any, is the one that
// Check returns for a wrong schedule.
func Compile(spec Spec) (*Timetable, error) {
	s := spec.Schedule
	zone, err := inspect(s, spec.Calendars)
	if err != nil {
		return nil, err
	}
	t := &Timetable{zone: zone}
	if s.Trigger == nil {
		if t.base, err = builtinSource(spec, zone); err != nil {
			return nil, err
		}
	} else {
		if spec.Plugins == nil {
			return nil, fault("trigger", "no plugins are at hand to ask for "+s.Trigger.Name, "")
		}
		var seen []*calendar.Calendar
		for _, name := range s.Calendars {
			seen = append(seen, spec.Calendars[name])
		}
		t.from = fromPlugin{spec.Plugins.Trigger(*s.Trigger, zone, Seed(spec.Task), seen)}
	}
	if t.shape, err = newShape(spec, zone); err != nil {
		return nil, err
	}
	if s.Delay > 0 {
		d := delayed{delay: s.Delay, free: blackouts{zone: zone, closed: spec.Calendars[s.Calendar]}}
		if t.shape != nil {
			if t.shape.blackouts != nil {
				d.free.list = t.shape.blackouts.list
			}
			t.shape = &shape{from: s.From, until: s.Until, lists: t.shape.lists}
		}
		t.base = d
	}
	if t.base != nil {
		t.staged = t.shape.around(t.base)
	}
	return t, nil
}

// newShape returns what narrows and moves the times of a schedule, or nil if
// nothing does.
func newShape(spec Spec, zone *time.Location) (*shape, error) {
	s := spec.Schedule
	shape := &shape{from: s.From, until: s.Until, lists: listsOf(spec)}
	if s.Calendar != "" {
		shape.closed = &closedDays{days: spec.Calendars[s.Calendar], zone: zone, policy: calendar.OnClosed(cmp.Or(s.OnClosed, ax.ClosedSkip))}
		if s.Cron != "" && shape.closed.moves() {
			wall, err := cron.Parse(s.Cron, cron.Options{Location: time.UTC, Hash: spec.Task})
			if err != nil {
				return nil, cronFault(err)
			}
			shape.closed.wall = cronTimes{wall}.next
		}
	}
	if len(s.Blackouts) > 0 {
		shape.blackouts = &blackouts{zone: zone, after: s.OnBlackout == ax.BlackoutAfter, closed: spec.Calendars[s.Calendar]}
		for _, b := range s.Blackouts {
			shape.blackouts.list = append(shape.blackouts.list, newBlackout(b, spec.Calendars))
		}
	}
	if s.Jitter > 0 {
		shape.jitter = jitter{limit: s.Jitter, seed: Seed(spec.Task), step: min(s.Jitter, time.Second)}
		if s.Trigger != nil {
			shape.jitter.step = s.Jitter // each step back is a call
		}
	}
	if !shape.narrows() && s.From.IsZero() && s.Until.IsZero() && len(shape.lists) == 0 {
		return nil, nil
	}
	return shape, nil
}

// listsOf returns the calendars that a schedule names, each once.
func listsOf(spec Spec) []*calendar.Calendar {
	var lists []*calendar.Calendar
	for _, name := range spec.Schedule.CalendarNames() {
		lists = append(lists, spec.Calendars[name])
	}
	return lists
}

func builtinSource(spec Spec, zone *time.Location) (source, error) {
	s := spec.Schedule
	switch {
	case s.Cron != "":
		schedule, err := cron.Parse(s.Cron, cron.Options{Location: zone, Hash: spec.Task})
		if err != nil {
			return nil, cronFault(err)
		}
		if schedule.Location() != zone {
			return nil, fault("cron", "names a zone of its own", "remove the prefix and write timezone: "+schedule.Location().String())
		}
		return cronTimes{schedule}, nil
	case !s.At.IsZero():
		return oneShot{at: s.At.In(zone)}, nil
	case s.Delay > 0:
		return delayed{delay: s.Delay, free: blackouts{zone: zone}}, nil
	}
	i := interval{anchor: time.Unix(0, 0), period: s.Every}
	if s.RepeatCount != nil {
		i.anchor, i.last, i.bounded = spec.AnchorAt, uint64(*s.RepeatCount), true
	}
	if !s.Anchor.IsZero() {
		i.anchor = s.Anchor
	}
	i.anchor = i.anchor.In(zone)
	return i, nil
}

func cronFault(err error) error {
	e, ok := errors.AsType[*cron.Error](err)
	if !ok {
		return fault("cron", err.Error(), "")
	}
	where := e.Field
	if e.Text != "" {
		where += fmt.Sprintf(" %q", e.Text)
	}
	f := fault("cron", where+": "+e.Problem, e.Hint)
	f.Part = e.Text
	return f
}
