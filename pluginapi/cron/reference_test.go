package cron_test

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// reference answers what a schedule does by the words of its rules, slowly:
// it walks through time second by second and looks at the clock. It shares
// no code and no method with the package. H is beyond it.
type reference struct {
	fields  [7]string // second to year
	classic bool
	days    map[time.Time]bool // answers of day, as they do not change
}

func newReference(expr string) *reference {
	words := strings.Fields(expr)
	r := &reference{classic: len(words) == 5, days: map[time.Time]bool{}}
	switch len(words) {
	case 5:
		words = slices.Concat([]string{"0"}, words, []string{"*"})
	case 6:
		words = append(words, "*")
	}
	copy(r.fields[:], words)
	return r
}

// fires returns all seconds from from until before to at which the schedule
// fires in a zone.
func (r *reference) fires(loc *time.Location, from, to time.Time) []time.Time {
	var fires []time.Time
	past := historyBefore(loc, from)
	was := offset(loc, from.Add(-time.Second))
	for t := from; t.Before(to); t = t.Add(time.Second) {
		is := offset(loc, t)
		now := t.UTC().Add(is)
		leapt := false
		if is != was {
			g := gap{t.UTC().Add(was), now}
			past.offsets = append(past.offsets, was)
			leapt = r.leapt(t, g, past)
			past.gaps = append(past.gaps, g)
		}
		was = is
		switch {
		case leapt:
			fires = append(fires, t)
		case !r.minute(now):
			if offset(loc, t.Add(time.Minute)) == is { // nothing can happen in this minute
				t = t.Add(time.Duration(59-now.Second()) * time.Second)
			}
		case r.value(0, now.Second()) && (r.elapsed() || !past.reached(t, now)):
			fires = append(fires, t)
		}
	}
	return fires
}

// elapsed: schedules whose second, minute or hour field starts with a star
// follow elapsed time.
func (r *reference) elapsed() bool {
	return r.fields[0][0] == '*' || r.fields[1][0] == '*' || r.fields[2][0] == '*'
}

// gap is what a jump leaves out: the readings from start until before end.
type gap struct{ start, end time.Time }

// leapt: a local time that the jump at t skips fires once, at the first
// instant after the gap.
func (r *reference) leapt(t time.Time, g gap, past history) bool {
	if r.elapsed() {
		return false
	}
	for c := g.start; c.Before(g.end); {
		if !r.minute(c) {
			c = c.Truncate(time.Minute).Add(time.Minute)
			continue
		}
		if r.value(0, c.Second()) && !past.reached(t, c) {
			return true
		}
		c = c.Add(time.Second)
	}
	return false
}

// history is what a clock did in the last day.
type history struct {
	loc     *time.Location
	offsets []time.Duration
	gaps    []gap
}

// reached reports whether the clock showed a reading before t, or leapt over
// it.
func (h history) reached(t, reading time.Time) bool {
	return slices.ContainsFunc(h.offsets, func(o time.Duration) bool {
		earlier := reading.Add(-o)
		return earlier.Before(t) && offset(h.loc, earlier) == o
	}) || slices.ContainsFunc(h.gaps, func(g gap) bool {
		return !reading.Before(g.start) && reading.Before(g.end)
	})
}

// historyBefore looks at the clock every minute, and every second where it
// jumps.
func historyBefore(loc *time.Location, end time.Time) history {
	t := end.Add(-30 * time.Hour)
	was := offset(loc, t)
	past := history{loc: loc, offsets: []time.Duration{was}}
	for t.Before(end) {
		if offset(loc, t.Add(time.Minute)) == was {
			t = t.Add(time.Minute)
			continue
		}
		t = t.Add(time.Second)
		if is := offset(loc, t); is != was && t.Before(end) {
			past.offsets = append(past.offsets, is)
			past.gaps = append(past.gaps, gap{t.UTC().Add(was), t.UTC().Add(is)})
			was = is
		}
	}
	return past
}

func offset(loc *time.Location, t time.Time) time.Duration {
	_, seconds := t.In(loc).Zone()
	return time.Duration(seconds) * time.Second
}

// reading is what a clock on the wall shows, written as a time in UTC.
func reading(loc *time.Location, t time.Time) time.Time {
	return t.UTC().Add(offset(loc, t))
}

// minute reports whether all but the second of a reading matches.
func (r *reference) minute(c time.Time) bool {
	return r.value(1, c.Minute()) && r.value(2, c.Hour()) && r.day(c)
}

