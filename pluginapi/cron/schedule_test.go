package cron_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/cron"
)

// TestAnswersAllocateNothing runs alone, as it counts the allocations of the
// whole process.
func TestAnswersAllocateNothing(t *testing.T) {
	for _, c := range benchmarked {
		for _, zone := range []string{"UTC", "America/New_York"} {
			s := mustParse(t, c.expr, zone)
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, s.Location())
			back := at
			if n := testing.AllocsPerRun(1000, func() {
				at = s.Next(at)
				back = s.Prev(back)
			}); n != 0 {
				t.Errorf("%s in %s: %v allocations", c.expr, zone, n)
			}
		}
	}
}

// TestNeverIsQuick bounds the search: a millisecond, in the fastest of some
// tries, as the machine may be busy.
func TestNeverIsQuick(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{
		"0 0 0 30 2 ?",
		"0 0 0 31 2,4,6,9,11 ?",
		"0 0 0 29 2 ? 2025-2027",
		"0 0 0 ? 2 5#5 2053-2079",
		"0 0 0 L-30 2 ?",
		"0 0 30 2 *",
		"* * * 30W 2 ? */2",
		"0 */5 2 8 3 ? 2026", // exists on calendars, but not in New York
	} {
		s := mustParse(t, expr, "America/New_York")
		if !s.Never() {
			t.Errorf("%q fires at %s", expr, s.Next(time.Time{}))
		}
		quickest := time.Hour
		for range 20 {
			start := time.Now()
			next, prev := s.Next(time.Time{}), s.Prev(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
			quickest = min(quickest, time.Since(start)/2)
			if !next.IsZero() || !prev.IsZero() {
				t.Fatalf("%q: Next %s, Prev %s; want never", expr, next, prev)
			}
		}
		if quickest > time.Millisecond {
			t.Errorf("%q needs %s to find out that it never fires", expr, quickest)
		}
	}
	if s := mustParse(t, "0 0 0 29 2 ?", "UTC"); s.Never() {
		t.Errorf("%s never fires", s)
	}
}

// TestEnds asks at and beyond the ends of the calendar.
func TestEnds(t *testing.T) {
	t.Parallel()
	day := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	endOfTime := time.Unix(1<<62, 0)
	for _, c := range []struct {
		expr        string
		first, last time.Time
	}{
		{"0 0 * * *", day(1601, 1, 1), day(2126, 12, 31)},
		{"0 0 0 29 2 ?", day(1604, 2, 29), day(2124, 2, 29)},
		{"0 0 0 1 1 ? *", day(1601, 1, 1), day(2126, 1, 1)},
		{"0 0 0 1 1 ? */1", day(1970, 1, 1), day(2199, 1, 1)},
		{"* * * 31 12 ? 2199", day(2199, 12, 31), time.Date(2199, 12, 31, 23, 59, 59, 0, time.UTC)},
		{"0 0 0 1 1 ? 2030", day(2030, 1, 1), day(2030, 1, 1)},
	} {
		s := mustParse(t, c.expr, "UTC")
		for _, early := range []time.Time{{}, day(-5_000_000, 1, 1), time.Unix(-1<<62, 0), time.Unix(-1<<63, 0), c.first.Add(-time.Nanosecond)} {
			if got := s.Next(early); !got.Equal(c.first) {
				t.Errorf("%s: Next(%s) = %s, want %s", s, early, got, c.first)
			}
			if got := s.Prev(early); !got.IsZero() {
				t.Errorf("%s: Prev(%s) = %s, want never", s, early, got)
			}
		}
		for _, late := range []time.Time{day(2300, 1, 1), day(5_000_000, 1, 1), endOfTime, c.last.Add(time.Nanosecond)} {
			if got := s.Prev(late); !got.Equal(c.last) {
				t.Errorf("%s: Prev(%s) = %s, want %s", s, late, got, c.last)
			}
			if got := s.Next(late); !got.IsZero() {
				t.Errorf("%s: Next(%s) = %s, want never", s, late, got)
			}
		}
		if got := s.Next(c.last); !got.IsZero() {
			t.Errorf("%s: Next(%s) = %s, want never", s, c.last, got)
		}
		if got := s.Prev(c.first); !got.IsZero() {
			t.Errorf("%s: Prev(%s) = %s, want never", s, c.first, got)
		}
	}
}

// TestConcurrentUse runs into the race detector if schedules share state.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	const steps = 2000
	results := make([]time.Time, 4)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			s, err := cron.Parse("CRON_TZ=Africa/Casablanca 0 30 2 ? * MON-FRI", cron.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for range steps {
				at = s.Next(at)
			}
			results[i] = at
		})
	}
	all.Wait()
	if slices.ContainsFunc(results, func(r time.Time) bool { return !r.Equal(results[0]) }) {
		t.Errorf("results differ: %v", results)
	}
}
