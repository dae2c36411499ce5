package preview

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/cron"
)

// Words say in plain language when a schedule is due.
type Words struct {
	En string `json:"en" doc:"In English"`
	Zh string `json:"zh" doc:"In Chinese"`
}

// In returns the words of a language: "zh" is Chinese, everything else English.
func (w Words) In(lang string) string {
	if lang == "zh" {
		return w.Zh
	}
	return w.En
}

// Describe says in plain language when a task is due. Its name decides what H
// stands for in a cron expression. Clock times are those of the schedule's zone.
func Describe(s *ax.Schedule, task string) Words {
	parts := []Words{rhythm(s, task)}
	if onClock(s) {
		parts[0].En += " (" + s.Timezone + ")"
		parts[0].Zh += "（" + s.Timezone + "）"
	}
	parts = append(parts, bounds(s)...)
	parts = append(parts, exceptions(s)...)
	var all Words
	for i, part := range parts {
		if i > 0 {
			all.En, all.Zh = all.En+"; ", all.Zh+"；"
		}
		all.En, all.Zh = all.En+part.En, all.Zh+part.Zh
	}
	return all
}

// rhythm says what a schedule is without its limits.
func rhythm(s *ax.Schedule, task string) Words {
	switch {
	case s.Cron != "":
		schedule, err := cron.Parse(s.Cron, cron.Options{Hash: task})
		if err != nil {
			return Words{s.Cron, s.Cron} // no configuration in force has one
		}
		return Words{schedule.Describe("en"), schedule.Describe("zh")}
	case s.Every > 0:
		en, zh := span(s.Every)
		if unit, one := strings.CutPrefix(en, "1 "); one {
			en, zh = unit, strings.TrimPrefix(zh, "1")
		}
		return Words{"every " + en, "每" + zh}
	case s.Delay > 0:
		en, zh := span(s.Delay)
		return Words{en + " after the end of each run", "每次执行结束后" + zh}
	case s.Trigger != nil:
		words := Words{"by the trigger " + s.Trigger.Name, "由触发器 " + s.Trigger.Name + " 决定"}
		if with := settingsText(s.Trigger.With); with != "" {
			words.En, words.Zh = words.En+" with "+with, words.Zh+"，设置为 "+with
		}
		return words
	default:
		return Words{"once, at " + clockIn(s.At, s.Timezone), clockIn(s.At, s.Timezone) + " 一次"}
	}
}

// onClock reports whether a zone has a say in when the schedule is due.
func onClock(s *ax.Schedule) bool {
	return s.Every == 0 && s.Delay == 0 || s.Calendar != "" || len(s.Blackouts) > 0 ||
		!s.Anchor.IsZero() || !s.From.IsZero() || !s.Until.IsZero()
}

// bounds say when a schedule begins and ends.
func bounds(s *ax.Schedule) []Words {
	var parts []Words
	add := func(en, zh string, args ...any) {
		parts = append(parts, Words{fmt.Sprintf(en, args...), fmt.Sprintf(zh, args...)})
	}
	if !s.Anchor.IsZero() {
		add("counted from %s", "从 %s 起算", clockIn(s.Anchor, s.Timezone))
	}
	if s.RepeatCount != nil {
		add("%d times in all", "共%d次", *s.RepeatCount+1)
	}
	if !s.From.IsZero() {
		add("from %s on", "%s 开始", clockIn(s.From, s.Timezone))
	}
	if !s.Until.IsZero() {
		add("until %s", "%s 为止", clockIn(s.Until, s.Timezone))
	}
	return parts
}

// exceptions say what leaves due times out or moves them.
func exceptions(s *ax.Schedule) []Words {
	var parts []Words
	add := func(en, zh string, args ...any) {
		parts = append(parts, Words{fmt.Sprintf(en, args...), fmt.Sprintf(zh, args...)})
	}
	switch {
	case s.Calendar == "":
	case s.OnClosed == ax.ClosedPrevious:
		add("on closed days of %s on the open day before", "遇 %s 休息日提前到前一个开放日", s.Calendar)
	case s.OnClosed == ax.ClosedNext:
		add("on closed days of %s on the open day after", "遇 %s 休息日顺延到下一个开放日", s.Calendar)
	default:
		add("not on closed days of %s", "%s 休息日除外", s.Calendar)
	}
	if len(s.Calendars) > 0 {
		add("with the calendar %s", "按日历 %s", strings.Join(s.Calendars, ", "))
	}
	if len(s.Blackouts) > 0 {
		times := blackoutWords(s.Blackouts)
		if s.OnBlackout == ax.BlackoutAfter {
			parts = append(parts, Words{"put off to the end of " + times.En, "遇 " + times.Zh + " 推迟到其结束"})
		} else {
			parts = append(parts, Words{"except " + times.En, times.Zh + " 除外"})
		}
	}
	if s.Jitter > 0 {
		en, zh := span(s.Jitter)
		parts = append(parts, Words{"put off by less than " + en, "随机推迟不到" + zh})
	}
	return parts
}

// blackoutWords lists blackouts.
func blackoutWords(list []ax.Blackout) Words {
	var en, zh []string
	for _, b := range list {
		en = append(en, b.String())
		var words, days []string
		for _, day := range b.Weekdays {
			days = append(days, []string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"}[day])
		}
		if len(days) > 0 {
			words = append(words, strings.Join(days, "、"))
		}
		if b.Calendar != "" {
			words = append(words, b.Calendar+" 休息日")
		}
		clock := ax.Blackout{From: b.From, To: b.To}.String()
		if clock == (ax.Blackout{To: 24 * time.Hour}).String() {
			clock = "每天"
		}
		if clock != "每天" || len(words) == 0 {
			words = append(words, clock)
		}
		zh = append(zh, strings.Join(words, " "))
	}
	return Words{strings.Join(en, ", "), strings.Join(zh, "，")}
}

// span says a length of time in the largest unit that it is a whole number of.
func span(d time.Duration) (en, zh string) {
	for _, u := range []struct {
		length time.Duration
		en, zh string
	}{
		{time.Hour, "hour", "小时"}, {time.Minute, "minute", "分钟"}, {time.Second, "second", "秒"}, {time.Millisecond, "millisecond", "毫秒"},
	} {
		if d%u.length != 0 {
			continue
		}
		n := int64(d / u.length)
		en, zh = fmt.Sprintf("%d %s", n, u.en), fmt.Sprintf("%d%s", n, u.zh)
		if n != 1 {
			en += "s"
		}
		return en, zh
	}
	return d.String(), d.String()
}

// clockIn shows a time by the clock of a zone.
func clockIn(t time.Time, zone string) string {
	if location, err := trigger.Zone(zone); err == nil {
		t = t.In(location)
	}
	return t.Format("2006-01-02 15:04:05")
}

// settingsText shows the settings of a trigger in the order of their names, or
// nothing if there are none.
func settingsText(with json.RawMessage) string {
	var settings map[string]json.RawMessage
	if json.Unmarshal(with, &settings) != nil || len(settings) == 0 {
		return ""
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value := string(settings[key])
		var text string
		if json.Unmarshal(settings[key], &text) == nil {
			value = text
		}
		words = append(words, key+" "+value)
	}
	return strings.Join(words, ", ")
}
