package host

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/store"
)

var backlogNow = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// onTime is a task that is due in a minute.
func onTime(name string) engine.View {
	return engine.View{Row: ax.TaskRow{
		Task:      ax.Task{Name: name, Enabled: true, Concurrency: 2, Overlap: ax.OverlapQueue},
		TaskState: ax.TaskState{NextAt: backlogNow.Add(time.Minute)},
	}}
}

// late is one that was due a minute ago.
func late(name string) engine.View {
	v := onTime(name)
	v.Row.NextAt = backlogNow.Add(-time.Minute)
	return v
}

func TestWhyATaskWaits(t *testing.T) {
	t.Parallel()
	busy := load{now: backlogNow, workers: 4, busy: 4, queue: 8, queued: 8}
	idle := load{now: backlogNow, workers: 4, queue: 8}
	soon := backlogNow.Add(time.Second)
	set := func(v engine.View, f func(*engine.View)) engine.View { f(&v); return v }
	rows := func(status ax.Status) []store.Waiting {
		return []store.Waiting{{Status: status, Count: 1, OldestDue: backlogNow}}
	}
	retry := func(at time.Time) []store.Waiting {
		return []store.Waiting{{Status: ax.StatusRetrying, Count: 1, OldestDue: backlogNow, NextRetry: at}}
	}
	type causes = []api.WaitCause
	for _, tc := range []struct {
		name  string
		load  load
		view  engine.View
		rows  []store.Waiting
		want  causes
		until time.Time // of the first cause
	}{
		{"nothing", busy, onTime("a"), nil, nil, time.Time{}},
		{"only runs", busy, set(onTime("a"), func(v *engine.View) { v.Running = 2 }), rows(ax.StatusRunning), nil, time.Time{}},
		{"all workers busy", busy, onTime("a"), rows(ax.StatusDispatched), causes{api.WaitWorkers}, time.Time{}},
		{"stuck in the queue", idle, onTime("a"), rows(ax.StatusDispatched), causes{api.WaitQueue}, time.Time{}},
		{"no room", busy, set(late("a"), func(v *engine.View) { v.Held = true }), nil, causes{api.WaitRoom}, time.Time{}},
		{"limit", idle, set(onTime("a"), func(v *engine.View) { v.Running, v.Waiting = 2, 1 }), rows(ax.StatusTriggered), causes{api.WaitLimit}, time.Time{}},
		{"limit while catching up", idle, set(late("a"), func(v *engine.View) { v.Running = 2 }), rows(ax.StatusRunning), causes{api.WaitLimit}, time.Time{}},
		{"no limit", busy, set(late("a"), func(v *engine.View) { v.Running, v.Row.Overlap, v.Held = 9, ax.OverlapAllow, true }), nil, causes{api.WaitRoom}, time.Time{}},
		{
			"put off", idle, set(onTime("a"), func(v *engine.View) { v.Waiting, v.Row.Overlap = 1, ax.OverlapDefer }), rows(ax.StatusTriggered),
			causes{api.WaitNextDue}, backlogNow.Add(time.Minute),
		},
		{"backfill", idle, set(onTime("a"), func(v *engine.View) { v.Backfill, v.Running = 3, 1 }), rows(ax.StatusTriggered), causes{api.WaitBackfill}, time.Time{}},
		{"retry", idle, onTime("a"), retry(soon), causes{api.WaitRetry}, soon},
		{"retry that finds no place", idle, set(onTime("a"), func(v *engine.View) { v.Running = 2 }), retry(backlogNow), causes{api.WaitLimit}, time.Time{}},
		{"retry to come does not want a place", idle, set(onTime("a"), func(v *engine.View) { v.Running = 2 }), retry(soon), causes{api.WaitRetry}, soon},
		{"parked", idle, set(late("a"), func(v *engine.View) { v.Row.Parked, v.TryAt = "no plugin", soon }), nil, causes{api.WaitParked}, soon},
		{"paused", idle, set(late("a"), func(v *engine.View) { v.Row.Paused, v.Row.PausedUntil = true, soon }), nil, causes{api.WaitPaused}, soon},
		{"pause is over", idle, set(late("a"), func(v *engine.View) { v.Row.Paused, v.Row.PausedUntil = true, backlogNow }), nil, nil, time.Time{}},
		{"paused before it is due", idle, set(onTime("a"), func(v *engine.View) { v.Row.Paused = true }), nil, nil, time.Time{}},
		{"failed to start", idle, set(late("a"), func(v *engine.View) { v.TryAt = soon }), nil, causes{api.WaitError}, soon},
		{"database", idle, set(late("a"), func(v *engine.View) { v.Writing = true }), nil, causes{api.WaitDatabase}, time.Time{}},
		{"stopping", load{now: backlogNow, workers: 4, busy: 4, stopping: true}, onTime("a"), rows(ax.StatusDispatched), causes{api.WaitStopping, api.WaitWorkers}, time.Time{}},
		{"disabled", idle, set(late("a"), func(v *engine.View) { v.Row.Enabled = false }), nil, nil, time.Time{}},
	} {
		got, _ := tc.load.task(&tc.view, tc.rows)
		var have causes
		for _, w := range got.Why {
			have = append(have, w.Cause)
			if w.Text == "" {
				t.Errorf("%s: %s has no text", tc.name, w.Cause)
			}
		}
		if !slices.Equal(have, tc.want) {
			t.Errorf("%s: waits for %v, want %v", tc.name, have, tc.want)
		} else if len(have) > 0 && !got.Why[0].Until.Equal(tc.until) {
			t.Errorf("%s: until %s, want %s", tc.name, got.Why[0].Until, tc.until)
		}
	}
}

