package janitor

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// rows is a store that counts rows down.
type rows struct {
	instances, alerts, audit, requests      int
	before, instancesBefore, requestsBefore time.Time
	days                                    int // to drop; -1: it has no days
	fail                                    bool
	calls                                   int
	largest                                 int
	nodes                                   int
	silent                                  time.Duration
	tasks                                   []int // how many a step was about
	tasksBefore                             []time.Time
}

// keep is what is kept if all tasks are the same.
func keep(d *time.Duration) func(time.Time) ax.Kept {
	return func(now time.Time) ax.Kept {
		if *d == 0 {
			return ax.Kept{App: "a"}
		}
		return ax.Kept{App: "a", Since: now.Add(-*d)}
	}
}

func (r *rows) take(from *int, before time.Time, limit int) (int, error) {
	r.calls++
	if r.fail {
		return 0, errors.New("locked")
	}
	n := min(*from, limit)
	*from -= n
	r.before, r.largest = before, max(r.largest, n)
	return n, nil
}

func (r *rows) DropDays(_ context.Context, kept ax.Kept) (int, bool, error) {
	switch {
	case r.fail:
		return 0, true, errors.New("locked")
	case kept.Since.IsZero() || r.days < 0:
		return 0, r.days >= 0, nil
	}
	n := r.days
	r.days = 0
	return n, true, nil
}

func (r *rows) Purge(kept ax.Kept) func(context.Context, int) (int, error) {
	return func(_ context.Context, limit int) (int, error) {
		if kept.Since.IsZero() {
			return 0, nil
		}
		r.instancesBefore = kept.Since
		return r.take(&r.instances, kept.Since, limit)
	}
}

func (r *rows) PurgeTasks(_ context.Context, kept ax.KeptTasks, limit int) (int, error) {
	r.tasks = append(r.tasks, len(kept.IDs))
	r.tasksBefore = append(r.tasksBefore, kept.Since)
	return r.take(new(int), kept.Since, limit)
}

func (r *rows) PurgeAlerts(_ context.Context, _ string, before time.Time, limit int) (int, error) {
	return r.take(&r.alerts, before, limit)
}

func (r *rows) PurgeAudit(_ context.Context, _ string, before time.Time, limit int) (int, error) {
	return r.take(&r.audit, before, limit)
}

func (r *rows) PurgeRequests(_ context.Context, _ string, before time.Time, limit int) (int, error) {
	n, err := r.take(&r.requests, before, limit)
	r.requestsBefore = before
	return n, err
}

func (r *rows) PurgeNodes(_ context.Context, _ string, silent time.Duration) (int, error) {
	r.silent = silent
	n := r.nodes
	r.nodes = 0
	return n, nil
}

// TestForgetsDeadHosts: also where everything else is kept.
func TestForgetsDeadHosts(t *testing.T) {
	t.Parallel()
	r := &rows{nodes: 3}
	j := New(Config{App: "shop", Store: r, Log: hclog.NewNullLogger(), Kept: keep(new(time.Duration))})
	n, err := j.runOnce(t.Context(), time.Now())
	if n != 3 || err != nil || r.silent != 7*24*time.Hour {
		t.Errorf("deleted %d rows of hosts silent for %s, %v", n, r.silent, err)
	}
}

func TestDeletesAllInSmallSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &rows{instances: 1001, alerts: 3, audit: 200, days: -1}
		kept := time.Duration(0)
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Kept: keep(&kept)})
		now := time.Now()
		if n, err := j.runOnce(t.Context(), now); n != 0 || err != nil {
			t.Errorf("deleted %d rows (%v) although everything is kept", n, err)
		}
		kept = time.Hour
		if n, err := j.runOnce(t.Context(), now); n != 1204 || err != nil {
			t.Errorf("deleted %d rows (%v), want 1204", n, err)
		}
		if store.largest > batch {
			t.Errorf("%d rows in one step", store.largest)
		}
		if want := now.Add(-kept); !store.before.Equal(want) || !store.instancesBefore.Equal(want) {
			t.Errorf("deleted what is older than %s and %s, want %s", store.instancesBefore, store.before, want)
		}
	})
}

// TestDays: days go as a whole, and instances one by one only where that has
// left some.
func TestDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &rows{instances: 7, audit: 1, days: 2}
		kept := time.Duration(0)
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Kept: keep(&kept)})
		now := time.Now()
		if _, err := j.runOnce(t.Context(), now); err != nil || store.days != 2 {
			t.Errorf("%d days are left of 2 although everything is kept (%v)", store.days, err)
		}
		kept = time.Hour
		if n, err := j.runOnce(t.Context(), now); n != 8 || err != nil || store.days != 0 {
			t.Errorf("%d rows and %d days (%v)", n, store.days, err)
		}
		if !store.instancesBefore.Equal(now.Add(-kept-day)) || !store.before.Equal(now.Add(-kept)) {
			t.Errorf("instances before %s, the rest before %s", store.instancesBefore, store.before)
		}
	})
}

// TestTasks: those with a time of their own go some hundred at once, and where
// days go as a whole that has a day's time first, but for what would have stayed.
func TestTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		store := &rows{days: 1}
		longer := ax.KeptTasks{Since: now.Add(-40 * day), IDs: make([]ax.TaskID, tasksAtOnce+1)}
		shorter := ax.KeptTasks{Since: now.Add(-time.Hour), IDs: []ax.TaskID{1}}
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Kept: func(now time.Time) ax.Kept {
			return ax.Kept{App: "a", Since: now.Add(-30 * day), Tasks: []ax.KeptTasks{longer, shorter}}
		}})
		if _, err := j.runOnce(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		if want := []int{tasksAtOnce, 1, 1}; !slices.Equal(store.tasks, want) {
			t.Errorf("steps of %v tasks, want %v", store.tasks, want)
		}
		want := []time.Time{now.Add(-41 * day), now.Add(-41 * day), now.Add(-time.Hour)}
		if !slices.EqualFunc(store.tasksBefore, want, time.Time.Equal) {
			t.Errorf("of tasks before %s, want %s", store.tasksBefore, want)
		}
	})
}

func TestAnErrorDoesNotEndIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &rows{instances: 5, fail: true}
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Kept: keep(new(time.Hour))})
		j.Start()
		time.Sleep(3*period + time.Second)
		j.Stop()
		if store.calls != 4 {
			t.Errorf("tried %d times in three periods, want 4", store.calls)
		}
	})
}

// TestRequests: keys of requests go after a day, whatever is kept otherwise.
func TestRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &rows{requests: 201, instances: 1}
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Kept: keep(new(time.Duration))})
		now := time.Now()
		if n, err := j.runOnce(t.Context(), now); n != 201 || err != nil || !store.requestsBefore.Equal(now.Add(-day)) {
			t.Errorf("deleted %d rows (%v) before %s", n, err, store.requestsBefore)
		}
	})
}

func TestStopWithoutStart(t *testing.T) {
	t.Parallel()
	New(Config{}).Stop()
}
