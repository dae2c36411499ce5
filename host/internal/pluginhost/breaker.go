package pluginhost

import (
	"math/rand/v2"
	"time"
)

// breaker decides when a plugin that crashed may be started again. It is a
// pure state machine: the caller holds the lock and tells the time.
type breaker struct {
	unit, max    time.Duration // back-off: unit, doubled each time, up to max
	limit        int           // crashes within forgive lead to quarantine
	forgive      time.Duration
	crashes      []time.Time // within forgive, oldest first
	delay        time.Duration
	until        time.Time // no start before
	quarantined  bool
	reason       string // of the newest crash
	lastStart    time.Time
	jitterSource func() float64 // in [0, 1)
}

func newBreaker(l limits) breaker {
	return breaker{
		unit: l.backoffUnit, max: l.backoffMax,
		limit: l.quarantine, forgive: l.forgiveAfter,
		jitterSource: rand.Float64,
	}
}

// started notes that a process came up.
func (b *breaker) started(now time.Time) { b.lastStart = now }

// crashed notes the unwanted end of a process, or a start that failed. It
// reports whether this crash led to quarantine.
func (b *breaker) crashed(now time.Time, reason string) bool {
	b.reason = reason
	if !b.lastStart.IsZero() && now.Sub(b.lastStart) >= b.forgive {
		b.crashes, b.delay = nil, 0
	}
	b.lastStart = time.Time{}
	for len(b.crashes) > 0 && now.Sub(b.crashes[0]) >= b.forgive {
		b.crashes = b.crashes[1:]
	}
	b.crashes = append(b.crashes, now)
	if len(b.crashes) >= b.limit {
		b.quarantined = true
		return true
	}
	b.delay = min(max(b.unit, 2*b.delay), b.max)
	// Up to a fifth more, so that many hosts do not start in step.
	b.until = now.Add(b.delay + time.Duration(float64(b.delay)*b.jitterSource()/5))
	return false
}

// reset forgets all crashes, by a person's wish or because the file is new.
func (b *breaker) reset() {
	b.crashes, b.delay, b.until, b.quarantined, b.reason = nil, 0, time.Time{}, false, ""
}

// wait returns how long a start must still wait; 0 = it may begin.
func (b *breaker) wait(now time.Time) time.Duration { return max(0, b.until.Sub(now)) }
