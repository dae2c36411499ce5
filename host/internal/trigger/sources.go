package trigger

import (
	"math/bits"
	"time"

	"github.com/axsched/ax/pluginapi/cron"
)

// cronTimes is a cron schedule as a source.
type cronTimes struct{ schedule *cron.Schedule }

func (c cronTimes) next(after time.Time) (time.Time, error) {
	return c.schedule.Next(after), nil
}

// oneShot is due once.
type oneShot struct{ at time.Time }

func (o oneShot) next(after time.Time) (time.Time, error) {
	if o.at.After(after) {
		return o.at, nil
	}
	return time.Time{}, nil
}

// interval is due at anchor + k*period for k = 0, 1, 2 … In elapsed time:
// clocks that are put forward or back do not move it.
type interval struct {
	anchor time.Time // in the task's zone, in which the due times are shown
	period time.Duration
	// last is the greatest k; meaningful only if bounded.
	last    uint64
	bounded bool
}

func (i interval) next(after time.Time) (time.Time, error) {
	if after.Before(i.anchor) {
		return i.anchor, nil
	}
	// In 128 bits, since a time.Duration ends after 292 years.
	seconds := uint64(after.Unix() - i.anchor.Unix())
	high, low := bits.Mul64(seconds, uint64(time.Second))
	nanos := after.Nanosecond() - i.anchor.Nanosecond()
	var carry uint64
	if nanos >= 0 {
		low, carry = bits.Add64(low, uint64(nanos), 0)
		high += carry
	} else {
		low, carry = bits.Sub64(low, uint64(-nanos), 0)
		high -= carry
	}
	// Cannot overflow: a period has at least a million nanoseconds, and high is
	// below 64 for as long as Unix seconds have years of four digits.
	k, rest := bits.Div64(high, low, uint64(i.period))
	if i.bounded && k >= i.last {
		return time.Time{}, nil
	}
	return after.Add(i.period - time.Duration(rest)).In(i.anchor.Location()), nil
}

// delayed is due a fixed time after it was asked, which is when the run before
// has ended, or as soon after as calendar and blackouts let it.
type delayed struct {
	delay time.Duration
	free  blackouts
}

func (d delayed) next(after time.Time) (time.Time, error) {
	return d.free.end(after.Add(d.delay)), nil
}
