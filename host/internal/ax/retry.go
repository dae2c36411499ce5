package ax

import (
	"math"
	"slices"
	"time"
)

// Retry is a task's retry policy.
type Retry struct {
	// Delays before the 2nd, 3rd … attempt. If there are fewer delays than
	// retries the last one grows by Factor each time, up to Max.
	Delays []time.Duration
	// Count is how many retries follow a failed first attempt.
	Count  int
	Factor float64 // 1 = fixed
	Max    time.Duration
	// On lists the outcomes that are retried.
	On []Status
}

// DefaultRetry is two retries, the first a minute after the failure, the
// second five minutes after that, for failed, timed out and lost attempts.
func DefaultRetry() Retry {
	return Retry{
		Delays: []time.Duration{time.Minute, 5 * time.Minute},
		Count:  2, Factor: 1, Max: 24 * time.Hour,
		On: []Status{StatusFailed, StatusTimeout, StatusLost},
	}
}

// MaxAttempts is the first attempt and all retries.
func (r Retry) MaxAttempts() int { return 1 + r.Count }

// Next tells whether an attempt (counted from 1) that ended with outcome is
// followed by another one, and how long after its end.
func (r Retry) Next(attempt int, outcome Outcome) (time.Duration, bool) {
	if attempt > r.Count || outcome.Permanent || !r.retries(outcome.Status) {
		return 0, false
	}
	return r.delay(attempt), true
}

func (r Retry) retries(s Status) bool {
	return slices.Contains(r.On, s)
}

func (r Retry) delay(attempt int) time.Duration {
	if len(r.Delays) == 0 {
		return 0
	}
	if attempt <= len(r.Delays) {
		return r.Delays[attempt-1]
	}
	last := float64(r.Delays[len(r.Delays)-1])
	d := last * math.Pow(max(r.Factor, 1), float64(attempt-len(r.Delays)))
	if limit := float64(r.Max); r.Max > 0 && d > limit {
		d = limit
	}
	return time.Duration(d)
}
