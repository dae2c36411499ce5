package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
)

// days returns due times at noon of n days before the story.
func days(n int) []time.Time {
	var times []time.Time
	for i := range n {
		times = append(times, start.Add(2*time.Hour).AddDate(0, 0, i-n))
	}
	return times
}

// count returns how many instances of a kind a task has in each status.
func (w *world) count(task string, kind ax.Kind) map[ax.Status]int {
	w.t.Helper()
	list, err := w.store.Instances(context.Background(), ax.InstanceFilter{App: "test", Task: task, Limit: 10_000})
	w.must(err)
	n := map[ax.Status]int{}
	for _, i := range list {
		if i.Kind == kind {
			n[i.Status]++
		}
	}
	return n
}

func TestBackfillRunsInOrderWithinItsLimit(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.open(w.task("a", takes(10*time.Second), hourly, func(t *ax.Task) { t.Concurrency = 4 }))
		w.at(time.Second)
		times := days(7)
		n, err := w.engine.Backfill(t.Context(), engine.Backfill{Task: "a", Times: times, Limit: 2, By: "test"})
		if n != 7 || err != nil {
			t.Fatalf("Backfill: %d, %v", n, err)
		}
		n, err = w.engine.Backfill(t.Context(), engine.Backfill{Task: "a", Times: times[:3], Limit: 2, By: "test"})
		if n != 0 || err != nil {
			t.Errorf("the same due times again: %d new, %v; want none", n, err)
		}
		w.at(5 * time.Minute)
		if got := w.count("a", ax.KindBackfill); got[ax.StatusSuccess] != 7 {
			t.Errorf("after five minutes: %v", got)
		}
		if w.most["a"] != 2 {
			t.Errorf("%d at once, want 2", w.most["a"])
		}
		list, err := w.store.Instances(t.Context(), ax.InstanceFilter{App: "test", Task: "a", Kinds: []ax.Kind{ax.KindBackfill}})
		w.must(err)
		slices.SortFunc(list, func(a, b ax.Instance) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
		for i, row := range list {
			if want := start.Add(time.Second + time.Duration(i/2)*10*time.Second); !row.ScheduledAt.Equal(times[i]) || !row.StartedAt.Equal(want) {
				t.Errorf("due time %d: %s started at %s, want %s at %s", i, row.ScheduledAt, row.StartedAt, times[i], want)
			}
		}
		if _, err := w.engine.Backfill(t.Context(), engine.Backfill{Task: "b"}); !errors.Is(err, engine.ErrUnknownTask) {
			t.Errorf("unknown task: %v", err)
		}
	})
}

func TestBackfillCostsNoDueTimeAndSurvivesARestart(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		task := w.task("a", takes(25*time.Second))
		w.open(task)
		w.at(50 * time.Second)
		_, err := w.engine.Backfill(t.Context(), engine.Backfill{Task: "a", Times: days(5), Limit: 1, By: "test"})
		w.must(err)
		w.at(70 * time.Second)
		w.stop()
		w.at(75 * time.Second)
		w.open(task)
		w.at(6*time.Minute + 50*time.Second)
		if got := w.count("a", ax.KindBackfill); got[ax.StatusSuccess]+got[ax.StatusLost] != 5 {
			t.Errorf("backfill: %v", got)
		}
		if got := w.count("a", ax.KindScheduled); got[ax.StatusSuccess] < 5 || got[ax.StatusSkipped] > 0 || got[ax.StatusMissed] > 0 {
			t.Errorf("scheduled: %v; none may be lost to the backfill", got)
		}
		if w.most["a"] != 1 {
			t.Errorf("%d at once, want 1", w.most["a"])
		}
	})
}

func TestCancelBackfillEndsWhatWaits(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.open(w.task("a", takes(time.Minute), hourly))
		w.at(time.Second)
		times := days(6)
		_, err := w.engine.Backfill(t.Context(), engine.Backfill{Task: "a", Times: times, Limit: 1, By: "test"})
		w.must(err)
		w.at(10 * time.Second)
		n, err := w.engine.CancelBackfill("a", times[3], times[5], "eve")
		if n != 2 || err != nil {
			t.Errorf("canceled %d, %v; want the two within the bounds", n, err)
		}
		w.at(90 * time.Second)
		if n, err = w.engine.CancelBackfill("a", time.Time{}, time.Time{}, "eve"); n != 2 || err != nil {
			t.Errorf("canceled %d, %v; want the two that are left", n, err)
		}
		w.at(5 * time.Minute)
		if got := w.count("a", ax.KindBackfill); got[ax.StatusSuccess] != 2 || got[ax.StatusCanceled] != 4 {
			t.Errorf("in the end: %v, want 2 that ran and 4 that were canceled", got)
		}
		if n, err = w.engine.CancelBackfill("a", time.Time{}, time.Time{}, "eve"); n != 0 || err != nil {
			t.Errorf("canceled %d, %v; want none", n, err)
		}
		if _, err := w.engine.CancelBackfill("b", time.Time{}, time.Time{}, "eve"); !errors.Is(err, engine.ErrUnknownTask) {
			t.Errorf("unknown task: %v", err)
		}
		w.engine.StopFiring()
		if _, err := w.engine.Backfill(t.Context(), engine.Backfill{Task: "a", Times: days(9)}); !errors.Is(err, engine.ErrStopping) {
			t.Errorf("while the host stops: %v", err)
		}
	})
}

func TestBackfillGivenUpRecordsNoMore(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.open(w.task("a", takes(0), hourly))
		w.at(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if n, err := w.engine.Backfill(ctx, engine.Backfill{Task: "a", Times: days(5)}); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("recorded %d, %v", n, err)
		}
	})
}
