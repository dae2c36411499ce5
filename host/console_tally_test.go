package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TestTally: hours that are over and settled are counted once, those with
// something under way again, and nobody waits for a count twice.
func TestTally(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(30 * time.Minute) // the bubble begins at a full hour
		asked := map[time.Time]int{}
		busy := time.Now().Truncate(time.Hour).Add(-5 * time.Hour)
		ta := &tally{
			app: func() string { return "a" }, failed: func(err error) { t.Error(err) }, settled: map[time.Time]bool{},
			count: func(_ context.Context, _ string, from, to time.Time) (map[ax.Status]int64, error) {
				if to.Sub(from) != time.Hour {
					t.Errorf("%s to %s is no hour", from, to)
				}
				asked[from]++
				if from.Equal(busy) {
					return map[ax.Status]int64{ax.StatusRunning: 1}, nil
				}
				return map[ax.Status]int64{ax.StatusSuccess: 1}, nil
			},
		}
		hours, at := ta.hours(t.Context())
		if len(hours) != 24 || !at.Equal(time.Now()) || len(asked) != 24 {
			t.Fatalf("%d hours as of %s, %d counted", len(hours), at, len(asked))
		}
		if first, last := hours[0].From, hours[23].From; last.Sub(first) != 23*time.Hour || time.Since(last) > time.Hour {
			t.Errorf("from %s to %s", first, last)
		}
		ta.hours(t.Context()) // fresh: nothing is counted
		time.Sleep(tallyFresh)
		ta.hours(t.Context()) // old: what is there is shown, and counted anew behind it
		synctest.Wait()
		for from, n := range asked {
			want := 1
			if from.Equal(busy) || time.Since(from) < time.Hour {
				want = 2
			}
			if n != want {
				t.Errorf("%s was counted %d times, want %d", from, n, want)
			}
		}
	})
}
