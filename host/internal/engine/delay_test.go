package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// after is the trigger of a fixed delay.
type after time.Duration

func (d after) Next(_ context.Context, t, _ time.Time, _ int) ([]time.Time, bool, error) {
	return []time.Time{t.Add(time.Duration(d))}, false, nil
}

func TestFixedDelayCountsFromTheEnd(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.local["a"] = after(time.Minute)
		task := w.task("a", takes(20*time.Second), func(t *ax.Task) {
			t.Schedule = ax.Schedule{Delay: time.Minute, Timezone: "UTC"}
		})
		w.open(task)
		w.at(3 * time.Minute)
		w.stop() // in the middle of the second delay: the due time is kept
		w.at(3*time.Minute + 10*time.Second)
		w.open(task)
		w.at(6 * time.Minute)
		if got, want := w.started("a"), []string{"10:01:00", "10:02:20", "10:03:40", "10:05:00"}; !slices.Equal(got, want) {
			t.Errorf("started %v, want %v", got, want)
		}
	})
}

func TestFixedDelayWaitsForRetriesAndGoesOnAfterAMiss(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.local["a"] = after(time.Minute)
		task := w.task("a", fails(1), func(t *ax.Task) {
			t.Schedule = ax.Schedule{Delay: time.Minute, Timezone: "UTC"}
			t.Retry = ax.Retry{Count: 1, Delays: []time.Duration{30 * time.Second}, On: []ax.Status{ax.StatusFailed}}
		})
		w.open(task)
		w.at(3*time.Minute + 10*time.Second)
		if got, want := w.started("a"), []string{"10:01:00", "10:01:30", "10:02:30", "10:03:00"}; !slices.Equal(got, want) {
			t.Errorf("attempts at %v, want %v", got, want)
		}
		w.stop()
		w.at(10 * time.Minute) // the due time of 10:04 is missed
		w.open(task)
		w.at(12*time.Minute + 10*time.Second)
		w.wantRows("a", "10:01:00 SUCCESS #2", "10:02:30 SUCCESS #2", "10:04:00 MISSED", "10:11:00 SUCCESS #2")
	})
}
