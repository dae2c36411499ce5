package cron

import "math/bits"

// yearSet holds the years firstNamedYear to lastYear.
type yearSet [4]uint64

func (s *yearSet) add(year int) {
	i := year - firstNamedYear
	s[i/64] |= 1 << (i % 64)
}

// noYear is the answer of a search for a year that found none.
const noYear = 0

// next returns the first year of the set at or after year, or noYear.
func (s *yearSet) next(year int) int {
	i := max(year-firstNamedYear, 0)
	for w := i / 64; w < len(s); w++ {
		if m := s[w] >> (i % 64); m != 0 {
			return firstNamedYear + i + bits.TrailingZeros64(m)
		}
		i = (w + 1) * 64
	}
	return noYear
}

// prev returns the last year of the set at or before year, or noYear.
func (s *yearSet) prev(year int) int {
	i := min(year, lastYear) - firstNamedYear
	for i >= 0 {
		if m := s[i/64] << (63 - i%64); m != 0 {
			return firstNamedYear + i - bits.LeadingZeros64(m)
		}
		i = i/64*64 - 1
	}
	return noYear
}

// nextYear returns the first matching year at or after year, or noYear.
func (r *rules) nextYear(year int) int {
	if !r.anyYear {
		return r.years.next(year)
	}
	if year > lastOpenYear {
		return noYear
	}
	return max(year, firstYear)
}

// prevYear returns the last matching year at or before year, or noYear.
func (r *rules) prevYear(year int) int {
	if !r.anyYear {
		return r.years.prev(year)
	}
	if year < firstYear {
		return noYear
	}
	return min(year, lastOpenYear)
}
