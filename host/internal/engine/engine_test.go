package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/executor"
	"github.com/axsched/ax/pluginapi"
)

func TestRunsEveryDueTimeOnTime(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.open(w.task("a", takes(time.Second)))
		w.at(3*time.Minute + 30*time.Second)
		w.wantRows("a", "10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SUCCESS")
		if got, want := w.started("a"), []string{"10:01:00", "10:02:00", "10:03:00"}; !slices.Equal(got, want) {
			t.Errorf("started %v, want %v", got, want)
		}
		events, err := w.store.Events(context.Background(), ax.EventFilter{Instance: w.newest("a").ID})
		w.must(err)
		var stages []ax.Stage
		for _, e := range events {
			stages = append(stages, e.Stage)
		}
		if want := []ax.Stage{ax.StageTriggerReady, ax.StageClaimed, ax.StageOutcome}; !slices.Equal(stages, want) {
			t.Errorf("events %v, want %v", stages, want)
		}
	})
}

func (w *world) newest(task string) ax.Instance {
	w.t.Helper()
	list, err := w.store.Instances(context.Background(), ax.InstanceFilter{App: "test", Task: task, Limit: 1})
	w.must(err)
	if len(list) == 0 {
		w.t.Fatalf("%s has no instance", task)
	}
	return list[0]
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	overlap := func(o ax.Overlap, limit int) func(*ax.Task) {
		return func(t *ax.Task) { t.Overlap, t.QueueLimit = o, limit }
	}
	tests := []struct {
		name   string
		change func(*ax.Task)
		takes  time.Duration
		want   []string // after 10:05:30
		starts []string
		most   int
	}{
		{
			"skip", overlap(ax.OverlapSkip, 0), 90 * time.Second,
			[]string{"10:01:00 SUCCESS", "10:02:00 SKIPPED", "10:03:00 SUCCESS", "10:04:00 SKIPPED", "10:05:00 RUNNING"},
			[]string{"10:01:00", "10:03:00", "10:05:00"}, 1,
		},
		{
			"queue starts at once when there is a place", overlap(ax.OverlapQueue, 2), 90 * time.Second,
			[]string{"10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SUCCESS", "10:04:00 RUNNING", "10:05:00 TRIGGERED"},
			[]string{"10:01:00", "10:02:30", "10:04:00", "10:05:30"}, 1,
		},
		{
			"queue is bounded", overlap(ax.OverlapQueue, 1), 10 * time.Minute,
			[]string{"10:01:00 RUNNING", "10:02:00 TRIGGERED", "10:03:00 SKIPPED", "10:04:00 SKIPPED", "10:05:00 SKIPPED"},
			[]string{"10:01:00"}, 1,
		},
		{
			"defer waits for the next round", overlap(ax.OverlapDefer, 0), 61 * time.Second,
			[]string{"10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SKIPPED", "10:04:00 RUNNING", "10:05:00 TRIGGERED"},
			[]string{"10:01:00", "10:03:00", "10:05:00"}, 1,
		},
		{
			"replace", overlap(ax.OverlapReplace, 0), 90 * time.Second,
			[]string{"10:01:00 CANCELED", "10:02:00 CANCELED", "10:03:00 CANCELED", "10:04:00 CANCELED", "10:05:00 RUNNING"},
			[]string{"10:01:00", "10:02:00", "10:03:00", "10:04:00", "10:05:00"}, 1,
		},
		{
			"allow", overlap(ax.OverlapAllow, 0), 150 * time.Second,
			[]string{"10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SUCCESS", "10:04:00 RUNNING", "10:05:00 RUNNING"},
			[]string{"10:01:00", "10:02:00", "10:03:00", "10:04:00", "10:05:00"}, 3,
		},
		{
			"two at once", func(t *ax.Task) { t.Concurrency = 2 }, 150 * time.Second,
			[]string{"10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SKIPPED", "10:04:00 RUNNING", "10:05:00 RUNNING"},
			[]string{"10:01:00", "10:02:00", "10:04:00", "10:05:00"}, 2,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			story(t, func(t *testing.T, w *world) {
				w.open(w.task("a", takes(tt.takes), tt.change))
				w.at(5*time.Minute + 30*time.Second)
				w.wantRows("a", tt.want...)
				if got := w.started("a"); !slices.Equal(got, tt.starts) {
					t.Errorf("started %v, want %v", got, tt.starts)
				}
				if w.most["a"] != tt.most {
					t.Errorf("%d at once, want %d", w.most["a"], tt.most)
				}
			})
		})
	}
}

