package config

import (
	"cmp"
	"errors"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// ScheduleReader reads single schedules, for commands and the API, in the
// words that tasks have in the configuration.
type ScheduleReader struct {
	Calendars map[string]*calendar.Calendar
	// Timezone is that of schedules which state none; empty stands for UTC.
	Timezone string
	// Ignore are keys that belong to somebody else.
	Ignore []string
}

// Read reads an object, as YAML or JSON, with exactly one of the keys cron,
// every, at and trigger, and others that go with it. The error says all that
// is wrong in one line. References such as
// ${env:NAME} are not filled in: the text may come from anybody.
func (r ScheduleReader) Read(text []byte) (ax.Schedule, error) {
	root, bad := parse(text)
	if bad != nil {
		return ax.Schedule{}, errors.New(bad.problem)
	}
	if root == nil || root.Kind != yaml.MappingNode {
		return ax.Schedule{}, errors.New("expected keys such as cron:")
	}
	d := decoder{newLoader(Options{}), &source{}}
	d.literal = true
	d.calendars = r.Calendars
	var draft scheduleDraft
	draft.Timezone = cmp.Or(r.Timezone, "UTC")
	fields := draft.fields()
	for _, key := range r.Ignore {
		fields = append(fields, field{key, rule{kind: kindString, take: func(*decoder, string, *yaml.Node) {}}})
	}
	d.scan(root, 0)
	given := d.object("the schedule", root, fields)
	d.finish(&draft, "the schedule", root, given)
	if len(d.faults) > 0 {
		messages := make([]string, len(d.faults))
		for i, f := range d.faults {
			messages[i] = f.Message
		}
		return ax.Schedule{}, errors.New(strings.Join(messages, "; "))
	}
	draft.Version = Version(draft.Schedule, r.Calendars)
	return draft.Schedule, nil
}
