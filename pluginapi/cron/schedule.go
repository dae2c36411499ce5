package cron

import "time"

// Schedule is a parsed expression together with its zone. It is immutable
// and safe for concurrent use. Only [Parse] makes one.
type Schedule struct {
	rules   rules
	zone    *zone
	loc     *time.Location
	elapsed bool // the schedule follows elapsed time
	text    string
}

// Location returns the zone in which the schedule is read.
func (s *Schedule) Location() *time.Location { return s.loc }

// String returns the expression in its canonical form: single spaces, names
// in upper case, and CRON_TZ= in front where the expression named a zone.
// Parsed with the same options it gives the same schedule.
func (s *Schedule) String() string { return s.text }

// Never reports whether there is no time at all at which the schedule fires,
// as with 30 February.
func (s *Schedule) Never() bool {
	return s.Next(time.Time{}).IsZero()
}

// Next returns the first time strictly after the given one at which the
// schedule fires, in whole seconds and in the schedule's location. The zero
// time means never.
func (s *Schedule) Next(after time.Time) time.Time {
	t := after.Unix()
	if t >= never {
		return time.Time{}
	}
	t = max(t, -never) + 1
	if s.elapsed {
		t = s.nextShowing(t)
	} else {
		t = s.nextPassing(t)
	}
	return s.time(t)
}

// Prev returns the last time strictly before the given one at which the
// schedule fires, in whole seconds and in the schedule's location. The zero
// time means never.
func (s *Schedule) Prev(before time.Time) time.Time {
	t := before.Unix()
	if t <= -never {
		return time.Time{}
	}
	t = min(t, never)
	if before.Nanosecond() == 0 {
		t--
	}
	if s.elapsed {
		t = s.prevShowing(t)
	} else {
		t = s.prevPassing(t)
	}
	return s.time(t)
}

// time turns the result of a search into a time.
func (s *Schedule) time(t int64) time.Time {
	if t <= -never || t >= never {
		return time.Time{}
	}
	return time.Unix(t, 0).In(s.loc)
}

// nextPassing returns the first second from t on at which the clock passes a
// matching reading for the first time.
func (s *Schedule) nextPassing(t int64) int64 {
	z := *s.zone
	i := z.at(t)
	p := z[i]
	c := max(t+p.shift, p.high)
	if t == p.from {
		c = p.high // also what the jump at t leapt over
	}
	if c = s.rules.next(c); c == never {
		return never
	}
	return z.passing(c, i)
}

// prevPassing returns the last second up to t at which the clock passes a
// matching reading for the first time.
func (s *Schedule) prevPassing(t int64) int64 {
	z := *s.zone
	p := z[z.at(t)]
	c := s.rules.prev(max(t+p.shift, p.high-1))
	if c == -never {
		return -never
	}
	return z.passing(c, 0)
}

// nextShowing returns the first second from t on at which the clock shows a
// matching reading.
func (s *Schedule) nextShowing(t int64) int64 {
	z := *s.zone
	i := z.at(t)
	searched := t + z[i].shift
	c := s.rules.next(searched)
	for c-z[i].shift > z.end(i) {
		i++
		// No reading from searched up to c matches. The period must be
		// searched anew only if its clock starts outside of these.
		if start := z[i].from + z[i].shift; start < searched || start > c {
			searched = start
			c = s.rules.next(start)
		}
	}
	if c == never {
		return never
	}
	return c - z[i].shift
}

// prevShowing returns the last second up to t at which the clock shows a
// matching reading.
func (s *Schedule) prevShowing(t int64) int64 {
	z := *s.zone
	i := z.at(t)
	searched := t + z[i].shift
	c := s.rules.prev(searched)
	for c-z[i].shift < z[i].from {
		i--
		if last := z.end(i) + z[i].shift; last > searched || last < c {
			searched = last
			c = s.rules.prev(last)
		}
	}
	if c == -never {
		return -never
	}
	return c - z[i].shift
}