// fails is a job that fails its first n attempts.
func fails(n int) jobFunc {
	return func(_ context.Context, req ax.RunRequest, _ func(ax.Output)) ax.Outcome {
		if req.Attempt <= n {
			return ax.Outcome{Status: ax.StatusFailed, Error: "not yet"}
		}
		return ax.Outcome{Status: ax.StatusSuccess}
	}
}

func hourly(t *ax.Task) { t.Schedule.Every = time.Hour }

func TestRetries(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		policy := func(t *ax.Task) { hourly(t); t.Retry = ax.DefaultRetry() }
		w.open(w.task("third", fails(2), policy), w.task("never", fails(9), policy))
		w.at(time.Hour + 30*time.Second)
		w.wantRows("third", "11:00:00 RETRYING")
		w.at(time.Hour + 90*time.Second)
		w.wantRows("third", "11:00:00 RETRYING #2")
		w.at(time.Hour + 10*time.Minute)
		w.wantRows("third", "11:00:00 SUCCESS #3")
		w.wantRows("never", "11:00:00 FAILED #3")
		if got, want := w.started("third"), []string{"11:00:00", "11:01:00", "11:06:00"}; !slices.Equal(got, want) {
			t.Errorf("attempts at %v, want %v", got, want)
		}
	})
}

func TestRetriesSurviveARestart(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		task := w.task("a", fails(1), hourly, func(t *ax.Task) { t.Retry = ax.DefaultRetry() })
		w.open(task)
		w.at(time.Hour + 10*time.Second)
		w.stop()
		w.at(time.Hour + 20*time.Second)
		w.open(task)
		w.at(time.Hour + 2*time.Minute)
		w.wantRows("a", "11:00:00 SUCCESS #2")
		if got, want := w.started("a"), []string{"11:00:00", "11:01:00"}; !slices.Equal(got, want) {
			t.Errorf("attempts at %v, want %v", got, want)
		}
	})
}

func TestTimeoutStopsAJob(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		job := func(ctx context.Context, _ ax.RunRequest, _ func(ax.Output)) ax.Outcome {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), pluginapi.ErrTimeout) {
				t.Errorf("stopped by %v", context.Cause(ctx))
			}
			return ax.Outcome{Status: ax.StatusTimeout, Error: "too slow"}
		}
		w.open(w.task("a", job, hourly, func(t *ax.Task) { t.Timeout = 20 * time.Second }))
		w.at(time.Hour + 19*time.Second)
		w.wantRows("a", "11:00:00 RUNNING")
		w.at(time.Hour + 21*time.Second)
		w.wantRows("a", "11:00:00 TIMEOUT")
	})
}

func TestMisfire(t *testing.T) {
	t.Parallel()
	misfire := func(p ax.MisfirePolicy, window time.Duration, limit int) func(*ax.Task) {
		return func(t *ax.Task) {
			t.Misfire = ax.Misfire{Policy: p, Threshold: time.Minute, Window: window, Cap: limit}
		}
	}
	// The host is down from 10:01:30 to 10:06:30, so 10:02 to 10:06 are late; the
	// last one by less than the threshold.
	tests := []struct {
		name   string
		change func(*ax.Task)
		want   []string
		starts []string
	}{
		{
			"skip", misfire(ax.MisfireSkip, 0, 0),
			[]string{"10:01:00 SUCCESS", "10:02:00 MISSED x4", "10:06:00 SUCCESS", "10:07:00 SUCCESS"},
			[]string{"10:01:00", "10:06:30", "10:07:00"},
		},
		{
			"once", misfire(ax.MisfireOnce, 0, 0),
			[]string{"10:01:00 SUCCESS", "10:02:00 MISSED x4", "10:06:00 SUCCESS", "10:07:00 SUCCESS"},
			[]string{"10:01:00", "10:06:30", "10:07:00"},
		},
		{
			"all, one after the other", misfire(ax.MisfireAll, 0, 0),
			[]string{"10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SUCCESS", "10:04:00 SUCCESS", "10:05:00 SUCCESS", "10:06:00 SUCCESS", "10:07:00 SUCCESS"},
			[]string{"10:01:00", "10:06:30", "10:06:31", "10:06:32", "10:06:33", "10:06:34", "10:07:00"},
		},
		{
			"all within a window", misfire(ax.MisfireAll, 3*time.Minute, 0),
			[]string{"10:01:00 SUCCESS", "10:02:00 MISSED x2", "10:04:00 SUCCESS", "10:05:00 SUCCESS", "10:06:00 SUCCESS", "10:07:00 SUCCESS"},
			[]string{"10:01:00", "10:06:30", "10:06:31", "10:06:32", "10:07:00"},
		},
		{
			"all with a cap", misfire(ax.MisfireAll, 0, 2),
			[]string{"10:01:00 SUCCESS", "10:02:00 MISSED x3", "10:05:00 SUCCESS", "10:06:00 SUCCESS", "10:07:00 SUCCESS"},
			[]string{"10:01:00", "10:06:30", "10:06:31", "10:07:00"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			story(t, func(t *testing.T, w *world) {
				task := w.task("a", takes(time.Second), tt.change)
				w.open(task)
				w.at(90 * time.Second)
				w.stop()
				w.at(6*time.Minute + 30*time.Second)
				w.open(task)
				w.at(7*time.Minute + 30*time.Second)
				w.wantRows("a", tt.want...)
				if got := w.started("a"); !slices.Equal(got, tt.starts) {
					t.Errorf("started %v, want %v", got, tt.starts)
				}
			})
		})
	}
}

