package cron

import (
	"fmt"
	"math/bits"
	"strings"
)

const chineseWeekdays = "日一二三四五六"

// describeChinese goes from the large to the small: "每月最后一个周五 02:00".
func describeChinese(r *rules) string {
	var parts []string
	if !r.anyYear {
		parts = append(parts, chineseYears(&r.years))
	}
	if day := chineseDay(r); day != "" {
		parts = append(parts, day)
	}
	return strings.Join(append(parts, chineseClock(r)...), " ")
}

func chineseClock(r *rules) []string {
	if times := r.timesOfDay(); times != nil {
		return []string{strings.Join(times, "、")}
	}
	c := r.clockPatterns()
	if minute, h, ok := c.hourly(); ok {
		return []string{fmt.Sprintf("%02d:%02d至%02d:%02d 每小时", h.from, minute, h.to, minute)}
	}
	hours, minutes := chineseUnits(c.hours, "小时", "点"), chineseUnits(c.minutes, "分钟", "分")
	if c.seconds.is(0) && c.minutes.is(0) && !c.hours.isPoints() {
		return []string{hours}
	}
	var parts []string
	switch {
	case c.hours.all && !c.minutes.isPoints():
	case len(c.hours.runs) == 1:
		parts = []string{fmt.Sprintf("%02d:00至%02d:59", c.hours.runs[0].from, c.hours.runs[0].to)}
	default:
		parts = []string{hours}
	}
	if c.seconds.is(0) {
		return append(parts, minutes)
	}
	if !c.minutes.all || c.seconds.isPoints() {
		parts = append(parts, minutes)
	}
	return append(parts, chineseUnits(c.seconds, "秒", "秒"))
}

// chineseUnits tells a pattern of seconds, minutes or hours; span is the word
// for their length, point for their number.
func chineseUnits(p pattern, span, point string) string {
	switch {
	case p.all:
		return "每" + span
	case p.step > 0 && p.start > 0:
		return fmt.Sprintf("每%d%s（从第%d%s起）", p.step, span, p.start, point)
	case p.step > 0:
		return fmt.Sprintf("每%d%s", p.step, span)
	}
	return "第" + chineseRuns(p.runs, func(v int) string { return fmt.Sprint(v) }) + point
}

// chineseDay tells months and days together.
func chineseDay(r *rules) string {
	d := &r.days
	months := "每月"
	if r.months != allMonths {
		months = chineseRuns(runsOf(members(uint64(r.months)), 1, 12), func(m int) string { return fmt.Sprintf("%d月", m) })
		if r.anyYear {
			months = "每年" + months
		}
		if bits.OnesCount32(r.months) > 1 && !d.every() {
			months += "的"
		}
	}
	switch {
	case d.every() && r.months != allMonths:
		return months
	case d.every() && r.timesOfDay() != nil:
		return "每天"
	case d.every():
		return ""
	case d.anyDate():
		return chineseWeekdaysOf(d, r.months != allMonths, months)
	case d.anyWeekday():
		return months + chineseDates(d)
	case d.either:
		return months + chineseDates(d) + "或" + chineseWeekdaysOf(d, false, "当月")
	}
	return months + chineseDates(d) + "，且为" + chineseWeekdaysOf(d, false, "当月")
}

func chineseDates(d *dayRules) string {
	day := func(n int) string { return fmt.Sprintf("%d日", n) }
	var parts []string
	dates := members(uint64(d.dates))
	if step := stepOf(dates); step > 1 && len(dates) > mostTimes {
		parts = append(parts, fmt.Sprintf("从%d日起每%d天一次", dates[0], step))
	} else if len(dates) > 0 {
		parts = append(parts, chineseRuns(runsOf(dates, 1, 31), day))
	}
	for _, n := range members(uint64(d.nearest)) {
		parts = append(parts, "离"+day(n)+"最近的非周末日")
	}
	for _, n := range members(uint64(d.beforeEnd)) {
		parts = append(parts, chineseFromEnd(n))
	}
	for _, n := range members(uint64(d.nearestEnd)) {
		if n == 0 {
			parts = append(parts, "最后一个非周末日")
		} else {
			parts = append(parts, "离"+chineseFromEnd(n)+"最近的非周末日")
		}
	}
	return strings.Join(parts, "、")
}

func chineseFromEnd(n int) string {
	if n == 0 {
		return "最后一天"
	}
	return fmt.Sprintf("倒数第%d天", n+1)
}

// chineseWeekdaysOf puts months in front where the weekdays are counted
// within them or where they are restricted.
func chineseWeekdaysOf(d *dayRules, restricted bool, months string) string {
	weekday := func(w int) string { return "周" + string([]rune(chineseWeekdays)[w]) }
	var parts []string
	if d.weekdays != 0 {
		parts = append(parts, chineseRuns(runsOf(members(uint64(d.weekdays)), 0, 6), weekday))
	}
	for n, set := range d.nth {
		for _, w := range members(uint64(set)) {
			parts = append(parts, fmt.Sprintf("第%d个%s", n+1, weekday(w)))
		}
	}
	for _, w := range members(uint64(d.last)) {
		parts = append(parts, "最后一个"+weekday(w))
	}
	text := strings.Join(parts, "、")
	if d.isCounted || restricted {
		return months + text
	}
	return text
}

func chineseYears(set *yearSet) string {
	years := set.members()
	if step := stepOf(years); step > 1 && len(years) > mostTimes {
		return fmt.Sprintf("%d年至%d年每%d年", years[0], years[len(years)-1], step)
	}
	return chineseRuns(runsOf(years, 0, 0), func(y int) string { return fmt.Sprintf("%d年", y) })
}

func chineseRuns(runs []run, word func(int) string) string {
	words := make([]string, len(runs))
	for i, r := range runs {
		words[i] = word(r.from)
		if r.to != r.from {
			words[i] += "至" + word(r.to)
		}
	}
	return strings.Join(words, "、")
}
