// Package trigger turns the schedule of a task into a Timetable: cron, every,
// at or a plugin's trigger, narrowed and moved in this order:
//
//  1. calendar: due times on closed days are left out or moved,
//  2. blackouts: due times within one are left out or put off to its end,
//  3. jitter: each due time is put off by a little, order and number stay,
//  4. from and until: bound due times as they are after all that.
//
// Built-in schedules are sources, pure functions of time, and so are the
// stages around them. A plugin answers in batches over a process border, so a
// cursor makes a source out of it for the length of one call. Nothing here
// reads the clock.
package trigger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Trigger computes the due times of one task. It may be used from many
// goroutines.
type Trigger interface {
	// Next returns up to max due times strictly after the given instant and not
	// later than until, in rising order; a zero until is no bound. exhausted
	// tells that no due time follows the last one returned, ever. It may be
	// false although that is so: the next call then returns none and true.
	// Only a plugin's trigger fails; the times before its error are returned
	// too, but for the last one if the schedule has jitter.
	Next(ctx context.Context, after, until time.Time, max int) (times []time.Time, exhausted bool, err error)
}

// Plugins makes the triggers that plugins offer. The Trigger it returns is
// never asked without a bound: until is always set.
type Plugins interface {
	Trigger(use ax.Use, zone *time.Location, seed uint64, calendars []*calendar.Calendar) Trigger
}

// Seed returns the number from which all is drawn that is random in a task: the
// same on every host and after every restart.
func Seed(task string) uint64 {
	sum := sha256.Sum256([]byte(task))
	return binary.BigEndian.Uint64(sum[:])
}

// source yields due times one by one.
type source interface {
	// next returns the first due time strictly after the given instant, or the
	// zero time if there is none any more. A plugin's may return errLater.
	next(after time.Time) (time.Time, error)
}

// errLater says: nothing up to the bound of the call, perhaps something later.
var errLater = errors.New("no due time up to the bound")

// collect asks src for what Trigger.Next promises.
func collect(src source, after, until time.Time, limit int) ([]time.Time, bool, error) {
	if limit <= 0 {
		return nil, false, nil
	}
	times := make([]time.Time, 0, min(limit, 64))
	for len(times) < limit {
		due, err := src.next(after)
		if errors.Is(err, errLater) {
			return times, false, nil
		}
		if err != nil {
			return times, false, err
		}
		if due.IsZero() {
			return times, true, nil
		}
		if beyond(due, until) {
			return times, false, nil
		}
		times = append(times, due)
		after = due
	}
	return times, false, nil
}

// beyond reports whether t is later than the bound, if there is one.
func beyond(t, until time.Time) bool { return !until.IsZero() && t.After(until) }

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
