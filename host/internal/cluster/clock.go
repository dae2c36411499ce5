package cluster

import "time"

const (
	// keptSamples is how many readings of the database's clock are compared.
	keptSamples = 8
	// drift bounds how fast two clocks go apart: twice what NTP slews by, 500 ppm.
	drift = 1000
	// tolerance is how far a reading may lie outside of what those before it say
	// until a clock counts as set.
	tolerance = 20 * time.Millisecond
)

// clock follows the clock of the database. It ties it to the monotonic clock of
// this process, so it does not notice when the wall clock of this host is set,
// and when the database's is (a failover to another server, say) it goes over to
// the new time with the next reading. Times of this process are durations since
// some beginning.
type clock struct {
	samples []sample // oldest first
}

// sample is one reading of the database's clock: db was the time at some moment
// within margin of at.
type sample struct {
	at, margin time.Duration
	db         time.Time
}

// bound is by how much the sample may be wrong at a later moment.
func (s sample) bound(at time.Duration) time.Duration { return s.margin + (at-s.at)/drift }

func (s sample) read(at time.Duration) time.Time { return s.db.Add(at - s.at) }

// add takes a reading that was asked for at sent and answered at received. It
// returns by how much the database's clock was set meanwhile, 0 if it was not.
func (c *clock) add(sent, received time.Duration, db time.Time) (step time.Duration) {
	s := sample{at: sent + (received-sent)/2, margin: (received - sent) / 2, db: db}
	if best, ok := c.best(s.at); ok {
		off := s.db.Sub(best.read(s.at))
		if off.Abs() > s.margin+best.bound(s.at)+tolerance {
			step = off
			c.samples = c.samples[:0]
		}
	}
	if len(c.samples) == keptSamples {
		c.samples = append(c.samples[:0], c.samples[1:]...)
	}
	c.samples = append(c.samples, s)
	return step
}

// best returns the reading that says most about the given moment.
func (c *clock) best(at time.Duration) (sample, bool) {
	if len(c.samples) == 0 {
		return sample{}, false
	}
	best := c.samples[0]
	for _, s := range c.samples[1:] {
		if s.bound(at) <= best.bound(at) {
			best = s
		}
	}
	return best, true
}

// now returns the time of the database, false before the first reading.
func (c *clock) now(at time.Duration) (time.Time, bool) {
	best, ok := c.best(at)
	if !ok {
		return time.Time{}, false
	}
	return best.read(at), true
}

// offset is by how much a wall clock that shows wall is ahead of the database's,
// 0 before the first reading.
func (c *clock) offset(wall time.Time, at time.Duration) time.Duration {
	db, ok := c.now(at)
	if !ok {
		return 0
	}
	return wall.Round(0).Sub(db)
}
