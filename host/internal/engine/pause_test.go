package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/store"
)

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		w.open(w.task("a", takes(0)), w.task("b", takes(0)))
		w.at(90 * time.Second)
		w.must(w.engine.Pause(ctx, "a", time.Time{}, "test"))
		w.must(w.engine.Pause(ctx, "b", start.Add(3*time.Minute+30*time.Second), "test"))
		w.at(3*time.Minute + 10*time.Second)
		w.must(w.engine.Resume(ctx, "a", "test"))
		w.at(4*time.Minute + 10*time.Second)
		w.wantRows("a", "10:01:00 SUCCESS", "10:04:00 SUCCESS")
		w.wantRows("b", "10:01:00 SUCCESS", "10:04:00 SUCCESS")
		if err := w.engine.Pause(ctx, "c", time.Time{}, "test"); !errors.Is(err, engine.ErrUnknownTask) {
			t.Errorf("pausing an unknown task: %v", err)
		}
	})
}

// TestAPauseHoldsFromItsCallOn pauses and resumes with a slow database: what the
// audit trail calls the pause is what has no rows, to the instant.
func TestAPauseHoldsFromItsCallOn(t *testing.T) {
	t.Parallel()
	every := func(t *ax.Task) { t.Schedule.Every, t.Overlap, t.QueueLimit = time.Second, ax.OverlapQueue, 10 }
	story(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		w.slow = 2500 * time.Millisecond
		w.open(w.task("a", takes(0), every), w.task("b", takes(0), every))
		w.at(3500 * time.Millisecond)
		w.must(w.engine.Pause(ctx, "a", time.Time{}, "test"))
		w.at(8200 * time.Millisecond)
		w.must(w.engine.Resume(ctx, "a", "test"))
		w.at(11*time.Second + 100*time.Millisecond)
		w.wantRows("a", "10:00:01 SUCCESS", "10:00:02 SUCCESS", "10:00:03 SUCCESS",
			"10:00:09 SUCCESS", "10:00:10 SUCCESS", "10:00:11 SUCCESS")
		w.wantPauses("a", "10:00:03.5 task.pause", "10:00:08.2 task.resume")

		w.must(w.engine.Pause(ctx, "b", start.Add(15*time.Second), "test"))
		w.at(20*time.Second + 100*time.Millisecond)
		w.wantPauses("b", "10:00:11.1 task.pause", "10:00:15 task.resume")
		if got := w.rows("b"); !slices.Equal(got[11:], []string{
			"10:00:15 SUCCESS", "10:00:16 SUCCESS", "10:00:17 SUCCESS", "10:00:18 SUCCESS", "10:00:19 SUCCESS", "10:00:20 SUCCESS",
		}) {
			t.Errorf("b: rows %q", got)
		}
	})
}

// TestAPauseByAnotherHost reads of a pause and of its end some time after they
// were: what was due outside the pause has a row, what was due in it has none.
func TestAPauseByAnotherHost(t *testing.T) {
	t.Parallel()
	every := func(t *ax.Task) { t.Schedule.Every, t.Overlap, t.QueueLimit = time.Second, ax.OverlapQueue, 10 }
	elsewhere := func(w *world, at time.Duration, paused bool) {
		w.must(w.store.SetPaused(context.Background(), store.PauseParams{
			Task: ax.NewTaskID("test", "a"), Paused: paused, Actor: "test", Now: start.Add(at),
		}))
	}
	t.Run("that tells the owner later", func(t *testing.T) {
		t.Parallel()
		story(t, func(t *testing.T, w *world) {
			w.open(w.task("a", takes(0), every))
			w.at(2500 * time.Millisecond)
			elsewhere(w, 2500*time.Millisecond, true)
			w.engine.Reread([]ax.TaskID{ax.NewTaskID("test", "a")})
			w.at(5500 * time.Millisecond)
			elsewhere(w, 5500*time.Millisecond, false)
			w.at(7500 * time.Millisecond)
			w.engine.Reread([]ax.TaskID{ax.NewTaskID("test", "a")})
			w.at(8500 * time.Millisecond)
			w.wantRows("a", "10:00:01 SUCCESS", "10:00:02 SUCCESS", "10:00:06 SUCCESS", "10:00:07 SUCCESS", "10:00:08 SUCCESS")
		})
	})
	t.Run("while nobody schedules it", func(t *testing.T) {
		t.Parallel()
		story(t, func(t *testing.T, w *world) {
			w.open(w.task("a", takes(0), every))
			w.at(2500 * time.Millisecond)
			w.engine.Share(func(*ax.Task) bool { return false })
			w.at(5500 * time.Millisecond)
			elsewhere(w, 5500*time.Millisecond, true)
			w.at(8500 * time.Millisecond)
			gained := w.engine.Share(all)
			taken, err := plans{w.store, 0}.LoadState(context.Background(), gained[0])
			w.must(err)
			w.engine.Take([]engine.Taken{taken})
			w.at(9500 * time.Millisecond)
			w.wantRows("a", "10:00:01 SUCCESS", "10:00:02 SUCCESS", "10:00:03 MISSED x3")
		})
	})
}

// wantPauses compares what the audit trail tells of the pauses of a task.
func (w *world) wantPauses(task string, want ...string) {
	w.t.Helper()
	rows, err := w.store.AuditTrail(context.Background(), ax.AuditFilter{App: "test", Object: task, Limit: 100})
	w.must(err)
	var got []string
	for _, r := range slices.Backward(rows) {
		if r.Action == "task.pause" || r.Action == "task.resume" {
			got = append(got, r.At.UTC().Format("15:04:05.999999 ")+r.Action)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: audit trail %q, want %q", task, got, want)
	}
}
