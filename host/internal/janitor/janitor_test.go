package janitor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
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

func (r *rows) DropDays(_ context.Context, _ string, before time.Time) (int, bool, error) {
	switch {
	case r.fail:
		return 0, true, errors.New("locked")
	case before.IsZero() || r.days < 0:
		return 0, r.days >= 0, nil
	}
	n := r.days
	r.days = 0
	return n, true, nil
}

func (r *rows) Purge(_ context.Context, _ string, before time.Time, limit int) (int, error) {
	r.instancesBefore = before
	return r.take(&r.instances, before, limit)
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
	j := New(Config{App: "shop", Store: r, Log: hclog.NewNullLogger(), Retention: func() time.Duration { return 0 }})
	n, err := j.runOnce(t.Context(), time.Now())
	if n != 3 || err != nil || r.silent != 7*24*time.Hour {
		t.Errorf("deleted %d rows of hosts silent for %s, %v", n, r.silent, err)
	}
}

func TestDeletesAllInSmallSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &rows{instances: 1001, alerts: 3, audit: 200, days: -1}
		keep := time.Duration(0)
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Retention: func() time.Duration { return keep }})
		now := time.Now()
		if n, err := j.runOnce(t.Context(), now); n != 0 || err != nil {
			t.Errorf("deleted %d rows (%v) although everything is kept", n, err)
		}
		keep = time.Hour
		if n, err := j.runOnce(t.Context(), now); n != 1204 || err != nil {
			t.Errorf("deleted %d rows (%v), want 1204", n, err)
		}
		if store.largest > batch {
			t.Errorf("%d rows in one step", store.largest)
		}
		if want := now.Add(-keep); !store.before.Equal(want) || !store.instancesBefore.Equal(want) {
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
		keep := time.Duration(0)
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Retention: func() time.Duration { return keep }})
		now := time.Now()
		if _, err := j.runOnce(t.Context(), now); err != nil || store.days != 2 {
			t.Errorf("%d days are left of 2 although everything is kept (%v)", store.days, err)
		}
		keep = time.Hour
		if n, err := j.runOnce(t.Context(), now); n != 8 || err != nil || store.days != 0 {
			t.Errorf("%d rows and %d days (%v)", n, store.days, err)
		}
		if !store.instancesBefore.Equal(now.Add(-keep-day)) || !store.before.Equal(now.Add(-keep)) {
			t.Errorf("instances before %s, the rest before %s", store.instancesBefore, store.before)
		}
	})
}

func TestAnErrorDoesNotEndIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &rows{instances: 5, fail: true}
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Retention: func() time.Duration { return time.Hour }})
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
		j := New(Config{App: "a", Store: store, Log: hclog.NewNullLogger(), Retention: func() time.Duration { return 0 }})
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
