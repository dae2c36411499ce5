package engine_test

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// A due time that was put off to the next one must not wait for ever if there is
// none: it starts as soon as there is a place.
func TestDeferredWithoutANextDueTime(t *testing.T) {
	t.Parallel()
	put := func(t *ax.Task) { t.Overlap = ax.OverlapDefer }
	tests := map[string]struct {
		schedule func(*ax.Task)
		between  func(w *world, task ax.Task)
	}{
		"the schedule ends": {schedule: func(t *ax.Task) { t.Schedule.Until = start.Add(2*time.Minute + time.Second) }},
		"the task is disabled": {between: func(w *world, task ax.Task) {
			task.Enabled = false
			w.engine.Apply(w.entries([]ax.Task{task}))
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, func(t *testing.T, w *world) {
				if tt.schedule == nil {
					tt.schedule = func(*ax.Task) {}
				}
				task := w.task("a", takes(90*time.Second), put, tt.schedule)
				w.open(task)
				w.at(2*time.Minute + 10*time.Second)
				w.wantRows("a", "10:01:00 RUNNING", "10:02:00 TRIGGERED")
				if tt.between != nil {
					tt.between(w, task)
				}
				w.at(5 * time.Minute)
				w.wantRows("a", "10:01:00 SUCCESS", "10:02:00 SUCCESS")
			})
		})
	}
}
