package trigger

import (
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
	"github.com/axsched/ax/pluginapi/cron"
)

// filteredBatch is how many times a plugin is asked for at once if a calendar
// may throw some of them away.
const filteredBatch = 64

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

// Compile makes the Trigger of a task. The error, if any, is the one that
// Check returns for a wrong schedule.
func Compile(spec Spec) (Trigger, error) {
	s := spec.Schedule
	zone, err := inspect(s, spec.Calendars)
	if err != nil {
		return nil, err
	}
	wrap := func(src source) source { return wrapped(src, s, spec.Calendars, zone) }
	if s.Trigger == nil {
		src, err := builtinSource(spec, zone)
		if err != nil {
			return nil, err
		}
		return builtin{src: wrap(src)}, nil
	}
	if spec.Plugins == nil {
		return nil, fault("trigger", "no plugins are at hand to ask for "+s.Trigger.Name, "")
	}
	var seen []*calendar.Calendar
	for _, name := range s.Calendars {
		seen = append(seen, spec.Calendars[name])
	}
	t := fromPlugin{plugin: spec.Plugins.Trigger(*s.Trigger, zone, Seed(spec.Task), seen), wrap: wrap}
	if s.Calendar != "" {
		t.batch = filteredBatch
	}
	return t, nil
}

// wrapped narrows src by the calendar and, outside of it, by the window: the
// window bounds due times as they are after they were moved.
func wrapped(src source, s ax.Schedule, calendars map[string]*calendar.Calendar, zone *time.Location) source {
	if s.Calendar != "" {
		src = withCalendar(src, calendars[s.Calendar], zone, s.OnClosed)
	}
	if !s.From.IsZero() || !s.Until.IsZero() {
		src = window{src: src, from: s.From, end: s.Until}
	}
	return src
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
