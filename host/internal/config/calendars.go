package config

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/holidays"
	"github.com/axsched/ax/pluginapi/calendar"
)

// calendarDraft is a calendar while its keys are read and until those that it
// extends are built.
type calendarDraft struct {
	d       *decoder
	key     *yaml.Node // its name
	spec    calendar.Spec
	extends []string
	given   stated
	// building and done guard against calendars that extend themselves.
	building, done bool
}

// fields are the keys of a calendar.
func (c *calendarDraft) fields() []field {
	var weekly string
	var at *yaml.Node
	week := listOf(noting(text(&weekly), &at), func() { c.spec.Weekly = []time.Weekday{} },
		func() { c.takeWeekdays(at, weekly) })
	return []field{
		{"weekly", orOne(week)},
		{"source", c.sourceRule()},
		{"files", holidayFiles(func(f holidayFile) { c.d.readHolidays(&c.spec, f) })},
		{"open", dayRules(&c.spec.Open)},
		{"closed", dayRules(&c.spec.Closed)},
		{"extends", words(&c.extends)},
	}
}

// takeWeekdays adds what parseWeekdays reads to the pattern.
func (c *calendarDraft) takeWeekdays(n *yaml.Node, list string) {
	days, err := parseWeekdays(list)
	if err != nil {
		c.d.fault(n, "weekly: %v", err)
	}
	c.spec.Weekly = append(c.spec.Weekly, days...)
}

// parseWeekdays reads MON, MON-FRI, or several of them with commas.
func parseWeekdays(list string) ([]time.Weekday, error) {
	var days []time.Weekday
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := calendar.ParseWeekday(first)
		to := from
		if err == nil && isRange {
			to, err = calendar.ParseWeekday(last)
		}
		if err != nil {
			return days, err
		}
		for day := from; ; day = (day + 1) % 7 {
			days = append(days, day)
			if day == to {
				break
			}
		}
	}
	return days, nil
}

// readCalendar takes in one calendar of a file.
func (d *decoder) readCalendar(key, n *yaml.Node) {
	if before, ok := d.calendarDrafts[key.Value]; ok {
		d.fault(key, "there is another calendar %q in %s: rename one of them", key.Value, before.d.at(before.key))
		return
	}
	c := &calendarDraft{d: d, key: key, spec: calendar.Spec{Name: key.Value}}
	d.calendarDrafts[key.Value] = c
	d.calendars[key.Value] = nil
	r := section("a calendar", c.fields()...)
	r.take = func(d *decoder, _ string, n *yaml.Node) { c.given = d.object("a calendar", n, r.fields) }
	d.take(&r, key.Value, n)
}

// buildCalendars makes the calendars, those that others extend first.
func (l *loader) buildCalendars() {
	for _, name := range sortedKeys(l.calendarDrafts) {
		l.build(l.calendarDrafts[name])
	}
}

func (l *loader) build(c *calendarDraft) *calendar.Calendar {
	name := c.spec.Name
	if c.done {
		return l.calendars[name]
	}
	if c.building {
		c.d.fault(c.key, "calendar %q extends itself", name)
		return nil
	}
	c.building = true
	defer func() { c.done = true }()
	for _, parent := range c.extends {
		draft, ok := l.calendarDrafts[parent]
		if !ok {
			others := slices.DeleteFunc(sortedKeys(l.calendarDrafts), func(n string) bool { return n == name })
			c.d.unknownName("extends", findText(c.given["extends"], parent), "calendar", parent, others)
			continue
		}
		if built := l.build(draft); built != nil {
			c.spec.Extends = append(c.spec.Extends, built)
			files := l.config.calendarFiles
			files[name] = append(files[name], files[parent]...)
		}
	}
	built, err := calendar.New(c.spec)
	if err != nil {
		c.d.fault(c.key, "%v", err)
		return nil
	}
	l.calendars[name] = built
	return built
}

// sourceRule is the name of a calendar that is built in. It comes below all
// others, so that those which are extended too can change its days.
func (c *calendarDraft) sourceRule() rule {
	r := rule{kind: kindString, enum: holidays.Sources()}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		built, err := d.builtIn(n.Value)
		if err != nil {
			d.fault(n, "%s: there is no source %s%s", key, d.show(n), d.suggestSource(n, err))
			return
		}
		c.spec.Extends = append(c.spec.Extends, built)
	}
	return r
}

// builtIn returns the calendar of a source. Those with the same source share
// it, so that one which extends two of them has it once.
func (l *loader) builtIn(name string) (*calendar.Calendar, error) {
	if built := l.sources[name]; built != nil {
		return built, nil
	}
	built, err := holidays.Source(name)
	if err == nil {
		l.sources[name] = built
	}
	return built, err
}

func (d *decoder) suggestSource(n *yaml.Node, err error) string {
	unknown, ok := errors.AsType[*holidays.UnknownSourceError](err)
	switch {
	case !ok:
		return ": " + err.Error()
	case filled(n):
		return ""
	case unknown.Meant != "":
		return ", did you mean " + strconv.Quote(unknown.Meant) + "?"
	}
	return insteadOf(unknown.Name, holidays.Sources())
}

// calendarUse is what the enabled tasks with a calendar have.
type calendarUse struct {
	notifiers []string // without repetitions
	zone      string   // of the first of them
}

// noteCalendars gathers how calendars are used: it is asked for as long as the
// configuration is in force, and the tasks may be gone by then.
func (c *Config) noteCalendars() {
	c.calendarUses = map[string]*calendarUse{}
	for i := range c.Tasks {
		t := &c.Tasks[i]
		if !t.Enabled {
			continue
		}
		for _, name := range t.Schedule.CalendarNames() {
			use := c.calendarUses[name]
			if use == nil {
				use = &calendarUse{zone: t.Schedule.Timezone}
				c.calendarUses[name] = use
			}
			use.notifiers = append(use.notifiers, t.Notify.To...)
			slices.Sort(use.notifiers)
			use.notifiers = slices.Compact(use.notifiers)
		}
	}
}

// UsersOf returns whom the enabled tasks with a calendar notify, and the zone of
// the first of them.
func (c *Config) UsersOf(calendar string) (notifiers []string, zone string) {
	if use := c.calendarUses[calendar]; use != nil {
		notifiers, zone = slices.Clone(use.notifiers), use.zone
	}
	if c.made != nil {
		more, otherwise := c.made.UsersOf(calendar)
		notifiers, zone = append(notifiers, more...), cmp.Or(zone, otherwise)
	}
	slices.Sort(notifiers)
	return slices.Compact(notifiers), zone
}

// Gaps returns, by the names of the calendars that enabled tasks use, the next
// gap in what each knows, if it begins soon or has begun.
func (c *Config) Gaps(today calendar.Date) []holidays.Gap {
	uses := c.calendarUses
	if c.made != nil {
		uses = maps.Clone(uses)
		maps.Copy(uses, c.made.calendarUses)
	}
	var gaps []holidays.Gap
	for _, name := range sortedKeys(uses) {
		if c.Calendars[name] == nil { // a task that is defined elsewhere may name one that is gone
			continue
		}
		if gap, found := holidays.NextGap(c.Calendars[name], today); found {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// warnGaps tells of calendars in use whose lists of holidays end soon.
func (l *loader) warnGaps() {
	if l.options.Now.IsZero() {
		return
	}
	for _, gap := range l.config.Gaps(calendar.DateOf(l.options.Now)) {
		c := l.calendarDrafts[gap.Calendar]
		l.warn(c.d.at(c.key), "%s", gap)
	}
}
