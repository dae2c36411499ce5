package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

const (
	// minEvery is the shortest interval: each due time is a row.
	minEvery   = 100 * time.Millisecond
	maxRepeats = 1_000_000_000
)

// ScheduleFault is what Options.CheckSchedule finds.
type ScheduleFault struct {
	// Key is the key of the schedule that is to blame, "" for the whole.
	Key string
	// Part is the offending part of the key's value, if it is known.
	Part    string
	Message string
}

// scheduleDraft is a schedule while its keys are read. Times wait for the zone.
type scheduleDraft struct {
	ax.Schedule
	trigger                 component
	at, anchor, from, until *yaml.Node
	repeats                 int
}

func (s *scheduleDraft) fields() []field {
	return []field{
		{"cron", rule{kind: kindCron, take: text(&s.Cron).take}},
		{"every", duration(&s.Every, minEvery)},
		{"delay", duration(&s.Delay, minEvery)},
		{"anchor", later(rule{kind: kindInstant}, &s.anchor)},
		{"repeat_count", integer(&s.repeats, 0, maxRepeats)},
		{"at", later(rule{kind: kindInstant}, &s.at)},
		{"trigger", s.trigger.rule(field{"calendars", words(&s.Calendars)})},
		{"timezone", zone(&s.Timezone)},
		{"from", later(rule{kind: kindInstant}, &s.from)},
		{"until", later(rule{kind: kindInstant}, &s.until)},
		{"calendar", rule{kind: kindName, take: text(&s.Calendar).take}},
		{"on_closed", choice(&s.OnClosed, ax.ClosedSkip, ax.ClosedPrevious, ax.ClosedNext)},
	}
}

// scheduleKinds are the keys of which a schedule has exactly one.
func scheduleKinds() []string { return []string{"cron", "every", "delay", "at", "trigger"} }

// finish checks how the keys go together and completes the schedule. given
// are the keys of the object node, which is called what.
func (d *decoder) finish(s *scheduleDraft, what string, node *yaml.Node, given stated) {
	kinds := slices.DeleteFunc(scheduleKinds(), func(key string) bool { return !given.has(key) })
	switch {
	case len(kinds) == 0:
		d.fault(node, "%s does not say when it is due: expected one of cron, every, delay, at or trigger", what)
	case len(kinds) > 1:
		d.fault(given[kinds[1]], "%s has %s: expected only one of cron, every, delay, at or trigger", what, strings.Join(kinds, " and "))
	}
	for _, key := range []string{"anchor", "repeat_count"} {
		if given.has(key) && len(kinds) > 0 && !given.has("every") {
			d.fault(given[key], "%s belongs to every: and has no meaning with %s", key, kinds[0])
		}
	}
	if n := given["cron"]; n != nil && n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.TrimSpace(n.Value) == "" {
		d.fault(n, `cron: expected a schedule such as "0 0 10 ? * MON-FRI", got nothing`)
	}
	d.warnWeekdays(given["cron"])
	if given.has("repeat_count") {
		s.RepeatCount = new(s.repeats)
	}
	if s.trigger.node != nil {
		s.Trigger = new(s.trigger.Use)
	}
	d.instants(s, given)
	d.checkCalendars(s, given)
}

// instants reads the times of a schedule, which are local to its zone.
func (d *decoder) instants(s *scheduleDraft, given stated) {
	loc := d.zone(s.Timezone)
	if loc == nil {
		return // reported already
	}
	r := rule{kind: kindInstant}
	for _, t := range []struct {
		key  string
		node *yaml.Node
		to   *time.Time
	}{{"anchor", s.anchor, &s.Anchor}, {"at", s.at, &s.At}, {"from", s.from, &s.From}, {"until", s.until, &s.Until}} {
		if t.node == nil {
			continue
		}
		value, err := ParseInstant(t.node.Value, loc)
		switch {
		case t.node.Tag != "!!str" && t.node.Tag != "!!timestamp", err != nil && filled(t.node):
			d.mismatch(&r, t.key, t.node)
		case err != nil:
			d.fault(t.node, "%s: %v", t.key, err)
		default:
			*t.to = value
		}
	}
	if !s.From.IsZero() && !s.Until.IsZero() && !s.From.Before(s.Until) {
		d.fault(s.until, "until: %s is not after from, so nothing lies between", d.show(s.until))
	}
	d.warnPast("at", s.at, s.At, "the task will not run")
	d.warnPast("until", s.until, s.Until, "the task will not run any more")
}

