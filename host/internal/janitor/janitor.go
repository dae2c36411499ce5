// Package janitor deletes what is older than the retention, in small steps so
// that other writes do not wait.
package janitor

import (
	"context"
	"errors"
	"slices"
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
	// tasksAtOnce is how many tasks one look for old rows names.
	tasksAtOnce = 200
	// silence is how long the row of a host that died is kept: people look at it,
	// and whoever comes back sooner finds it.
	silence = 7 * day
)

// Store deletes old rows; each call returns how many, fewer than limit if none
// is left.
type Store interface {
	// DropDays drops whole days, where the database keeps them apart; byDay says
	// whether it does.
	DropDays(ctx context.Context, kept ax.Kept) (dropped int, byDay bool, err error)
	// Purge begins to delete finished instances that are not kept, but for the
	// tasks that have a time of their own.
	Purge(kept ax.Kept) func(ctx context.Context, limit int) (int, error)
	PurgeTasks(ctx context.Context, kept ax.KeptTasks, limit int) (int, error)
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
	// Kept is asked at each round what is kept as of now. Alerts and the audit
	// trail are kept for as long as instances are.
	Kept func(now time.Time) ax.Kept
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

// runOnce deletes all that is not kept.
func (j *Janitor) runOnce(ctx context.Context, now time.Time) (int, error) {
	kept := j.cfg.Kept(now)
	_, byDay, daysErr := j.cfg.Store.DropDays(ctx, kept)
	instances := kept
	if byDay { // rows of a day that will go as a whole are left alone until that has had a day's time
		instances = kept.Relaxed(day)
	}
	steps := append(j.instances(instances), j.before(j.cfg.Store.PurgeRequests, now.Add(-ax.RequestsKept)))
	if !kept.Since.IsZero() {
		steps = append(steps, j.before(j.cfg.Store.PurgeAlerts, kept.Since), j.before(j.cfg.Store.PurgeAudit, kept.Since))
	}
	n, err := purge(ctx, steps)
	nodes, nodesErr := j.cfg.Store.PurgeNodes(ctx, j.cfg.App, silence)
	return n + nodes, errors.Join(daysErr, err, nodesErr)
}

// instances are the steps that delete instances.
func (j *Janitor) instances(kept ax.Kept) []step {
	steps := []step{j.cfg.Store.Purge(kept)}
	for _, tasks := range kept.Tasks {
		for ids := range slices.Chunk(tasks.IDs, tasksAtOnce) {
			steps = append(steps, func(ctx context.Context, limit int) (int, error) {
				return j.cfg.Store.PurgeTasks(ctx, ax.KeptTasks{Since: tasks.Since, IDs: ids}, limit)
			})
		}
	}
	return steps
}

// before is a step that deletes what is older than a time.
func (j *Janitor) before(purge func(context.Context, string, time.Time, int) (int, error), t time.Time) step {
	return func(ctx context.Context, limit int) (int, error) { return purge(ctx, j.cfg.App, t, limit) }
}

// purge takes steps until one fails.
func purge(ctx context.Context, steps []step) (int, error) {
	total := 0
	for _, s := range steps {
		n, err := s.all(ctx)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// step deletes up to limit rows of one kind.
type step func(ctx context.Context, limit int) (int, error)

// all deletes all of them, a few at once.
func (s step) all(ctx context.Context) (int, error) {
	total := 0
	for {
		n, err := s(ctx, batch)
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