func TestOneMisfireOfALongOutageRunsOnce(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		task := w.task("a", takes(time.Second), func(t *ax.Task) {
			t.Schedule.Every, t.Misfire.Policy = time.Second, ax.MisfireOnce
			t.Overlap, t.QueueLimit = ax.OverlapQueue, 5
		})
		w.open(task)
		w.at(1500 * time.Millisecond)
		w.stop()
		w.at(24*time.Hour + 500*time.Millisecond)
		w.open(task)
		w.at(24*time.Hour + 700*time.Millisecond)
		w.wantRows("a", "10:00:01 SUCCESS", "10:00:02 MISSED x86398", "10:00:00 RUNNING")
	})
}

func TestManualRuns(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		w.open(w.task("a", takes(10*time.Second), hourly, func(t *ax.Task) { t.Enabled = false }))
		w.at(time.Second)
		id, err := w.engine.RunNow(ctx, engine.Manual{Task: "a", By: "test"})
		w.must(err)
		if _, err := w.engine.RunNow(ctx, engine.Manual{Task: "a", By: "test"}); !errors.Is(err, engine.ErrBusy) {
			t.Errorf("a second run: %v, want ErrBusy", err)
		}
		_, err = w.engine.RunNow(ctx, engine.Manual{Task: "a", Force: true, By: "test"})
		w.must(err)
		inst, err := w.store.Instance(ctx, id)
		w.must(err)
		w.must(w.engine.Cancel(inst, "test"))
		w.at(20 * time.Second)
		w.wantRows("a", "10:00:01 CANCELED", "10:00:01 SUCCESS")
	})
}

// TestManualRunsObeyTheOverlapPolicy starts a task by hand twice while it may run
// once.
func TestManualRunsObeyTheOverlapPolicy(t *testing.T) {
	t.Parallel()
	for policy, want := range map[ax.Overlap][]string{
		ax.OverlapSkip:    {"10:00:01 SUCCESS"},
		ax.OverlapQueue:   {"10:00:01 SUCCESS", "10:00:02 SUCCESS"},
		ax.OverlapReplace: {"10:00:01 CANCELED", "10:00:02 CANCELED", "10:00:03 SUCCESS"},
		ax.OverlapDefer:   {"10:00:01 SUCCESS", "10:00:02 SUCCESS", "10:01:00 SUCCESS"},
		ax.OverlapAllow:   {"10:00:01 SUCCESS", "10:00:02 SUCCESS"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			story(t, func(t *testing.T, w *world) {
				ctx := context.Background()
				w.open(w.task("a", takes(10*time.Second), func(t *ax.Task) { t.Overlap, t.Enabled = policy, policy == ax.OverlapDefer }))
				w.at(time.Second)
				_, err := w.engine.RunNow(ctx, engine.Manual{Task: "a", By: "test"})
				w.must(err)
				w.at(2 * time.Second)
				refused := policy == ax.OverlapSkip
				if _, err := w.engine.RunNow(ctx, engine.Manual{Task: "a", By: "test"}); errors.Is(err, engine.ErrBusy) != refused {
					t.Errorf("a second run: %v", err)
				}
				w.at(3 * time.Second)
				refused = policy != ax.OverlapAllow && policy != ax.OverlapReplace
				if _, err := w.engine.RunNow(ctx, engine.Manual{Task: "a", By: "test"}); errors.Is(err, engine.ErrBusy) != refused {
					t.Errorf("a third run, with a queue for one: %v", err)
				}
				w.at(80 * time.Second)
				if got := w.rows("a")[:len(want)]; !slices.Equal(got, want) {
					t.Errorf("rows %q, want %q", got, want)
				}
			})
		})
	}
}