func (d *decoder) warnPast(key string, n *yaml.Node, t time.Time, consequence string) {
	if !t.IsZero() && t.Before(d.options.Now) {
		d.warn(d.at(n), "%s: %s is in the past, %s", key, d.show(n), consequence)
	}
}

// unixWeekdays are days of the week in numbers which mean something else with a
// field for seconds than without, where people know them from.
var unixWeekdays = map[string]struct{ is, meant string }{
	"1-5":       {"Sunday to Thursday", "MON-FRI"},
	"1,2,3,4,5": {"Sunday to Thursday", "MON-FRI"},
	"6,7":       {"Friday and Saturday", "SAT,SUN"},
	"6-7":       {"Friday and Saturday", "SAT,SUN"},
}

// warnWeekdays tells of numbers of weekdays that count from Sunday, as in
// Quartz, and probably are meant to count from Monday, as in the cron of Unix.
func (d *decoder) warnWeekdays(n *yaml.Node) {
	if n == nil {
		return
	}
	const weekday = 5 // after second, minute, hour, day and month
	fields := strings.Fields(n.Value)
	if len(fields) <= weekday {
		return
	}
	if day, ok := unixWeekdays[fields[weekday]]; ok {
		d.warn(d.atPart(n, fields[weekday]), "cron: with %d fields the weekdays %s are %s (1 is Sunday): write %s if that is meant, or else names as well",
			len(fields), fields[weekday], day.is, day.meant)
	}
}

func (d *decoder) checkCalendars(s *scheduleDraft, given stated) {
	if given.has("on_closed") && !given.has("calendar") {
		d.fault(given["on_closed"], "on_closed has no meaning without calendar:")
	}
	if n := given["calendar"]; s.Calendar != "" {
		d.checkCalendar("calendar", n, s.Calendar)
		s.OnClosed = cmp.Or(s.OnClosed, ax.ClosedSkip)
	}
	if given.has("on_blackout") && len(s.Blackouts) == 0 {
		d.fault(given["on_blackout"], "on_blackout has no meaning without blackout:")
	}
	if s.OnBlackout = cmp.Or(s.OnBlackout, ax.BlackoutSkip); len(s.Blackouts) == 0 {
		s.OnBlackout = ""
	}
	for _, name := range s.Calendars {
		d.checkCalendar("calendars", findText(given["trigger"], name), name)
	}
}

func (d *decoder) checkCalendar(key string, n *yaml.Node, name string) {
	if _, ok := d.calendars[name]; !ok {
		d.unknownName(key, n, "calendar", name, sortedKeys(d.calendars))
	}
}

// checkSchedule asks the host whether a schedule that is well formed can be
// computed and has due times. One with calendars is not, if these may be faulty.
func (d *decoder) checkSchedule(s *scheduleDraft, task string, node *yaml.Node, given stated) {
	hasCalendars := len(s.CalendarNames()) > 0
	if d.options.CheckSchedule == nil || hasCalendars && d.doubtful {
		return
	}
	for _, f := range d.options.CheckSchedule(s.Schedule, d.calendars, task) {
		n := given[f.Key]
		if n == nil {
			n = node
		}
		pos := d.atPart(n, f.Part)
		message := f.Message
		if f.Key != "" {
			message = f.Key + ": " + message
		}
		d.faultAt(pos, "%s", message)
	}
}

// atPart returns the position of a part of a value.
func (d *decoder) atPart(n *yaml.Node, part string) Position {
	pos := d.at(n)
	if n.Kind == yaml.ScalarNode {
		pos.Column += columnOf(n, part)
	}
	return pos
}

// columnOf returns how many characters behind the start of a value that is
// written in one line a part of it begins.
func columnOf(n *yaml.Node, part string) int {
	i := strings.Index(n.Value, part)
	if part == "" || i < 0 || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 0
	}
	quote := 0
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		quote = 1
	}
	return quote + utf8.RuneCountInString(n.Value[:i])
}

// Version returns a hash of all that decides the due times of a schedule: its
// own fields and the days of the calendars that it names.
func Version(s ax.Schedule, calendars map[string]*calendar.Calendar) string {
	s.Version = ""
	encoded, err := json.Marshal(s)
	if err != nil {
		// Only settings that are no JSON get here; their text decides as well.
		encoded = fmt.Appendf(nil, "%+v %+v", s, s.Trigger)
	}
	for _, name := range s.CalendarNames() {
		if c := calendars[name]; c != nil {
			encoded = append(encoded, strconv.Quote(name)+c.Hash()...)
		}
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}
