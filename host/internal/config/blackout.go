package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// blackouts is a list of times in which a task is not due: each "22:00-06:00",
// or an object that also says on which days.
func blackouts(to *[]ax.Blackout) rule {
	var clock, name string
	var days []string
	var at *yaml.Node
	weekday := text(new(string))
	weekdays := orOne(rule{kind: kindArray, elem: &weekday, take: func(d *decoder, key string, n *yaml.Node) {
		listOfText(&days).take(d, key, n)
	}})
	timeRule := text(&clock)
	fields := []field{{"time", timeRule}, {"weekdays", weekdays}, {"calendar", rule{kind: kindName, take: text(&name).take}}}
	var given stated
	elem := rule{kind: kindObject, fields: fields, take: func(d *decoder, _ string, n *yaml.Node) {
		clock, name, days, at = "", "", nil, n
		given = d.object("a blackout", n, fields)
	}}
	elem.short = &rule{kind: kindString, take: func(d *decoder, key string, n *yaml.Node) {
		clock, name, days, at = "", "", nil, n
		timeRule.take(d, key, n)
		given = stated{"time": n}
	}}
	r := rule{kind: kindArray, elem: &elem}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		*to = nil
		for _, item := range n.Content {
			before := len(d.faults)
			d.take(&elem, key, item)
			if len(d.faults) > before || item.Kind == 0 || isNull(item) {
				continue
			}
			b, err := ParseBlackout(clock, days)
			switch {
			case len(given) == 0:
				d.fault(at, "a blackout needs one of the keys time, weekdays and calendar")
				continue
			case err != nil:
				d.fault(at, "%s: %v", key, err)
				continue
			}
			if b.Calendar = name; name != "" {
				d.checkCalendar("calendar", given["calendar"], name)
			}
			*to = append(*to, b)
		}
	}
	return r
}

// ParseBlackout reads the time of day and the weekdays of a blackout as the
// configuration has them, each of which may be missing.
func ParseBlackout(clock string, days []string) (ax.Blackout, error) {
	b := ax.Blackout{To: 24 * time.Hour}
	if clock != "" {
		from, to, isRange := strings.Cut(clock, "-")
		var errFrom, errTo error
		b.From, errFrom = parseClock(from)
		b.To, errTo = parseClock(to)
		if !isRange || errFrom != nil || errTo != nil || b.From == 24*time.Hour {
			return b, fmt.Errorf("expected times of day such as 22:00-06:00, got %q", clock)
		}
		if b.From == b.To {
			return b, fmt.Errorf("%q begins when it ends: for the whole day write 00:00-24:00", clock)
		}
	}
	for _, list := range days {
		more, err := parseWeekdays(list)
		if err != nil {
			return b, err
		}
		b.Weekdays = append(b.Weekdays, more...)
	}
	slices.Sort(b.Weekdays)
	b.Weekdays = slices.Compact(b.Weekdays)
	return b, nil
}

// parseClock reads a time of day, or 24:00.
func parseClock(text string) (time.Duration, error) {
	if text = strings.TrimSpace(text); text == "24:00" {
		return 24 * time.Hour, nil
	}
	t, err := calendar.ParseTimeOfDay(text)
	return time.Duration(t.Seconds()) * time.Second, err
}
