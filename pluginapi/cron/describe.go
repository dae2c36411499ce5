package cron

import (
	"fmt"
	"math/bits"
)

// Describe says in plain language when the schedule fires: "zh" is Chinese,
// everything else English. H fields are told by the values they picked. The
// zone is not part of it.
func (s *Schedule) Describe(lang string) string {
	if lang == "zh" {
		return describeChinese(&s.rules)
	}
	return describeEnglish(&s.rules)
}

// mostTimes is how many times of day are told one by one.
const mostTimes = 6

// pattern is how the values of a field are best told: all of them, every
// step-th from start on, or as runs.
type pattern struct {
	all         bool
	start, step int
	runs        []run
}

// run is a row of values without a gap; from lies above to where it goes
// around the end of the field.
type run struct{ from, to int }

// single returns the only value, if there is one.
func (p pattern) single() (int, bool) {
	if !p.all && p.step == 0 && len(p.runs) == 1 && p.runs[0].from == p.runs[0].to {
		return p.runs[0].from, true
	}
	return 0, false
}

// is reports whether v is the only value.
func (p pattern) is(v int) bool {
	n, ok := p.single()
	return ok && n == v
}

// isPoints reports whether the values are told one by one.
func (p pattern) isPoints() bool { return !p.all && p.step == 0 }

// clockPatterns are the patterns of the three clock fields.
type clockPatterns struct{ seconds, minutes, hours pattern }

func (r *rules) clockPatterns() clockPatterns {
	return clockPatterns{clockPattern(r.seconds, 60), clockPattern(r.minutes, 60), clockPattern(uint64(r.hours), 24)}
}

// hourly returns the minute and the hours of a schedule that fires once an
// hour within one run of hours.
func (c clockPatterns) hourly() (minute int, hours run, ok bool) {
	m, ok := c.minutes.single()
	if !ok || !c.seconds.is(0) || len(c.hours.runs) != 1 {
		return 0, run{}, false
	}
	return m, c.hours.runs[0], true
}

// clockPattern finds the pattern of seconds, minutes or hours. Steps are told
// as such only where they are even: */40 is no period of 40 minutes.
func clockPattern(set uint64, size int) pattern {
	values := members(set)
	if len(values) == size {
		return pattern{all: true}
	}
	if step := stepOf(values); step > 1 && len(values)*step == size {
		return pattern{start: values[0], step: step}
	}
	return pattern{runs: runsOf(values, 0, size-1)}
}

// members lists the bits of a set.
func members(set uint64) []int {
	values := make([]int, 0, bits.OnesCount64(set))
	for ; set != 0; set &= set - 1 {
		values = append(values, bits.TrailingZeros64(set))
	}
	return values
}

// members lists the years of a set.
func (s *yearSet) members() []int {
	var years []int
	for y := s.next(firstNamedYear); y != noYear; y = s.next(y + 1) {
		years = append(years, y)
	}
	return years
}

// stepOf returns the distance of the values if it is the same throughout,
// else 0.
func stepOf(values []int) int {
	if len(values) < 2 {
		return 0
	}
	step := values[1] - values[0]
	for i := range values[1:] {
		if values[i+1]-values[i] != step {
			return 0
		}
	}
	return step
}

// runsOf joins three or more neighbours, also around the end of a field.
func runsOf(values []int, lo, hi int) []run {
	var runs []run
	for _, v := range values {
		if n := len(runs); n > 0 && runs[n-1].to == v-1 {
			runs[n-1].to = v
		} else {
			runs = append(runs, run{v, v})
		}
	}
	if n := len(runs); n > 1 && runs[0].from == lo && runs[n-1].to == hi && runs[0].to-lo+hi-runs[n-1].from > 0 {
		runs[n-1].to = runs[0].to
		runs = runs[1:]
	}
	var told []run
	for _, r := range runs {
		if r.to == r.from+1 {
			told = append(told, run{r.from, r.from}, run{r.to, r.to})
		} else {
			told = append(told, r)
		}
	}
	return told
}

// timesOfDay lists the times of a matching day if they are few.
func (r *rules) timesOfDay() []string {
	if bits.OnesCount64(r.seconds)*bits.OnesCount64(r.minutes)*bits.OnesCount32(r.hours) > mostTimes {
		return nil
	}
	var times []string
	for _, h := range members(uint64(r.hours)) {
		for _, m := range members(r.minutes) {
			for _, s := range members(r.seconds) {
				text := fmt.Sprintf("%02d:%02d", h, m)
				if r.seconds != 1 {
					text += fmt.Sprintf(":%02d", s)
				}
				times = append(times, text)
			}
		}
	}
	return times
}

// anyDate reports whether the day-of-month field matches every day.
func (r *dayRules) anyDate() bool { return r.dates == allDates }

// anyWeekday reports whether the day-of-week field matches every day.
func (r *dayRules) anyWeekday() bool { return r.weekdays == allWeekdays }
