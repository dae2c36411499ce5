package rescue_test

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/rescue"
	"github.com/axsched/ax/host/internal/store"
)

func TestRun(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := store.Open(ctx, store.Options{DSN: "sqlite:" + t.TempDir() + "/ax.db"})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	_, err = s.Migrate(ctx)
	must(t, err)

	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	ids := ax.NewIDs(1)
	retried := &ax.Task{ID: 1, Name: "retried", Retry: ax.DefaultRetry()}
	single := &ax.Task{ID: 2, Name: "single"}
	tasks := map[ax.TaskID]*ax.Task{1: retried, 2: single}
	tests := []struct {
		name   string
		task   ax.TaskID
		change func(*ax.Instance)
		want   ax.Status
		left   bool
		ended  bool
	}{
		{name: "ran, may be tried again", task: 1, change: run("dead"), want: ax.StatusRetrying, left: true, ended: true},
		{name: "ran, was the last attempt", task: 2, change: run("dead"), want: ax.StatusLost, ended: true},
		{name: "ran, the task is gone", task: 3, change: run("dead"), want: ax.StatusLost},
		{name: "runs on a host that lives", task: 2, change: run("alive"), want: ax.StatusRunning, left: true},
		{name: "waits for a callback", task: 2, change: func(i *ax.Instance) {
			run("dead")(i)
			i.Deferred, i.DeadlineAt = true, now.Add(time.Hour)
		}, want: ax.StatusRunning, left: true},
		{name: "waits in the queue", task: 2, change: func(i *ax.Instance) { i.Status, i.Owner = ax.StatusDispatched, "dead" }, want: ax.StatusDispatched, left: true},
		{name: "waits for a place", task: 2, change: func(i *ax.Instance) { i.Status = ax.StatusTriggered }, want: ax.StatusTriggered, left: true},
		{name: "has ended", task: 2, change: func(i *ax.Instance) { i.Status = ax.StatusSkipped }, want: ax.StatusSkipped},
	}
	instances := make([]ax.Instance, len(tests))
	for i, tt := range tests {
		inst := ax.Instance{
			ID: ax.InstanceID(ids.Next(now)), TaskID: tt.task, TaskName: tt.name, App: "app", Kind: ax.KindScheduled,
			ScheduledAt: now.Add(time.Duration(i) * time.Second), CreatedAt: now,
		}
		tt.change(&inst)
		instances[i] = inst
		done := make(chan error, 1)
		s.Submit(ax.Change{Insert: []ax.Instance{inst}, Done: func(_ bool, err error) { done <- err }})
		must(t, <-done)
	}

	ended := map[ax.InstanceID]ax.Ended{}
	left, err := rescue.Run(rescue.Config{
		Writer: s, IDs: ids, Log: hclog.NewNullLogger(),
		Task:  func(id ax.TaskID) *ax.Task { return tasks[id] },
		Dead:  func(incarnation string) bool { return incarnation != "alive" },
		Ended: func(e ax.Ended) { ended[e.Instance.ID] = e },
	}, s.Unfinished(ctx, "app"), now)
	must(t, err)
	rest := map[ax.InstanceID]ax.Instance{}
	for _, inst := range left {
		rest[inst.ID] = inst
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Instance(context.Background(), instances[i].ID)
			must(t, err)
			if got.Status != tt.want {
				t.Errorf("status %s, want %s", got.Status, tt.want)
			}
			if inst, ok := rest[got.ID]; ok != tt.left || (ok && inst.Status != tt.want) {
				t.Errorf("left unfinished: %v as %s, want %v", ok, inst.Status, tt.left)
			}
			end, ok := ended[got.ID]
			if ok != tt.ended {
				t.Fatalf("told of its end: %v, want %v", ok, tt.ended)
			}
			if ok && (end.Outcome.Status != ax.StatusLost || end.WillRetry != (tt.want == ax.StatusRetrying)) {
				t.Errorf("told of %s, retry %v", end.Outcome.Status, end.WillRetry)
			}
		})
	}
}

func run(owner string) func(*ax.Instance) {
	return func(i *ax.Instance) {
		i.Status, i.Owner, i.Node, i.Attempt, i.Fence = ax.StatusRunning, owner, "n", 1, 1
		i.StartedAt = i.CreatedAt
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
