package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// TestARunThatCannotBeginWaits: without its plugin a run is neither lost nor one
// attempt the fewer, however many times it is tried.
func TestARunThatCannotBeginWaits(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		var there, known atomic.Bool
		there.Store(true)
		known.Store(true)
		job := jobFunc(func(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome {
			if !there.Load() {
				return ax.Outcome{Status: ax.StatusLost, Error: "no plugin offers it", NotBegun: true}
			}
			return takes(0)(ctx, req, sink)
		})
		w.ready = func(string) error {
			if !known.Load() {
				return errors.New("no plugin offers it")
			}
			return nil
		}
		w.open(w.task("a", job, func(t *ax.Task) { t.Overlap, t.QueueLimit = ax.OverlapQueue, 5 }))
		w.at(30 * time.Second)
		there.Store(false) // and the host has not noticed yet
		w.at(62 * time.Second)
		w.wantRows("a", "10:01:00 TRIGGERED")
		known.Store(false)
		w.engine.Recheck()
		w.at(3*time.Minute + 30*time.Second)
		w.wantRows("a", "10:01:00 TRIGGERED")
		there.Store(true)
		known.Store(true)
		w.engine.Recheck()
		w.at(3*time.Minute + 31*time.Second)
		w.wantRows("a", "10:01:00 SUCCESS", "10:02:00 MISSED", "10:03:00 SUCCESS")
	})
}
