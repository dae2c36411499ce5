package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// days parses the two day fields and decides how they go together.
func (p *parser) days(dates, weekdays string, d *dayRules) error {
	for item := range strings.SplitSeq(dates, ",") {
		if err := p.dateItem(dates, item, d); err != nil {
			return err
		}
	}
	for item := range strings.SplitSeq(weekdays, ",") {
		if err := p.weekdayItem(weekdays, item, d); err != nil {
			return err
		}
	}
	d.either = p.classic && !isOpen(dates) && !isOpen(weekdays)
	return p.checkDayFields(dates, weekdays)
}

// isOpen reports whether a day field leaves the choice to the other one: by
// Vixie's rule everything that starts with a star does.
func isOpen(dayField string) bool {
	return dayField[0] == '*' || dayField == "?"
}

// dateItem parses an item of the day of month: L, L-n, LW, L-nW, nW or an
// ordinary one.
func (p *parser) dateItem(whole, item string, d *dayRules) error {
	if whole == "?" {
		d.dates = allDates
		return nil
	}
	if item == "L" {
		d.beforeEnd |= 1
		return nil
	}
	base, nearest := strings.CutSuffix(item, "W")
	back, fromEnd := strings.CutPrefix(base, "L")
	switch {
	case fromEnd:
		n, err := p.beforeEnd(item, back)
		if err != nil {
			return err
		}
		if nearest {
			d.nearestEnd |= 1 << n
		} else {
			d.beforeEnd |= 1 << n
		}
		return nil
	case nearest:
		if strings.Trim(base, "0123456789") != "" || base == "" {
			return p.fail(dayOfMonth, item, "W needs one day before it", "write 15W for the weekday nearest to the 15th, LW for the last weekday")
		}
		n, err := p.value(dayOfMonth, item, base)
		if err != nil {
			return err
		}
		d.nearest |= 1 << n
		return nil
	}
	return p.item(dayOfMonth, item, func(v int) { d.dates |= 1 << v })
}

// beforeEnd parses what follows L in the day of month: nothing or -n.
func (p *parser) beforeEnd(item, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(text, "-")
	n, err := strconv.ParseUint(digits, 10, 8)
	switch {
	case !ok || err != nil:
		return 0, p.fail(dayOfMonth, item, "is not understood", "write L for the last day, L-3 for three days before it, LW for the last weekday")
	case n > 30:
		return 0, p.fail(dayOfMonth, item, "no month is that long", "write L-1 to L-30")
	}
	return int(n), nil
}

// weekdayItem parses an item of the day of week: wL, w#n, L or an ordinary
// one.
func (p *parser) weekdayItem(whole, item string, d *dayRules) error {
	if whole == "?" {
		d.weekdays = allWeekdays
		return nil
	}
	if item == "L" {
		if p.classic {
			return p.fail(dayOfWeek, item, "L needs a weekday before it", "write 5L or FRIL for the last Friday of the month, SAT for Saturday")
		}
		d.weekdays |= 1 << 6
		return nil
	}
	if day, nth, ok := strings.Cut(item, "#"); ok {
		w, err := p.weekday(item, day)
		if err != nil {
			return err
		}
		if len(nth) != 1 || nth < "1" || nth > "5" {
			return p.fail(dayOfWeek, item, "after # goes a number from 1 to 5", fmt.Sprintf("write %s#1 for the first of the month, %sL for the last", day, day))
		}
		d.nth[nth[0]-'1'] |= 1 << w
		return nil
	}
	if day, ok := strings.CutSuffix(item, "L"); ok {
		w, err := p.weekday(item, day)
		if err != nil {
			return err
		}
		d.last |= 1 << w
		return nil
	}
	s := specOf(dayOfWeek, p.classic)
	return p.item(dayOfWeek, item, func(v int) { d.weekdays |= 1 << (v - s.lo) })
}

// weekday parses a single weekday; Sunday is 0.
func (p *parser) weekday(item, text string) (int, error) {
	v, err := p.value(dayOfWeek, item, text)
	return (v - specOf(dayOfWeek, p.classic).lo) % 7, err
}
