package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// Interval is how often a host says that it lives.
	Interval = 5 * time.Second
	// maxOffset is how far the host's clock may be off before it is warned of.
	maxOffset = time.Second
)

// Store keeps the rows of hosts.
type Store interface {
	RegisterNode(ctx context.Context, n ax.Node) error
	// Beat returns the database's time, and ax.ErrNotFound if the row is gone.
	Beat(ctx context.Context, incarnation string, draining bool) (time.Time, error)
	RemoveNode(ctx context.Context, incarnation string) error
}

// Config of a Heartbeat.
type Config struct {
	Node  ax.Node
	Store Store
	Log   hclog.Logger
}

// Heartbeat writes the row. Make one with New.
type Heartbeat struct {
	cfg      Config
	stop     context.CancelFunc
	done     chan struct{}
	draining atomic.Bool
	offset   atomic.Int64
	failing  atomic.Bool
}

// New returns a Heartbeat that does not beat yet.
func New(cfg Config) *Heartbeat { return &Heartbeat{cfg: cfg, done: make(chan struct{})} }

// Start registers the host and begins to beat.
func (h *Heartbeat) Start(ctx context.Context) error {
	if err := h.cfg.Store.RegisterNode(ctx, h.cfg.Node); err != nil {
		return err
	}
	ctx, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(h.done)
		ticker := time.NewTicker(Interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				h.runOnce(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}

// Drain says at the next beat that the host is leaving.
func (h *Heartbeat) Drain() { h.draining.Store(true) }

// Stop ends the beats and removes the row.
func (h *Heartbeat) Stop(ctx context.Context) {
	if h.stop == nil {
		return
	}
	h.stop()
	<-h.done
	if err := h.cfg.Store.RemoveNode(ctx, h.cfg.Node.Incarnation); err != nil {
		h.cfg.Log.Warn("cannot remove the row of this host", "error", err)
	}
}

// Failing reports whether the newest beat could not be written.
func (h *Heartbeat) Failing() bool { return h.failing.Load() }

// Offset is by how much this host's clock is ahead of the database's, as of the
// newest beat.
func (h *Heartbeat) Offset() time.Duration { return time.Duration(h.offset.Load()) }

func (h *Heartbeat) runOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, Interval)
	defer cancel()
	before := time.Now()
	at, err := h.cfg.Store.Beat(ctx, h.cfg.Node.Incarnation, h.draining.Load())
	if errors.Is(err, ax.ErrNotFound) {
		h.cfg.Log.Warn("the row of this host was removed, registering again")
		err = h.cfg.Store.RegisterNode(ctx, h.cfg.Node)
		at = time.Now()
	}
	if h.failing.Swap(err != nil); err != nil {
		h.cfg.Log.Error("cannot say that this host lives", "error", err)
		return
	}
	// The database's clock was read somewhere between before and now.
	offset := before.Add(time.Since(before) / 2).Sub(at)
	h.offset.Store(int64(offset))
	if offset.Abs() > maxOffset {
		h.cfg.Log.Warn("the clocks of this host and the database differ: set them by NTP", "offset", offset.Round(time.Millisecond))
	}
}
