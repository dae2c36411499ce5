package cron

import (
	"fmt"
	"strings"
	"time"
)

// describeEnglish tells the time of day first: "at 02:00 on the last Friday
// of every month".
func describeEnglish(r *rules) string {
	parts := englishClock(r)
	if day := englishDay(r); day != "" {
		parts = append(parts, day)
	}
	if !r.anyYear {
		parts = append(parts, "in "+englishYears(&r.years))
	}
	return strings.Join(parts, " ")
}

func englishClock(r *rules) []string {
	if times := r.timesOfDay(); times != nil {
		return []string{"at " + englishList(times)}
	}
	c := r.clockPatterns()
	hours, minutes := englishUnits(c.hours, "hour"), englishUnits(c.minutes, "minute")
	if minute, h, ok := c.hourly(); ok {
		return []string{fmt.Sprintf("every hour from %02d:%02d to %02d:%02d", h.from, minute, h.to, minute)}
	}
	var parts []string
	switch {
	case c.seconds.is(0) && c.minutes.is(0) && !c.hours.isPoints():
		return []string{hours}
	case c.seconds.is(0) && c.minutes.isPoints() && !c.hours.isPoints():
		return []string{hours, minutes}
	case c.seconds.is(0):
		parts = []string{minutes}
	case !c.minutes.all:
		parts = []string{englishUnits(c.seconds, "second"), "in", strings.TrimPrefix(minutes, "at ")}
	case c.seconds.isPoints():
		parts = []string{englishUnits(c.seconds, "second"), "of every minute"}
	default:
		parts = []string{englishUnits(c.seconds, "second")}
	}
	switch {
	case c.hours.all && c.minutes.isPoints():
		parts = append(parts, "of every hour")
	case c.hours.all:
	case len(c.hours.runs) == 1:
		parts = append(parts, fmt.Sprintf("from %02d:00 to %02d:59", c.hours.runs[0].from, c.hours.runs[0].to))
	default:
		parts = append(parts, "in", strings.TrimPrefix(hours, "at "))
	}
	return parts
}

// englishUnits tells a pattern of seconds, minutes or hours.
func englishUnits(p pattern, unit string) string {
	v, single := p.single()
	switch {
	case p.all:
		return "every " + unit
	case single:
		return fmt.Sprintf("at %s %d", unit, v)
	case p.step > 0 && p.start > 0:
		return fmt.Sprintf("every %d %ss from %s %d on", p.step, unit, unit, p.start)
	case p.step > 0:
		return fmt.Sprintf("every %d %ss", p.step, unit)
	}
	return "at " + unit + "s " + englishRuns(p.runs, func(v int) string { return fmt.Sprint(v) })
}

// englishDay tells days and months together.
func englishDay(r *rules) string {
	d := &r.days
	months := members(uint64(r.months))
	monthName := func(m int) string { return time.Month(m).String() }
	inMonths, ofMonths := "", "of every month"
	if r.months != allMonths {
		names := englishRuns(runsOf(months, 1, 12), monthName)
		inMonths, ofMonths = "in "+names, "of "+names
	}
	dates, weekdays := englishDates(d, ofMonths), englishWeekdays(d, inMonths, ofMonths)
	if date, one := onlyDate(d); one && len(months) == 1 {
		dates = fmt.Sprintf("on %d %s", date, monthName(months[0]))
	}
	switch {
	case d.every() && r.timesOfDay() != nil:
		return strings.TrimSpace("every day " + inMonths)
	case d.every():
		return inMonths
	case d.anyDate():
		return weekdays
	case d.anyWeekday():
		return dates
	case d.either:
		return dates + " or " + weekdays
	}
	return dates + " that falls " + englishWeekdays(d, "", "of its month")
}

// onlyDate returns the date of a day-of-month field that has just one.
func onlyDate(d *dayRules) (date int, ok bool) {
	dates := members(uint64(d.dates))
	if len(dates) != 1 || d.beforeEnd|d.nearest|d.nearestEnd != 0 {
		return 0, false
	}
	return dates[0], true
}

func englishDates(d *dayRules, ofMonths string) string {
	var parts []string
	dates := members(uint64(d.dates))
	if step := stepOf(dates); step > 1 && len(dates) > mostTimes {
		parts = append(parts, fmt.Sprintf("every %s day from the %s to the %s", ordinal(step), ordinal(dates[0]), ordinal(dates[len(dates)-1])))
	} else if len(dates) > 0 {
		parts = append(parts, "the "+englishRuns(runsOf(dates, 1, 31), ordinal))
	}
	for _, n := range members(uint64(d.nearest)) {
		parts = append(parts, "the weekday nearest to the "+ordinal(n))
	}
	for _, n := range members(uint64(d.beforeEnd)) {
		parts = append(parts, englishFromEnd(n))
	}
	for _, n := range members(uint64(d.nearestEnd)) {
		if n == 0 {
			parts = append(parts, "the last weekday (Monday to Friday)")
		} else {
			parts = append(parts, "the weekday nearest to "+englishFromEnd(n))
		}
	}
	return "on " + englishList(parts) + " " + ofMonths
}

func englishFromEnd(n int) string {
	switch n {
	case 0:
		return "the last day"
	case 1:
		return "the day before the last day"
	}
	return fmt.Sprintf("the %s day before the last day", ordinal(n))
}

func englishWeekdays(d *dayRules, inMonths, ofMonths string) string {
	name := func(w int) string { return time.Weekday(w).String() }
	var plain, counted []string
	if d.weekdays != 0 {
		plain = append(plain, englishRuns(runsOf(members(uint64(d.weekdays)), 0, 6), name))
	}
	for n, set := range d.nth {
		for _, w := range members(uint64(set)) {
			counted = append(counted, "the "+strings.Fields("first second third fourth fifth")[n]+" "+name(w))
		}
	}
	for _, w := range members(uint64(d.last)) {
		counted = append(counted, "the last "+name(w))
	}
	if counted == nil {
		on := "on "
		if runs := runsOf(members(uint64(d.weekdays)), 0, 6); len(runs) == 1 && runs[0].from != runs[0].to {
			on = "on days from "
		}
		return strings.TrimSpace(on + plain[0] + " " + inMonths)
	}
	return "on " + englishList(append(plain, counted...)) + " " + ofMonths
}

func englishYears(set *yearSet) string {
	years := set.members()
	if step := stepOf(years); step > 1 && len(years) > mostTimes {
		return fmt.Sprintf("every %s year from %d to %d", ordinal(step), years[0], years[len(years)-1])
	}
	return englishRuns(runsOf(years, 0, 0), func(y int) string { return fmt.Sprint(y) })
}

func englishRuns(runs []run, word func(int) string) string {
	words := make([]string, len(runs))
	for i, r := range runs {
		words[i] = word(r.from)
		if r.to != r.from {
			words[i] += " to " + word(r.to)
		}
	}
	return englishList(words)
}

// englishList joins words with commas and a last "and".
func englishList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
