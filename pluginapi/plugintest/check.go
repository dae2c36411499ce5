package plugintest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// CheckTrigger asks a trigger at awkward instants of its zone - around the ends
// of years, leap days and changes of the clock, in ordinary and in leap years -
// and fails t where an answer breaks the contract of [pluginapi.Trigger]:
//
//   - each due time is after the instant asked for, in whole microseconds;
//   - every instant between two due times gets the later one as its answer;
//   - the same question gets the same answer, whatever the zone it is put in,
//     also from many goroutines at once, and from others, which are further
//     triggers made from the same settings;
//   - a batch is what single questions give.
//
// It works on a trigger itself as well as on one of a [Host].
func CheckTrigger(t testing.TB, trigger pluginapi.Trigger, zone *time.Location, others ...pluginapi.Trigger) {
	t.Helper()
	c := &check{t: t, trigger: trigger, others: others}
	instants := awkward(zone)
	for _, at := range instants {
		for _, offset := range []time.Duration{-time.Second, -time.Microsecond, 0, time.Microsecond, time.Second} {
			if c.at(at.Add(offset)); t.Failed() {
				return // one broken answer explains the rest
			}
		}
	}
	c.together(instants)
}

// awkward lists instants at which calendars and clocks do something special.
func awkward(zone *time.Location) []time.Time {
	var list []time.Time
	for _, year := range []int{2024, 2025, 2026, 2100} {
		for _, day := range []struct {
			month time.Month
			day   int
		}{{1, 1}, {2, 28}, {2, 29}, {3, 1}, {4, 30}, {12, 31}} {
			list = append(list, time.Date(year, day.month, day.day, 0, 0, 0, 0, zone))
		}
		end := time.Date(year+1, 1, 1, 0, 0, 0, 0, zone)
		for at := time.Date(year, 1, 1, 0, 0, 0, 0, zone); ; {
			_, at = at.ZoneBounds() // the next change of the clock
			if at.IsZero() || !at.Before(end) {
				break
			}
			list = append(list, at)
		}
	}
	return list
}

type check struct {
	t       testing.TB
	trigger pluginapi.Trigger
	others  []pluginapi.Trigger
}

// next asks once; ok is false if the answer is an error.
func (c *check) next(trigger pluginapi.Trigger, after time.Time) (next time.Time, ok bool) {
	c.t.Helper()
	next, err := trigger.Next(c.t.Context(), after)
	if err != nil {
		c.t.Errorf("Next(%s): %v", text(after), err)
	}
	return next, err == nil
}

// at checks all answers about one instant.
func (c *check) at(after time.Time) {
	c.t.Helper()
	first, ok := c.next(c.trigger, after)
	if !ok {
		return
	}
	c.same(after, first)
	if first.IsZero() {
		return
	}
	switch {
	case !first.After(after):
		c.t.Errorf("Next(%s) = %s, which is not after it", text(after), text(first))
	case first.Nanosecond()%1000 != 0:
		c.t.Errorf("Next(%s) = %s, which is not in whole microseconds", text(after), text(first))
	default:
		c.between(after, first)
		c.batch(after)
	}
}

// same checks that the answer does not depend on who asks, when or where.
func (c *check) same(after, want time.Time) {
	c.t.Helper()
	for _, question := range []time.Time{after, after.UTC()} {
		for i, trigger := range append([]pluginapi.Trigger{c.trigger}, c.others...) {
			again, ok := c.next(trigger, question)
			if ok && !again.Equal(want) {
				who := "asked again"
				if i > 0 {
					who = fmt.Sprintf("another trigger with the same settings (%d)", i)
				}
				c.t.Errorf("Next(%s) = %s, but %s gave %s", text(question), text(want), who, text(again))
			}
		}
	}
}

// between checks that no due time is left out between after and first.
func (c *check) between(after, first time.Time) {
	c.t.Helper()
	gap := first.Sub(after)
	for _, at := range []time.Time{after.Add(gap / 3).Truncate(time.Microsecond), first.Add(-time.Microsecond)} {
		if !at.After(after) {
			continue
		}
		next, ok := c.next(c.trigger, at)
		if ok && !next.Equal(first) {
			c.t.Errorf("Next(%s) = %s, but Next(%s), which lies between, = %s",
				text(after), text(first), text(at), text(next))
		}
	}
}

// batch compares batches with single questions.
func (c *check) batch(after time.Time) {
	c.t.Helper()
	batcher, ok := c.trigger.(pluginapi.BatchTrigger)
	if !ok {
		return
	}
	const n = 8
	var singles []time.Time
	for at := after; len(singles) < n; {
		next, ok := c.next(c.trigger, at)
		if !ok || next.IsZero() || !next.After(at) {
			break
		}
		singles = append(singles, next)
		at = next
	}
	for i, last := range singles {
		if i > 1 && i < len(singles)-1 {
			continue // the ends are enough
		}
		c.compare(batcher, after, last, n, singles[:i+1])
		c.compare(batcher, after, last.Add(-time.Microsecond), n, singles[:i])
		c.compare(batcher, after, last.Add(time.Hour), i+1, singles[:i+1])
	}
}

func (c *check) compare(batcher pluginapi.BatchTrigger, after, until time.Time, n int, want []time.Time) {
	c.t.Helper()
	got, err := batcher.NextBatch(c.t.Context(), after, until, n)
	if err != nil {
		c.t.Errorf("NextBatch(%s, %s, %d): %v", text(after), text(until), n, err)
		return
	}
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		c.t.Errorf("NextBatch(%s, %s, %d) = %v, but single questions give %v", text(after), text(until), n, got, want)
	}
}

// together asks from many goroutines at once.
func (c *check) together(instants []time.Time) {
	c.t.Helper()
	if c.t.Failed() {
		return
	}
	want := make([]time.Time, len(instants))
	for i, at := range instants {
		want[i], _ = c.next(c.trigger, at)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, at := range instants {
				got, ok := c.next(c.trigger, at)
				if ok && !got.Equal(want[i]) {
					c.t.Errorf("Next(%s) = %s alone, but %s among other calls", text(at), text(want[i]), text(got))
				}
			}
		})
	}
	wg.Wait()
}

// text writes an instant, the zero time as "never".
func text(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.RFC3339Nano)
}