// TestABadLaneDoesNotStopOthers fills the pool with jobs that never end.
func TestABadLaneDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.workers = 2
		bad := func(t *ax.Task) { t.Job.Name = "bad" }
		w.open(w.task("bad1", takes(time.Hour), bad), w.task("bad2", takes(time.Hour), bad), w.task("bad3", takes(time.Hour), bad),
			w.task("bad4", takes(time.Hour), bad), w.task("bad5", takes(time.Hour), bad), w.task("good", takes(time.Second)))
		w.at(3*time.Minute + 30*time.Second)
		w.wantRows("good", "10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SUCCESS")
		if got, want := w.started("good"), []string{"10:01:00", "10:02:00", "10:03:00"}; !slices.Equal(got, want) {
			t.Errorf("started %v, want %v", got, want)
		}
	})
}

func TestDueTimesWaitForRoomAndNoneIsLost(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.workers = 1
		lane := func(t *ax.Task) { t.Job.Name = "one"; t.Schedule.Every = 10 * time.Minute }
		var tasks []ax.Task
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			tasks = append(tasks, w.task(name, takes(5*time.Second), lane))
		}
		w.open(tasks...)
		w.at(11 * time.Minute)
		for _, task := range tasks {
			w.wantRows(task.Name, "10:10:00 SUCCESS")
		}
	})
}

func TestParkedTaskGoesOnWhenItsPluginComes(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		var missing atomic.Bool
		missing.Store(true)
		w.ready = func(task string) error {
			if task == "a" && missing.Load() {
				return errors.New("no plugin offers job \"x\"")
			}
			return nil
		}
		w.open(w.task("a", takes(0)), w.task("b", takes(0)))
		w.at(2*time.Minute + 30*time.Second)
		if got := w.engine.Views("a")[0].Row.Parked; got == "" {
			t.Error("the task is not parked")
		}
		w.engine.Recheck()
		w.at(2*time.Minute + 31*time.Second)
		missing.Store(false)
		w.engine.Recheck()
		w.at(3*time.Minute + 30*time.Second)
		w.wantRows("a", "10:01:00 MISSED", "10:02:00 SUCCESS", "10:03:00 SUCCESS")
		w.wantRows("b", "10:01:00 SUCCESS", "10:02:00 SUCCESS", "10:03:00 SUCCESS")
		if n := w.happened(ax.TaskParked); n != 1 {
			t.Errorf("%d notices of parking, want 1", n)
		}
	})
}

func TestRemoteTriggerIsFetchedAheadAndMayDie(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		var calls atomic.Int32
		var dead atomic.Bool
		w.triggers["a"] = remote(func(after time.Time, n int) ([]time.Time, bool, error) {
			if dead.Load() {
				return nil, false, errors.New("the plugin is gone")
			}
			calls.Add(1)
			var times []time.Time
			for next := after.Truncate(time.Minute).Add(time.Minute); len(times) < n; next = next.Add(time.Minute) {
				times = append(times, next)
			}
			return times, false, nil
		})
		task := w.task("a", takes(0))
		w.open(task)
		w.at(30 * time.Second)
		dead.Store(true)
		w.at(40*time.Minute + 30*time.Second)
		w.stop() // what was fetched is kept with the task
		w.open(task)
		w.at(63*time.Minute + 30*time.Second)
		if got := len(w.rows("a")); got != 63 {
			t.Errorf("%d due times ran on what was fetched ahead, want 63", got)
		}
		if w.happened(ax.TaskParked) != 0 {
			t.Error("parked while due times were known")
		}
		for _, at := range w.started("a") {
			if !strings.HasSuffix(at, ":00") {
				t.Errorf("a known due time ran at %s, held up by the dead plugin", at)
			}
		}
		w.at(70 * time.Minute)
		if w.engine.Views("a")[0].Row.Parked == "" {
			t.Error("not parked although nothing is known any more")
		}
		dead.Store(false)
		w.engine.Recheck()
		w.at(71*time.Minute + 30*time.Second)
		if got := w.rows("a"); len(got) < 65 || got[64][:5] != "11:05" {
			t.Errorf("after the plugin came back: %q", got[63:])
		}
		if calls.Load() == 0 {
			t.Error("never asked")
		}
	})
}

