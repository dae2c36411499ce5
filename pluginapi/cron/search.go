package cron

import "math/bits"

// noDay is the answer of a search for a day that found none.
const noDay = -1

// next returns the first matching reading at or after c, or never.
func (r *rules) next(c int64) int64 {
	if c >= (lastDay+1)*secondsPerDay {
		return never
	}
	c = max(c, firstDay*secondsPerDay)
	day, second := int(uint64(c)/secondsPerDay), int(uint64(c)%secondsPerDay)
	match := r.nextDay(day)
	if match == day {
		if s, ok := r.nextClock(second); ok {
			return int64(day)*secondsPerDay + int64(s)
		}
		match = r.nextDay(day + 1)
	}
	if match == noDay {
		return never
	}
	return int64(match)*secondsPerDay + int64(r.firstClock)
}

// prev returns the last matching reading at or before c, or -never.
func (r *rules) prev(c int64) int64 {
	if c < firstDay*secondsPerDay {
		return -never
	}
	c = min(c, (lastDay+1)*secondsPerDay-1)
	day, second := int(uint64(c)/secondsPerDay), int(uint64(c)%secondsPerDay)
	match := r.prevDay(day)
	if match == day {
		if s, ok := r.prevClock(second); ok {
			return int64(day)*secondsPerDay + int64(s)
		}
		match = r.prevDay(day - 1)
	}
	if match == noDay {
		return -never
	}
	return int64(match)*secondsPerDay + int64(r.lastClock)
}

// nextDay returns the first matching day at or after day, or noDay. It looks
// at the matching months of the matching years only, so it is bounded.
func (r *rules) nextDay(day int) int {
	if r.anyDay {
		if day > lastOpenDay {
			return noDay
		}
		return day
	}
	from, month, dom := date(day)
	for year := r.nextYear(from); year != noYear; year = r.nextYear(year + 1) {
		if year != from {
			month, dom = 1, 1
		}
		for m := r.months >> month << month; m != 0; m &= m - 1 {
			at := bits.TrailingZeros32(m)
			if at != month {
				dom = 1
			}
			if days := r.days.in(year, at) >> dom; days != 0 {
				return dayNumber(year, at, dom+bits.TrailingZeros32(days))
			}
		}
	}
	return noDay
}

// prevDay returns the last matching day at or before day, or noDay.
func (r *rules) prevDay(day int) int {
	if day < firstDay {
		return noDay
	}
	if r.anyDay {
		return min(day, lastOpenDay)
	}
	from, month, dom := date(day)
	for year := r.prevYear(from); year != noYear; year = r.prevYear(year - 1) {
		if year != from {
			month, dom = 12, 31
		}
		for m := r.months & (2<<month - 1); m != 0; {
			at := bits.Len32(m) - 1
			m &^= 1 << at
			if at != month {
				dom = 31
			}
			if days := r.days.in(year, at) & (2<<dom - 1); days != 0 {
				return dayNumber(year, at, bits.Len32(days)-1)
			}
		}
	}
	return noDay
}

// nextClock returns the first matching second of the day at or after s.
func (r *rules) nextClock(s int) (int, bool) {
	hour, minute, second := s/3600, s/60%60, s%60
	if r.hours>>hour&1 != 0 {
		if r.minutes>>minute&1 != 0 {
			if m := r.seconds >> second; m != 0 {
				return s + bits.TrailingZeros64(m), true
			}
		}
		if m := r.minutes >> (minute + 1); m != 0 {
			minute += 1 + bits.TrailingZeros64(m)
			return clock(hour, minute, bits.TrailingZeros64(r.seconds)), true
		}
	}
	m := r.hours >> (hour + 1)
	if m == 0 {
		return 0, false
	}
	hour += 1 + bits.TrailingZeros32(m)
	return clock(hour, bits.TrailingZeros64(r.minutes), bits.TrailingZeros64(r.seconds)), true
}

// prevClock returns the last matching second of the day at or before s.
func (r *rules) prevClock(s int) (int, bool) {
	hour, minute, second := s/3600, s/60%60, s%60
	if r.hours>>hour&1 != 0 {
		if r.minutes>>minute&1 != 0 {
			if m := r.seconds & (2<<second - 1); m != 0 {
				return clock(hour, minute, bits.Len64(m)-1), true
			}
		}
		if m := r.minutes & (1<<minute - 1); m != 0 {
			return clock(hour, bits.Len64(m)-1, bits.Len64(r.seconds)-1), true
		}
	}
	m := r.hours & (1<<hour - 1)
	if m == 0 {
		return 0, false
	}
	return clock(bits.Len32(m)-1, bits.Len64(r.minutes)-1, bits.Len64(r.seconds)-1), true
}

func clock(hour, minute, second int) int {
	return hour*3600 + minute*60 + second
}