func (r *reference) day(c time.Time) bool {
	c = c.Truncate(24 * time.Hour)
	match, known := r.days[c]
	if !known {
		match = r.value(4, int(c.Month())) && r.value(6, c.Year()) && r.dayFields(c)
		r.days[c] = match
	}
	return match
}

// dayFields: with five fields either of two restricted day fields is enough;
// otherwise both must match. A ? matches all.
func (r *reference) dayFields(c time.Time) bool {
	date, weekday := r.fields[3], r.fields[5]
	byDate := anyItem(date, func(item string) bool { return r.dateItem(item, c) })
	byWeekday := anyItem(weekday, func(item string) bool { return r.weekdayItem(item, c) })
	restricted := func(f string) bool { return f[0] != '*' && f != "?" }
	if r.classic && restricted(date) && restricted(weekday) {
		return byDate || byWeekday
	}
	return byDate && byWeekday
}

func (r *reference) dateItem(item string, c time.Time) bool {
	lastDay := time.Date(c.Year(), c.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	base, near := strings.CutSuffix(item, "W")
	var target int
	if back, ok := strings.CutPrefix(base, "L"); ok {
		n, _ := strconv.Atoi(strings.TrimPrefix(back, "-"))
		target = lastDay.Day() - n
	} else if near {
		target, _ = strconv.Atoi(base)
	} else {
		return item == "?" || r.item(3, item, c.Day())
	}
	if target < 1 || target > lastDay.Day() {
		return false
	}
	if !near {
		return c.Day() == target
	}
	for _, delta := range []int{0, -1, 1, -2, 2} {
		d := time.Date(c.Year(), c.Month(), target+delta, 0, 0, 0, 0, time.UTC)
		if d.Month() == c.Month() && d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
			return d.Day() == c.Day()
		}
	}
	return false
}

func (r *reference) weekdayItem(item string, c time.Time) bool {
	number := int(c.Weekday())
	if !r.classic {
		number++
	}
	if item == "?" {
		return true
	}
	if item == "L" {
		return c.Weekday() == time.Saturday
	}
	if day, nth, ok := strings.Cut(item, "#"); ok {
		return number == r.number(5, day) && strconv.Itoa((c.Day()-1)/7+1) == nth
	}
	if day, ok := strings.CutSuffix(item, "L"); ok {
		return number == r.number(5, day) && c.AddDate(0, 0, 7).Month() != c.Month()
	}
	return r.item(5, item, number)
}

// value reports whether a plain field has a value.
func (r *reference) value(field, v int) bool {
	return anyItem(r.fields[field], func(item string) bool { return r.item(field, item, v) })
}

func anyItem(list string, match func(item string) bool) bool {
	return slices.ContainsFunc(strings.Split(list, ","), match)
}

// item counts how far v lies behind the start of the item, around the end of
// the field if need be.
func (r *reference) item(field int, item string, v int) bool {
	first := [7]int{0, 0, 0, 1, 1, 1, 1970}[field]
	last := [7]int{59, 59, 23, 31, 12, 7, 2199}[field]
	if field == 5 && r.classic {
		first, last = 0, 6
	}
	base, stepText, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		step, _ = strconv.Atoi(stepText)
	}
	from, to := first, last
	if a, b, ok := strings.Cut(base, "-"); ok {
		from, to = r.number(field, a), r.number(field, b)
	} else if item == "*" && field == 6 {
		return v <= 2126 // and years before 1970 as well
	} else if base != "*" {
		from = r.number(field, base)
		if !stepped {
			to = from
		}
	}
	size := last - first + 1
	behind, length := (v-from+size)%size, (to-from+size)%size
	return v >= first && behind <= length && behind%step == 0
}

var numberOf = map[string]int{
	"SUN": 0, "MON": 1, "TUE": 2, "WED": 3, "THU": 4, "FRI": 5, "SAT": 6,
	"JAN": 1, "FEB": 2, "MAR": 3, "APR": 4, "MAY": 5, "JUN": 6,
	"JUL": 7, "AUG": 8, "SEP": 9, "OCT": 10, "NOV": 11, "DEC": 12,
}

func (r *reference) number(field int, text string) int {
	n, ok := numberOf[strings.ToUpper(text)]
	if !ok {
		n, _ = strconv.Atoi(text)
		if r.classic && field == 5 {
			n %= 7
		}
		return n
	}
	if field == 5 && !r.classic {
		n++
	}
	return n
}