func TestLyingTriggerParksItsTaskOnly(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.triggers["past"] = remote(func(after time.Time, _ int) ([]time.Time, bool, error) {
			return []time.Time{after.Add(-time.Hour)}, false, nil
		})
		w.triggers["now"] = remote(func(after time.Time, _ int) ([]time.Time, bool, error) {
			return []time.Time{after}, false, nil
		})
		var asked atomic.Int64
		w.triggers["clock"] = remote(func(after time.Time, _ int) ([]time.Time, bool, error) {
			return []time.Time{after.Add(time.Duration(asked.Add(1)) * time.Microsecond)}, false, nil
		})
		w.open(w.task("past", takes(0)), w.task("now", takes(0)), w.task("clock", takes(0)), w.task("good", takes(0)))
		w.at(10*time.Minute + 30*time.Second)
		for _, name := range []string{"past", "now", "clock"} {
			w.wantRows(name)
			if w.engine.Views(name)[0].Row.Parked == "" {
				t.Errorf("%s is not parked", name)
			}
		}
		if got := len(w.rows("good")); got != 10 {
			t.Errorf("the good task ran %d times, want 10", got)
		}
		if n := w.happened(ax.TaskParked); n != 3 {
			t.Errorf("%d notices of parking, want 3", n)
		}
	})
}

func TestTriggerThatEnds(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		three := 2
		w.open(w.task("counted", takes(0), func(t *ax.Task) { t.Schedule.RepeatCount = &three }),
			w.task("at", takes(0), func(t *ax.Task) {
				t.Schedule = ax.Schedule{At: start.Add(time.Minute), Timezone: "UTC"}
			}))
		w.at(time.Hour)
		w.wantRows("at", "10:01:00 SUCCESS")
		if got := len(w.rows("counted")); got != 3 {
			t.Errorf("repeat_count 2 ran %d times, want 3", got)
		}
	})
}

func TestChangedScheduleTakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.open(w.task("a", takes(0), hourly), w.task("gone", takes(0)))
		w.at(90 * time.Second)
		w.engine.Apply(w.entries([]ax.Task{w.task("a", takes(0))}))
		w.at(3*time.Minute + 30*time.Second)
		w.wantRows("a", "10:02:00 SUCCESS", "10:03:00 SUCCESS")
		w.wantRows("gone", "10:01:00 SUCCESS")
	})
}

func TestDeferredRunWaitsForItsCallback(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		deferred := func(context.Context, ax.RunRequest, func(ax.Output)) ax.Outcome {
			return ax.Outcome{Status: ax.StatusRunning, Deferred: true}
		}
		timeout := func(t *ax.Task) { t.Timeout = 90 * time.Second }
		a, b := w.task("answered", deferred, hourly, timeout), w.task("silent", deferred, hourly, timeout)
		w.open(a, b)
		w.at(time.Hour + 10*time.Second)
		w.stop() // waiting for a callback survives a restart
		w.open(a, b)
		w.at(time.Hour + 20*time.Second)
		inst := w.newest("answered")
		if err := executor.CheckToken(&inst, "guess"); err == nil {
			t.Error("a guessed token was taken")
		}
		w.dispatch.Settle(ax.Attempt{Task: &a, Instance: inst}, ax.Outcome{Status: ax.StatusSuccess, StartedAt: inst.StartedAt, EndedAt: time.Now()})
		w.at(time.Hour + 80*time.Second)
		w.wantRows("answered", "11:00:00 SUCCESS")
		w.wantRows("silent", "11:00:00 RUNNING")
		w.at(time.Hour + 95*time.Second)
		w.wantRows("silent", "11:00:00 TIMEOUT")
	})
}

// TestACrowdWaitsInLine: far more tasks are due than there is room for. All run,
// in the order in which they came to wait, and nothing is tried in vain more
// often than there is room.
func TestACrowdWaitsInLine(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.workers = 2
		var tasks []ax.Task
		for i := range 300 {
			tasks = append(tasks, w.task(fmt.Sprintf("t%03d", i), takes(time.Second), func(t *ax.Task) {
				t.Job.Name, t.Schedule.Every = "crowd", time.Hour
				t.Misfire.Threshold = time.Hour
			}))
		}
		w.open(tasks...)
		w.at(time.Hour + 160*time.Second)
		for _, task := range tasks {
			w.wantRows(task.Name, "11:00:00 SUCCESS")
		}
	})
}
