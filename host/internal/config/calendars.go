package config

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

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
	file := noting(text(new(string)), &at)
	return []field{
		{"weekly", orOne(week)},
		{"files", orOne(listOf(file, func() {}, func() { c.d.readHolidays(&c.spec, at) }))},
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
		}
	}
	built, err := calendar.New(c.spec)
	if err != nil {
		c.d.fault(c.key, "%v", err)
		return nil
	}
	l.calendars[name] = built
	l.warnCoverage(c, built)
	return built
}

// coverageNotice is how long before the last known year ends it is told.
const coverageNotice = 30 * 24 * time.Hour

// warnCoverage tells of a calendar whose lists of holidays end soon.
func (l *loader) warnCoverage(c *calendarDraft, built *calendar.Calendar) {
	first, last, bounded := built.Coverage()
	if soon := l.options.Now.Add(coverageNotice); bounded && soon.Year() > last {
		l.warn(c.d.at(c.key), "calendar %q has lists of holidays for %d to %d only: add the list for %d", c.spec.Name, first, last, last+1)
	}
}
