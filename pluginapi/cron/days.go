package cron

import "math/bits"

const (
	allDates    = 1<<32 - 2 // bits 1 to 31
	allWeekdays = 1<<7 - 1  // bits 0 (Sunday) to 6
)

// dayRules says which days of a month match. A day matches the
// day-of-month field if dates or one of the three sets counted from the
// month's shape has it, and the day-of-week field likewise.
type dayRules struct {
	dates      uint32   // bit d: the d-th
	beforeEnd  uint32   // bit n: n days before the last day (L, L-n)
	nearest    uint32   // bit d: the weekday nearest to the d-th (dW)
	nearestEnd uint32   // bit n: the weekday nearest to n days before the last (LW, L-nW)
	weekdays   uint8    // bit w: every such weekday
	nth        [5]uint8 // nth[n-1] bit w: the n-th such weekday of the month (w#n)
	last       uint8    // bit w: the last such weekday of the month (wL)
	isCounted  bool     // nth or last has a bit
	either     bool     // one matching field is enough (Vixie's rule for two restricted day fields)
}

// every reports whether all days match.
func (r *dayRules) every() bool {
	if r.either {
		return r.dates == allDates || r.weekdays == allWeekdays
	}
	return r.dates == allDates && r.weekdays == allWeekdays
}

// in returns the matching days of a month as bits 1 to 31.
func (r *dayRules) in(year, month int) uint32 {
	length := monthLength(year, month)
	first := weekday(dayNumber(year, month, 1))
	byDate := r.dates
	if r.beforeEnd|r.nearest|r.nearestEnd != 0 {
		byDate |= r.fromShape(length, first)
	}
	byWeekday := spread(r.weekdays, first)
	if r.isCounted {
		byWeekday |= r.counted(length, first)
	}
	days := byDate & byWeekday
	if r.either {
		days = byDate | byWeekday
	}
	return days & (1<<(length+1) - 2)
}

// fromShape returns the days that L and W stand for in a month.
func (r *dayRules) fromShape(length, first int) uint32 {
	days := bits.Reverse32(r.beforeEnd) >> (31 - length)
	for m := r.nearest; m != 0; m &= m - 1 {
		days |= nearestWeekday(bits.TrailingZeros32(m), length, first)
	}
	for m := r.nearestEnd; m != 0; m &= m - 1 {
		days |= nearestWeekday(length-bits.TrailingZeros32(m), length, first)
	}
	return days
}

// nearestWeekday returns the bit of the Monday to Friday nearest to a day
// without leaving its month, or 0 if the month has no such day.
func nearestWeekday(day, length, first int) uint32 {
	if day < 1 || day > length {
		return 0
	}
	switch (first + day - 1) % 7 {
	case 0: // Sunday
		if day == length {
			return 1 << (day - 2)
		}
		return 1 << (day + 1)
	case 6: // Saturday
		if day == 1 {
			return 1 << 3
		}
		return 1 << (day - 1)
	}
	return 1 << day
}

// counted returns the days that w#n and wL stand for in a month.
func (r *dayRules) counted(length, first int) uint32 {
	var days uint32
	for n, w := range r.nth {
		days |= rotate(w, first) << (7*n + 1)
	}
	lastWeek := length - 6
	return days | rotate(r.last, (first+lastWeek-1)%7)<<lastWeek
}

// rotate moves a set of weekdays so that bit 0 is weekday first.
func rotate(weekdays uint8, first int) uint32 {
	w := uint32(weekdays)
	return (w>>first | w<<(7-first)) & allWeekdays
}

// spread returns the days 1 to 31 that fall on a weekday of the set, in a
// month whose first day is weekday first.
func spread(weekdays uint8, first int) uint32 {
	const weeks = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	return uint32(uint64(rotate(weekdays, first)) * weeks << 1)
}
