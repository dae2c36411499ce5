package config

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/pluginapi/calendar"
)

// maxHolidayBytes is what package calendar reads of a file.
const maxHolidayBytes = 1 << 20

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

// calendarFields are the keys of a calendar.
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

// takeWeekdays reads MON, MON-FRI, or several of them with commas.
func (c *calendarDraft) takeWeekdays(n *yaml.Node, list string) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := calendar.ParseWeekday(first)
		to := from
		if err == nil && isRange {
			to, err = calendar.ParseWeekday(last)
		}
		if err != nil {
			c.d.fault(n, "weekly: %v", err)
			return
		}
		for day := from; ; day = (day + 1) % 7 {
			c.spec.Weekly = append(c.spec.Weekly, day)
			if day == to {
				break
			}
		}
	}
}

// dayRules is a list of days, each with a name if wanted.
func dayRules(to *[]calendar.Rule) rule {
	var days, label string
	daysRule := text(&days)
	fields := []field{{"days", daysRule}, {"name", text(&label)}}
	var at *yaml.Node
	elem := rule{kind: kindObject, fields: fields, needs: []string{"days"}, take: func(d *decoder, key string, n *yaml.Node) {
		days, label = "", ""
		at = d.object("a day of "+key, n, fields, "days")["days"]
	}}
	elem.short = &rule{kind: kindString, take: func(d *decoder, key string, n *yaml.Node) {
		label, at = "", n
		daysRule.take(d, key, n)
	}}
	r := rule{kind: kindArray, elem: &elem}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		for _, item := range n.Content {
			before := len(d.faults)
			d.take(&elem, key, item)
			if len(d.faults) > before || item.Kind == 0 || isNull(item) {
				continue
			}
			parsed, err := parseDays(days)
			if err != nil {
				d.fault(at, "%s: %v", key, err)
				continue
			}
			parsed.Name = label
			*to = append(*to, parsed)
		}
	}
	return r
}

// parseDays reads what calendar.ParseRule reads, with words in front of rules
// that repeat: "yearly 12-25", "monthly 15", "monthly last".
func parseDays(text string) (calendar.Rule, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch rest = strings.TrimSpace(rest); {
	case word == "yearly":
		return calendar.ParseRule(rest)
	case word == "monthly" && rest == "last":
		return calendar.EveryMonth(-1), nil
	case word == "monthly":
		return calendar.ParseRule("day " + rest)
	}
	parsed, err := calendar.ParseRule(text)
	if err != nil && len(rest) == 0 && !strings.Contains(text, "-") {
		return parsed, errors.New("expected days such as 2026-12-25, 2026-12-25..2027-01-06, yearly 12-25, monthly 15 or monthly last, got " + strconv.Quote(text))
	}
	return parsed, err
}

// readHolidays reads a file of holidays and make-up workdays. The name as
// written is the source of the rules: it must not depend on where the host
// was started.
func (d *decoder) readHolidays(spec *calendar.Spec, n *yaml.Node) {
	path := beside(d.path, n.Value)
	var parse func(io.Reader, string) (closed, open []calendar.Rule, err error)
	switch extension := strings.ToLower(filepath.Ext(path)); extension {
	case ".csv":
		parse = calendar.ParseCSV
	case ".json":
		parse = calendar.ParseJSON
	default:
		d.fault(n, "files: expected a .csv or .json file, got %s", d.show(n))
		return
	}
	data, err := d.readFile(path, maxHolidayBytes)
	if err != nil {
		d.fault(n, "files: %v", err)
		return
	}
	closed, open, err := parse(bytes.NewReader(data), n.Value)
	if err != nil {
		d.faultAt(placeIn(path, err), "%v", err)
		return
	}
	spec.Closed = append(spec.Closed, closed...)
	spec.Open = append(spec.Open, open...)
}

var lineInError = regexp.MustCompile(`\bline (\d+)\b`)

// placeIn returns the place that an error about a file names.
func placeIn(path string, err error) Position {
	pos := Position{File: path, Line: 1, Column: 1}
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil {
		pos.Line, _ = strconv.Atoi(m[1])
	}
	return pos
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
