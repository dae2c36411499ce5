package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
)

// behind lets a task start by hand while another one of the same plugin has the
// only worker for ten minutes, and returns its instance. The executor believes
// that its turn comes at once.
func behind(t *testing.T, f func(t *testing.T, w *world, id ax.InstanceID)) {
	t.Helper()
	story(t, func(t *testing.T, w *world) {
		w.workers = 1
		one := func(t *ax.Task) { t.Job.Name = "one" }
		w.open(w.task("hog", takes(10*time.Minute), hourly, one), w.task("next", takes(time.Second), hourly, one))
		ctx := context.Background()
		_, err := w.engine.RunNow(ctx, engine.Manual{Task: "hog", By: "test"})
		w.must(err)
		w.at(time.Second)
		id, err := w.engine.RunNow(ctx, engine.Manual{Task: "next", By: "test"})
		w.must(err)
		f(t, w, id)
	})
}

// TestAClaimThatWaitsTooLongIsGivenBack: a row says RUNNING only of what runs.
func TestAClaimThatWaitsTooLongIsGivenBack(t *testing.T) {
	t.Parallel()
	behind(t, func(t *testing.T, w *world, id ax.InstanceID) {
		w.at(5 * time.Second)
		inst, err := w.store.Instance(context.Background(), id)
		w.must(err)
		if inst.Status != ax.StatusDispatched || inst.Attempt != 0 || !inst.StartedAt.IsZero() {
			t.Errorf("it waits as %s, attempt %d, started %s", inst.Status, inst.Attempt, inst.StartedAt)
		}
		w.at(11 * time.Minute)
		w.wantRows("next", "10:00:01 SUCCESS")
		if got, want := w.started("next"), []string{"10:10:00"}; !slices.Equal(got, want) {
			t.Errorf("started %v, want %v", got, want)
		}
	})
}

func TestAClaimThatWaitsIsCanceled(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"claimed": time.Second, "given back": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind(t, func(t *testing.T, w *world, id ax.InstanceID) {
				w.at(after)
				inst, err := w.store.Instance(context.Background(), id)
				w.must(err)
				w.must(w.engine.Cancel(inst, "test"))
				w.at(10 * time.Second)
				w.wantRows("next", "10:00:01 CANCELED")
				w.at(11 * time.Minute)
				if got := w.started("next"); len(got) > 0 {
					t.Errorf("started %v", got)
				}
			})
		})
	}
}

// TestAClaimThatWaitsSurvivesTheEnd: a host that stops leaves what waits to its
// next life.
func TestAClaimThatWaitsSurvivesTheEnd(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"claimed": time.Second, "given back": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind(t, func(t *testing.T, w *world, _ ax.InstanceID) {
				w.at(after)
				w.stop()
				w.open(w.task("next", takes(time.Second), hourly))
				w.at(time.Minute)
				w.wantRows("next", "10:00:01 SUCCESS")
			})
		})
	}
}
