package holidays

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/emersion/go-ical"

	"github.com/axsched/ax/pluginapi/calendar"
)

// Limits on iCalendar files, against those that are made to cost much. Real
// ones have some hundreds of events.
const (
	maxBytes     = 1 << 20
	maxEvents    = 10_000
	maxRecurring = 300
	maxRules     = 50_000
	// maxSpan bounds one event, in days.
	maxSpan = 3_660
)

// Timed says what becomes of events with a time of day: appointments, mostly.
// Those that name a make-up workday open their days in any case.
type Timed string

// Events with a time of day are left out, with a notice if nobody has said so,
// or close every day that they touch.
const (
	TimedUnsaid Timed = ""
	TimedIgnore Timed = "ignore"
	TimedClose  Timed = "close"
)

// ICS says how the events of an iCalendar file are meant.
type ICS struct {
	// Source names the file in rules and errors.
	Source string
	// WorkPrefixes are beginnings of summaries: such an event is a make-up
	// workday, which opens its days; any other closes them. Nil stands for the
	// marks that China's published files have: 上班 or 补班 in front, 补班
	// anywhere, 班 in brackets.
	WorkPrefixes []string
	Timed        Timed
}

var workMarks = regexp.MustCompile(`^上班|补班|[（(]班[）)]`)

// Marks that calendars published by Apple have beside the summary. In a file
// that has them, events without are no days off.
const (
	propSpecialDay = "X-APPLE-SPECIAL-DAY"
	specialWork    = "ALTERNATE-WORKDAY"
)

// Parse reads an iCalendar file (RFC 5545) of at most 1 MiB. All-day events
// end before their DTEND; one that ends on the day on which it begins is that
// one day. Recurring events are followed from 1970 to 2199, exceptions, added
// and moved days included. Cancelled events and parts of files that are no
// events say nothing. Errors carry the line.
func (o ICS) Parse(data []byte) (List, error) {
	list, err := o.parse(data)
	if err != nil {
		return List{}, fmt.Errorf("reading holidays from %s: %w", o.Source, err)
	}
	return list, nil
}

func (o ICS) parse(data []byte) (List, error) {
	if len(data) > maxBytes {
		return List{}, fmt.Errorf("the file is larger than %d bytes", maxBytes)
	}
	lines, err := unfold(data)
	if err != nil {
		return List{}, err
	}
	components, err := decode(lines)
	if err != nil {
		return List{}, err
	}
	r := reader{ICS: o, moved: map[occurrence]bool{}, zones: map[string]bool{}}
	events := make([]*event, 0, len(components))
	for _, c := range components {
		ev, err := newEvent(c)
		if err != nil {
			return List{}, err
		}
		events = append(events, ev)
		r.marked = r.marked || ev.special != ""
		if ev.replaces != (calendar.Date{}) {
			r.moved[occurrence{ev.uid, ev.replaces}] = true
		}
	}
	for _, ev := range events {
		if err := r.take(ev); err != nil {
			return List{}, atLine(ev.line, err)
		}
	}
	return r.finish(), nil
}

// occurrence is one day of a recurring event.
type occurrence struct {
	uid string
	day calendar.Date
}

// reader turns the events of one file into rules.
type reader struct {
	ICS
	list List
	// moved holds occurrences that events of their own stand for.
	moved map[occurrence]bool
	// marked: the file marks its days off.
	marked bool

	recurring              int
	appointments, unmarked left
	zones                  map[string]bool // that a notice tells of
	toldOfUTC              bool
}

// left counts events that were left out.
type left struct{ count, line int }

func (l *left) add(ev *event) {
	if l.count++; l.count == 1 {
		l.line = ev.line
	}
}

