package engine

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/wheel"
)

// TestWakeIsAlwaysToCome: a task that were armed for an instant that is over
// would be brought up again and again within one round of the wheel, which never
// ended.
func TestWakeIsAlwaysToCome(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 400, time.UTC)
	for name, change := range map[string]func(*task){
		"a fetch is due while a change is under way": func(t *task) { t.fetchAt, t.pending = now.Add(-time.Second), true },
		"a fetch is due while one is under way":      func(t *task) { t.fetchAt, t.fetching = now, true },
		"another try is due":                         func(t *task) { t.tryAt = now },
		"a pause is over":                            func(t *task) { t.st.Paused, t.st.PausedUntil = true, now },
		"a callback is late":                         func(t *task) { t.deferred = []ax.Instance{{DeadlineAt: now}} },
		"a retry is due":                             func(t *task) { t.retries = []ax.Instance{{RetryAt: now}} },
		"a due time has come":                        func(t *task) { t.st.NextAt = now },
		"less than a microsecond is left":            func(t *task) { t.tryAt = now.Add(200 * time.Nanosecond) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &Engine{wheel: wheel.New[*task](now)}
			tk := &task{def: &ax.Task{Enabled: true}}
			change(tk)
			visits := 0
			e.arm(tk, now)
			e.wheel.Advance(now, func(at time.Time, tk *task) {
				if visits++; visits > 3 {
					t.Fatal("brought up again and again in one round")
				}
				tk.armed = time.Time{}
				e.arm(tk, now)
			})
			if visits > 0 {
				t.Errorf("brought up %d times at the instant at which it was armed", visits)
			}
		})
	}
}
