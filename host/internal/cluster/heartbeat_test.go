package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// table is the row of one host in a database whose clock may be off.
type table struct {
	registered, beats, removed atomic.Int32
	draining                   atomic.Bool
	offset                     atomic.Int64
	err                        atomic.Pointer[error]
}

func (r *table) RegisterNode(context.Context, ax.Node) error { r.registered.Add(1); return nil }

func (r *table) Beat(_ context.Context, _ string, draining bool) (time.Time, error) {
	if err := r.err.Load(); err != nil {
		return time.Time{}, *err
	}
	r.beats.Add(1)
	r.draining.Store(draining)
	return time.Now().Add(-time.Duration(r.offset.Load())), nil
}

func (r *table) RemoveNode(context.Context, string) error { r.removed.Add(1); return nil }

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &table{}
		r.offset.Store(int64(3 * time.Second))
		h := New(Config{Store: r, Log: hclog.NewNullLogger()})
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4*Interval + time.Second)
		synctest.Wait()
		if r.registered.Load() != 1 || r.beats.Load() != 4 {
			t.Errorf("registered %d times, %d beats; want 1 and 4", r.registered.Load(), r.beats.Load())
		}
		if h.Offset() != 3*time.Second {
			t.Errorf("offset %s, want 3s", h.Offset())
		}
		away := errors.New("away")
		r.err.Store(&away)
		time.Sleep(Interval)
		synctest.Wait()
		if !h.Failing() {
			t.Error("not failing while the database is away")
		}
		gone := ax.ErrNotFound
		r.err.Store(&gone)
		time.Sleep(Interval)
		synctest.Wait()
		if h.Failing() || r.registered.Load() != 2 {
			t.Errorf("a removed row: failing %v, registered %d times, want 2", h.Failing(), r.registered.Load())
		}
		r.err.Store(nil)
		h.Drain()
		time.Sleep(Interval)
		synctest.Wait()
		if !r.draining.Load() {
			t.Error("did not say that it leaves")
		}
		h.Stop(t.Context())
		if r.removed.Load() != 1 {
			t.Error("left its row behind")
		}
	})
}