// take adds the days of an event.
func (r *reader) take(ev *event) error {
	work := r.isWork(ev)
	switch {
	case ev.cancelled:
		return nil
	case r.marked && ev.special == "" && !work:
		r.unmarked.add(ev)
		return nil
	case ev.begin.timed && !work && r.Timed != TimedClose:
		r.appointments.add(ev)
		return nil
	}
	r.noticeZone(ev)
	if ev.rule != nil {
		if r.recurring++; r.recurring > maxRecurring {
			return fmt.Errorf("more than %d recurring events", maxRecurring)
		}
	}
	days, endless, err := ev.days()
	if err != nil {
		return err
	}
	replaces := ev.replaces != (calendar.Date{})
	for _, first := range days {
		if r.moved[occurrence{ev.uid, first}] && !replaces {
			continue
		}
		// What is moved is not listed for its year: its event may have no end.
		r.add(ev, first, work, !endless && !replaces)
		if len(r.list.Closed)+len(r.list.Open) > maxRules {
			return fmt.Errorf("the events up to here have more than %d days", maxRules)
		}
	}
	return nil
}

func (r *reader) isWork(ev *event) bool {
	switch {
	case ev.special == specialWork:
		return true
	case r.WorkPrefixes == nil:
		return workMarks.MatchString(ev.summary)
	}
	return slices.ContainsFunc(r.WorkPrefixes, func(prefix string) bool { return strings.HasPrefix(ev.summary, prefix) })
}

// add adds the days of one occurrence, year by year if they cover theirs.
func (r *reader) add(ev *event, first calendar.Date, work, covers bool) {
	to := &r.list.Closed
	if work {
		to = &r.list.Open
	}
	last := first.AddDays(ev.more)
	for !first.After(last) {
		end := last
		if newYear := (calendar.Date{Year: first.Year, Month: 12, Day: 31}); covers && end.After(newYear) {
			end = newYear
		}
		rule := calendar.Between(first, end)
		rule.Name, rule.Source = ev.summary, r.Source
		if covers && showsYear(first) {
			rule.Covers = first.Year
		}
		*to = append(*to, rule)
		first = end.AddDays(1)
	}
}

// showsYear reports whether a listed day shows that a list is about its year:
// the last three days of December are often the head of the next New Year's.
func showsYear(d calendar.Date) bool { return d.Month != 12 || d.Day < 29 }

// noticeZone tells of times whose date may be another one where people are.
func (r *reader) noticeZone(ev *event) {
	zone := ev.zone()
	switch {
	case !ev.begin.timed:
	case ev.begin.utc && !r.toldOfUTC:
		r.toldOfUTC = true
		r.notice(ev.line, "the times of this event are written in UTC: its dates are taken as they stand there")
	case zone != "" && !r.zones[zone] && !isZone(zone):
		r.zones[zone] = true
		r.notice(ev.line, "the zone %q is none of the IANA database, perhaps a name that Windows uses: dates are taken as they are written", zone)
	}
}

func (r *reader) notice(line int, format string, args ...any) {
	r.list.Notices = append(r.list.Notices, Notice{line, fmt.Sprintf(format, args...)})
}

// finish returns the list with notices of what was left out.
func (r *reader) finish() List {
	if n := r.appointments; n.count > 0 && r.Timed == TimedUnsaid {
		r.notice(n.line, "events with a time of day are left out (%d, this is the first): write timed: close if they close their days, timed: ignore if not", n.count)
	}
	if n := r.unmarked; n.count > 0 {
		r.notice(n.line, "events that are not marked as days off by %[2]s, as others of the file are, are left out (%[1]d, this is the first)", n.count, propSpecialDay)
	}
	slices.SortStableFunc(r.list.Notices, func(a, b Notice) int { return cmp.Compare(a.Line, b.Line) })
	return r.list
}

// atLine names the line in an error unless it names one already.
func atLine(line int, err error) error {
	if strings.HasPrefix(err.Error(), "line ") {
		return err
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// propError is an error about a property of an event.
func propError(p *ical.Prop, err error) error {
	return fmt.Errorf("line %d: %s: %w", lineOf(p), p.Name, err)
}
