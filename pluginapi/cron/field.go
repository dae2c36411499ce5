package cron

import "strings"

// field is a position in the seven-field form of an expression.
type field int

const (
	second field = iota
	minute
	hour
	dayOfMonth
	month
	dayOfWeek
	year
)

// spec is what a field may hold.
type spec struct {
	name   string
	lo, hi int
	top    int      // highest number taken: above hi only in classic weekdays, where 7 is Sunday like 0
	names  []string // names[i] is another word for lo+i
}

var (
	monthNames   = strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
	weekdayNames = strings.Fields("SUN MON TUE WED THU FRI SAT")
)

// specOf describes a field. Only the numbers of weekdays depend on the
// dialect.
func specOf(f field, classic bool) spec {
	switch f {
	case second:
		return spec{name: "second", hi: 59, top: 59}
	case minute:
		return spec{name: "minute", hi: 59, top: 59}
	case hour:
		return spec{name: "hour", hi: 23, top: 23}
	case dayOfMonth:
		return spec{name: "day of month", lo: 1, hi: 31, top: 31}
	case month:
		return spec{name: "month", lo: 1, hi: 12, top: 12, names: monthNames}
	case dayOfWeek:
		if classic {
			return spec{name: "day of week", hi: 6, top: 7, names: weekdayNames}
		}
		return spec{name: "day of week", lo: 1, hi: 7, top: 7, names: weekdayNames}
	}
	return spec{name: "year", lo: firstNamedYear, hi: lastYear, top: lastYear}
}

func (s spec) size() int { return s.hi - s.lo + 1 }

// maxStep is the largest step that can reach a second value.
func (s spec) maxStep() int { return min(s.top, s.size()) }

// span is an arithmetic row of values of a field: lo, lo+step and so on up
// to hi. In a range that wraps, hi and what comes after the field's maximum
// go on at its minimum.
type span struct{ lo, hi, step int }

// each calls add for every value of the span.
func (s spec) each(v span, add func(value int)) {
	for i := v.lo; i <= v.hi; i += v.step {
		if i > s.hi {
			add(i - s.size())
		} else {
			add(i)
		}
	}
}
