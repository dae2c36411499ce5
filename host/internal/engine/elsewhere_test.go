package engine_test

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// move is what another host does to the newest instance of a task, of which this
// one hears nothing.
func (w *world) move(task string, change func(ax.Instance) ax.Instance) {
	w.t.Helper()
	old := w.newest(task)
	done := make(chan error, 1)
	w.store.Submit(ax.Change{
		Move: &ax.Move{From: old.Status, Fence: old.Fence, New: change(old)},
		Done: func(applied bool, err error) {
			if !applied {
				w.t.Errorf("%s is not moved from %s: %v", task, old.Status, err)
			}
			done <- err
		},
	})
	w.must(<-done)
}

// look does what a host does every few seconds: see what has become of attempts
// elsewhere.
func (w *world) look() {
	w.t.Helper()
	ids := w.engine.Unsure(10 * time.Second)
	rows, err := w.store.InstancesOf(w.t.Context(), ids)
	w.must(err)
	w.engine.Found(rows)
}

// TestARetryThatAnotherHostMakes: two hosts schedule a task for a moment. The one
// that stays finds what the other one has begun, and goes on when that fails,
// although no message tells of it.
func TestARetryThatAnotherHostMakes(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.open(w.task("a", fails(2), func(t *ax.Task) {
			t.Schedule.Every = time.Hour
			t.Retry = ax.Retry{Count: 2, Delays: []time.Duration{10 * time.Second}, On: []ax.Status{ax.StatusFailed}}
		}))
		due := time.Hour
		w.at(due + 9*time.Second)
		w.wantRows("a", "11:00:00 RETRYING")
		w.move("a", func(i ax.Instance) ax.Instance { return i.Claim("n2", "another", time.Now()) })
		w.at(due + 15*time.Second)
		w.move("a", func(i ax.Instance) ax.Instance {
			i.Status, i.EndedAt, i.RetryAt = ax.StatusRetrying, time.Now(), time.Now().Add(10*time.Second)
			return i
		})
		w.at(due + 30*time.Second)
		w.look()
		w.at(due + 40*time.Second)
		w.wantRows("a", "11:00:00 SUCCESS #3")
	})
}

// TestARetryThatNobodyKnows: an attempt that failed just when its host let go of the
// task is made by the one that has it now, once that finds the row.
func TestARetryThatNobodyKnows(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		task := w.task("a", fails(1), hourly)
		w.open(task)
		w.at(time.Minute)
		inst := ax.Instance{
			ID: 1, App: "test", TaskID: task.ID, TaskName: "a", ScheduledAt: time.Now(), Kind: ax.KindManual,
			Status: ax.StatusRunning, Attempt: 1, Fence: 1, Node: "n2", Owner: "another", CreatedAt: time.Now(), StartedAt: time.Now(),
		}
		done := make(chan error, 1)
		w.store.Submit(ax.Change{Insert: []ax.Instance{inst}, Done: func(_ bool, err error) { done <- err }})
		w.must(<-done)
		w.move("a", func(i ax.Instance) ax.Instance {
			i.Status, i.EndedAt, i.RetryAt = ax.StatusRetrying, time.Now(), time.Now().Add(time.Second)
			return i
		})
		find := func() {
			rows, err := w.store.RetriesDue(t.Context(), "test", time.Now(), 0, 10)
			w.must(err)
			w.engine.Handed(rows)
		}
		find()
		w.at(2 * time.Minute)
		w.wantRows("a", "10:01:00 RETRYING") // not before it is overdue
		find()
		find()
		w.at(2*time.Minute + time.Second)
		w.wantRows("a", "10:01:00 SUCCESS #2")
	})
}
