package cron

import (
	"math"
	"time"
)

// zone is the clock of a location as a table of periods between jumps, from
// the beginning to the end of time. It never changes once built, so that
// schedules share it without locks.
type zone []period

// period is a stretch of time in which a clock runs without a jump.
type period struct {
	from  int64 // first second, Unix time
	shift int64 // reading minus Unix time
	high  int64 // the clock reached all readings below this one before from
}

// newZone reads the jumps of a location up to lastYear.
func newZone(loc *time.Location) *zone {
	const unixEpoch = unixEpochDay * secondsPerDay
	// A day more, as zones differ from Unix time by less than a day.
	const begin, end = (firstDay-1)*secondsPerDay - unixEpoch, (lastDay+2)*secondsPerDay - unixEpoch
	z := zone{}
	high := int64(-never)
	for t := int64(begin); t < end; {
		at := time.Unix(t, 0).In(loc)
		_, offset := at.Zone()
		shift := int64(offset) + unixEpoch
		if n := len(z); n == 0 {
			z = append(z, period{from: math.MinInt64, shift: shift, high: high})
		} else if z[n-1].shift != shift {
			high = max(high, t+z[n-1].shift)
			z = append(z, period{from: t, shift: shift, high: high})
		}
		_, next := at.ZoneBounds()
		if next.IsZero() {
			break
		}
		if next.Unix() <= t {
			// Beyond the tables of the tz database package time ends a year
			// after 365 days: on the last day of a leap year the bound lies
			// behind. No rule jumps on that day.
			t += secondsPerDay
			continue
		}
		t = next.Unix()
	}
	return &z
}

// at returns the index of the period that holds second t.
func (z zone) at(t int64) int {
	lo, hi := 0, len(z)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; z[mid].from <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// passing returns the first second at which the clock shows reading c or a
// later one: the second itself if the clock shows c, the first of several if
// it does so again, and the end of the jump if it leaps over c. The period
// is i or a later one.
func (z zone) passing(c int64, i int) int64 {
	lo, hi := i, len(z)
	if i+1 < hi && z[i+1].high > c {
		hi = i + 1
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; z[mid].high <= c {
			lo = mid
		} else {
			hi = mid
		}
	}
	return max(z[lo].from, c-z[lo].shift)
}

// end returns the last second of period i.
func (z zone) end(i int) int64 {
	if i+1 == len(z) {
		return math.MaxInt64
	}
	return z[i+1].from - 1
}
