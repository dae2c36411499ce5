package holidays

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"

	"github.com/axsched/ax/pluginapi/calendar"
)

// Recurring events are followed within these years.
const (
	firstYear = 1970
	lastYear  = 2199
)

// Limits on rules.
const (
	maxInterval = 10_000
	// maxParts bounds the numbers in all lists of a rule together.
	maxParts = 64
)

// shift is added to the years of a rule while it is followed: the library looks
// for matches up to the year 9999, and so searches less in vain. It is 19 times
// the 400 years after which weekdays and leap years come again.
const shift = 19 * 400

// days returns the first days of all occurrences in order. endless tells that
// they go on for ever.
func (ev *event) days() (days []calendar.Date, endless bool, err error) {
	days = []calendar.Date{ev.begin.day}
	if ev.rule != nil {
		if days, endless, err = follow(ev.rule, ev.begin.day); err != nil {
			return nil, false, propError(ev.rule, err)
		}
	}
	added, err := dates(ev.props.Values(ical.PropRecurrenceDates))
	if err != nil {
		return nil, false, err
	}
	exceptions, err := dates(ev.props.Values(ical.PropExceptionDates))
	if err != nil {
		return nil, false, err
	}
	except := make(map[calendar.Date]bool, len(exceptions))
	for _, d := range exceptions {
		except[d] = true
	}
	days = slices.DeleteFunc(append(days, added...), func(d calendar.Date) bool { return except[d] })
	slices.SortFunc(days, calendar.Date.Compare)
	return slices.Compact(days), endless, nil
}

// dates returns the dates in all of some properties.
func dates(props []ical.Prop) ([]calendar.Date, error) {
	var found []calendar.Date
	for i := range props {
		for text := range strings.SplitSeq(props[i].Value, ",") {
			begin, _, _ := strings.Cut(text, "/") // a period
			at, err := parseStamp(begin)
			if err != nil {
				return nil, propError(&props[i], err)
			}
			found = append(found, at.day)
		}
	}
	return found, nil
}

// follow returns the days of a rule, which begins on a certain one. That day is
// among them only if it fits the rule, about which the standard says nothing.
func follow(p *ical.Prop, begin calendar.Date) (days []calendar.Date, endless bool, err error) {
	o, err := option(p)
	if err != nil {
		return nil, false, err
	}
	endless = o.Count == 0 && o.Until.IsZero()
	end := calendar.Date{Year: lastYear, Month: 12, Day: 31}
	if until := calendar.DateOf(o.Until); !o.Until.IsZero() && until.Before(end) {
		end = until
	}
	if end.Before(begin) {
		return nil, endless, nil
	}
	o.Dtstart, o.Until = shifted(begin), shifted(end)
	defer func() {
		if p := recover(); p != nil { // the library, over numbers that no month or year has
			days, err = nil, errors.New("the rule cannot be followed")
		}
	}()
	rule, err := rrule.NewRRule(*o)
	if err != nil {
		return nil, false, err
	}
	next := rule.Iterator()
	for at, ok := next(); ok; at, ok = next() {
		day := calendar.Date{Year: at.Year() - shift, Month: at.Month(), Day: at.Day()}
		if day.Year < firstYear {
			continue
		}
		if days = append(days, day); len(days) > maxRules {
			return nil, false, fmt.Errorf("the rule has more than %d days: write weekly: in the configuration", maxRules)
		}
	}
	return days, endless, nil
}

func shifted(d calendar.Date) time.Time {
	return time.Date(d.Year+shift, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

// option reads a rule and refuses what would take long to follow.
func option(p *ical.Prop) (*rrule.ROption, error) {
	o, err := rrule.StrToROption(strings.ToUpper(strings.TrimSuffix(p.Value, ";")))
	if err != nil {
		return nil, err
	}
	// Times of day do not matter.
	o.Byhour, o.Byminute, o.Bysecond = nil, nil, nil
	parts := len(o.Bysetpos) + len(o.Bymonth) + len(o.Bymonthday) + len(o.Byyearday) + len(o.Byweekno) + len(o.Byweekday)
	switch {
	case o.Freq > rrule.DAILY:
		return nil, fmt.Errorf("expected a rule of whole days: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY, got %s", o.Freq)
	case len(o.Byeaster) > 0:
		return nil, errors.New("BYEASTER is not part of the standard")
	case o.Interval > maxInterval:
		return nil, fmt.Errorf("expected an INTERVAL of at most %d, got %d", maxInterval, o.Interval)
	case o.Count < 0:
		return nil, fmt.Errorf("expected a COUNT of at least 1, got %d", o.Count)
	case parts > maxParts:
		return nil, fmt.Errorf("more than %d numbers", maxParts)
	}
	return o, nil
}