func TestBacklogTasks(t *testing.T) {
	t.Parallel()
	ago := func(minutes time.Duration) time.Time { return backlogNow.Add(-minutes * time.Minute) }
	held, parked, justDue := late("held"), onTime("parked"), onTime("just due")
	held.Held, parked.Row.Parked = true, "no plugin"
	justDue.Row.NextAt = backlogNow.Add(-time.Millisecond) // is being written
	tasks, n := load{now: backlogNow, workers: 1, busy: 1, queue: 1, queued: 1}.tasks(
		[]engine.View{onTime("idle"), parked, onTime("runs"), held, justDue, onTime("queued")},
		[]store.Waiting{
			{Task: "queued", Status: ax.StatusDispatched, Count: 3, OldestDue: ago(5)},
			{Task: "queued", Status: ax.StatusRunning, Count: 2, OldestDue: ago(99), OldestStart: ago(98)},
			{Task: "queued", Status: ax.StatusTriggered, Count: 1, OldestDue: ago(7)},
			{Task: "removed", Status: ax.StatusRunning, Count: 1, OldestDue: ago(4), OldestStart: ago(2)},
			{Task: "runs", Status: ax.StatusRunning, Count: 1, OldestDue: ago(4), OldestStart: ago(3)},
		})
	if n != 1 {
		t.Errorf("%d tasks are held, want 1", n)
	}
	for i := range tasks {
		tasks[i].Why = nil // has its own test
	}
	want := []api.BacklogTask{
		{Task: "queued", Running: 2, Queued: 3, Waiting: 1, OldestDue: ago(7), RunningSince: ago(98)},
		{Task: "held", Overdue: true, OldestDue: ago(1)},
		{Task: "parked"},
		{Task: "runs", Running: 1, RunningSince: ago(3)},
		{Task: "removed", Running: 1, RunningSince: ago(2)},
	}
	if !reflect.DeepEqual(tasks, want) {
		t.Errorf("got  %+v\nwant %+v", tasks, want)
	}
}

func TestSlowest(t *testing.T) {
	t.Parallel()
	times := []store.RunTimes{
		{Task: "a", Runs: 1, Average: time.Second, Longest: time.Second},
		{Task: "b", Runs: 9, Failures: 2, Average: time.Minute, Longest: time.Hour + 400*time.Microsecond},
		{Task: "c", Runs: 1, Average: time.Second, Longest: 2 * time.Second},
	}
	want := []api.SlowTask{
		{Task: "b", Runs: 9, Failures: 2, Average: "1m0s", Longest: "1h0m0s"},
		{Task: "c", Runs: 1, Average: "1s", Longest: "2s"},
	}
	if got := slowest(times, 2); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := slowest(nil, 10); got == nil || len(got) != 0 {
		t.Errorf("without runs: %v", got)
	}
}
