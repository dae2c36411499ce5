// Package janitor deletes what is older than the retention, in small steps so
// that other writes do not wait.
package janitor

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	period = 10 * time.Minute
	// batch is how many rows one transaction deletes, rest the wait between two.
	batch = 200
	rest  = 50 * time.Millisecond
	day   = 24 * time.Hour
	// silence is how long the row of a host that died is kept: people look at it,
	// and whoever comes back sooner finds it.
	silence = 7 * day
)

// Store deletes old rows; each call returns how many, fewer than limit if none
// is left.
type Store interface {
	// DropDays drops whole days, where the database keeps them apart; byDay says
	// whether it does. A zero time drops none.
	DropDays(ctx context.Context, app string, before time.Time) (dropped int, byDay bool, err error)
	Purge(ctx context.Context, app string, before time.Time, limit int) (int, error)
	PurgeAlerts(ctx context.Context, app string, before time.Time, limit int) (int, error)
	PurgeAudit(ctx context.Context, app string, before time.Time, limit int) (int, error)
	PurgeRequests(ctx context.Context, app string, before time.Time, limit int) (int, error)
	// PurgeNodes deletes the rows of hosts that were silent for some time.
	PurgeNodes(ctx context.Context, app string, silent time.Duration) (int, error)
}

// Config of a Janitor.
type Config struct {
	App   string
	Store Store
	Log   hclog.Logger
	// Retention is asked at each round; 0 keeps everything.
	Retention func() time.Duration
}

// Janitor deletes old rows. Make one with New.
type Janitor struct {
	cfg  Config
	stop context.CancelFunc
	done chan struct{}
}

// New returns a Janitor that does nothing yet.
func New(cfg Config) *Janitor { return &Janitor{cfg: cfg, done: make(chan struct{})} }

// Start begins to delete, every ten minutes.
func (j *Janitor) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	j.stop = cancel
	go func() {
		defer close(j.done)
		for {
			if n, err := j.runOnce(ctx, time.Now()); err != nil && ctx.Err() == nil {
				j.cfg.Log.Error("cannot delete old rows, will try again", "error", err)
			} else if n > 0 {
				j.cfg.Log.Debug("deleted old rows", "rows", n)
			}
			if !sleep(ctx, period) {
				return
			}
		}
	}()
}

// Stop ends the deleting and waits for it.
func (j *Janitor) Stop() {
	if j.stop != nil {
		j.stop()
		<-j.done
	}
}

// runOnce deletes all that is older than the retention.
func (j *Janitor) runOnce(ctx context.Context, now time.Time) (int, error) {
	keep := j.cfg.Retention()
	var before time.Time
	if keep > 0 {
		before = now.Add(-keep)
	}
	_, byDay, daysErr := j.cfg.Store.DropDays(ctx, j.cfg.App, before)
	n, err := j.all(ctx, j.cfg.Store.PurgeRequests, now.Add(-ax.RequestsKept))
	if keep > 0 && err == nil {
		var more int
		more, err = j.purge(ctx, before, byDay)
		n += more
	}
	nodes, nodesErr := j.cfg.Store.PurgeNodes(ctx, j.cfg.App, silence)
	return n + nodes, errors.Join(daysErr, err, nodesErr)
}

// purge deletes row by row. Instances of a day that will go as a whole are left
// alone until that has had a day's time.
func (j *Janitor) purge(ctx context.Context, before time.Time, byDay bool) (int, error) {
	purgeInstances := j.cfg.Store.Purge
	if byDay {
		purgeInstances = func(ctx context.Context, app string, before time.Time, limit int) (int, error) {
			return j.cfg.Store.Purge(ctx, app, before.Add(-day), limit)
		}
	}
	total := 0
	for _, purge := range []func(context.Context, string, time.Time, int) (int, error){
		purgeInstances, j.cfg.Store.PurgeAlerts, j.cfg.Store.PurgeAudit,
	} {
		n, err := j.all(ctx, purge, before)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// all deletes what is older than a time, in small steps.
func (j *Janitor) all(ctx context.Context, purge func(context.Context, string, time.Time, int) (int, error), before time.Time) (int, error) {
	total := 0
	for {
		n, err := purge(ctx, j.cfg.App, before, batch)
		total += n
		if err != nil || n < batch {
			return total, err
		}
		if !sleep(ctx, rest) {
			return total, ctx.Err()
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
