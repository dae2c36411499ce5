package holidays

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/emersion/go-ical"

	"github.com/axsched/ax/pluginapi/calendar"
)

// propExceptionRule was dropped from the standard in 2009.
const propExceptionRule = "EXRULE"

// maxNameBytes is what package calendar takes.
const maxNameBytes = 512

// event is what a VEVENT says.
type event struct {
	line      int
	uid       string
	summary   string
	special   string // see propSpecialDay
	cancelled bool
	begin     stamp
	// more is how many days the event has after its first.
	more int
	// replaces is the day of the recurring event with the same uid that this
	// one stands for; zero if there is none.
	replaces calendar.Date
	rule     *ical.Prop
	props    ical.Props
}

func newEvent(c ical.Event) (*event, error) {
	ev := &event{line: lineOf(c.Props.Get(propBegin)), props: c.Props}
	begin := c.Props.Get(ical.PropDateTimeStart)
	if begin == nil {
		return nil, fmt.Errorf("line %d: the event has no DTSTART", ev.line)
	}
	var err error
	if ev.begin, err = parseStamp(begin.Value); err != nil {
		return nil, propError(begin, err)
	}
	if err := ev.takeEnd(); err != nil {
		return nil, err
	}
	ev.uid = rawText(c.Props.Get(ical.PropUID))
	ev.summary = cut(strings.TrimSpace(rawText(c.Props.Get(ical.PropSummary))), maxNameBytes)
	ev.special = strings.ToUpper(rawText(c.Props.Get(propSpecialDay)))
	ev.cancelled = strings.EqualFold(rawText(c.Props.Get(ical.PropStatus)), string(ical.EventCancelled))
	return ev, ev.takeRecurrence()
}

// takeRecurrence finds the properties that say when the event comes again.
func (ev *event) takeRecurrence() error {
	rules := ev.props.Values(ical.PropRecurrenceRule)
	if len(rules) > 1 {
		return propError(&rules[1], errors.New("an event can have one rule only"))
	}
	if len(rules) == 1 {
		ev.rule = &rules[0]
	}
	if p := ev.props.Get(propExceptionRule); p != nil {
		return propError(p, errors.New("this is not supported any more: write EXDATE"))
	}
	p := ev.props.Get(ical.PropRecurrenceID)
	if p == nil || ev.uid == "" {
		return nil
	}
	if p.Params.Get("RANGE") != "" {
		return propError(p, errors.New("RANGE is not supported: end the event with UNTIL and add another one"))
	}
	day, err := parseStamp(p.Value)
	if err != nil {
		return propError(p, err)
	}
	ev.replaces = day.day
	return nil
}

// takeEnd finds how many days the event has.
func (ev *event) takeEnd() error {
	if p := ev.props.Get(ical.PropDateTimeEnd); p != nil {
		end, err := parseStamp(p.Value)
		if err != nil {
			return propError(p, err)
		}
		ev.more = ev.begin.day.DaysUntil(end.day)
		if ev.more < 0 {
			return propError(p, fmt.Errorf("the event ends on %s, before it begins", end.day))
		}
		if end.clock == 0 && ev.more > 0 { // the end is not part of the event
			ev.more--
		}
		return checkSpan(p, ev.more)
	}
	p := ev.props.Get(ical.PropDuration)
	if p == nil {
		return nil
	}
	if !durationForm.MatchString(p.Value) {
		return propError(p, fmt.Errorf("expected a duration such as P3D, got %q", p.Value))
	}
	lasts, err := p.Duration()
	if err != nil {
		return propError(p, err)
	}
	const day = 24 * time.Hour
	// One nanosecond before the end is the last that belongs to the event.
	ev.more = int(max(ev.begin.clock+lasts-1, 0) / day)
	return checkSpan(p, ev.more)
}

// durationForm keeps out what the library accepts and what overflows.
var durationForm = regexp.MustCompile(`^\+?P([0-9]{1,3}W)?([0-9]{1,4}D)?(T([0-9]{1,6}H)?([0-9]{1,7}M)?([0-9]{1,8}S)?)?$`)

func checkSpan(p *ical.Prop, days int) error {
	if days >= maxSpan {
		return propError(p, fmt.Errorf("an event of more than %d days: write it as closed: in the configuration", maxSpan))
	}
	return nil
}

// zone returns the zone that the event's times are in, if it is stated.
func (ev *event) zone() string {
	return ev.props.Get(ical.PropDateTimeStart).Params.Get(ical.ParamTimezoneID)
}

func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil
}

// stamp is a date or a date with a time, as it is written.
type stamp struct {
	day   calendar.Date
	clock time.Duration // since midnight
	timed bool
	utc   bool
}

func parseStamp(text string) (stamp, error) {
	date, clock, timed := strings.Cut(text, "T")
	clock, utc := strings.CutSuffix(clock, "Z")
	day, err := time.Parse("20060102", date)
	s := stamp{day: calendar.DateOf(day), timed: timed, utc: utc}
	if err == nil && timed {
		var at time.Time
		at, err = time.Parse("150405", clock)
		s.clock = time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second
	}
	if err != nil || day.Year() < 1 || len(date) != 8 {
		return stamp{}, fmt.Errorf("expected a date such as 20261231, got %q", text)
	}
	return s, nil
}

// rawText returns a text without its escapes, also if it is not quite right.
func rawText(p *ical.Prop) string {
	if p == nil {
		return ""
	}
	parts, err := p.TextList()
	if err != nil {
		return p.Value
	}
	return strings.Join(parts, ",")
}

// cut returns s, or its beginning if it has more than limit bytes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
