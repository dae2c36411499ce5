package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Backfill asks for runs of due times that lie in the past.
type Backfill struct {
	Task string
	// Times are the due times, rising. One that was backfilled before is passed
	// over.
	Times []time.Time
	// Limit is how many of them may run at once, at least 1, besides the task's
	// own concurrency limit.
	Limit int
	By    string
}

// Backfill records the due times as instances that wait, and starts them one
// after the other, oldest first. They survive a restart. It returns how many
// are new. Due times to come go before them.
func (e *Engine) Backfill(ctx context.Context, b Backfill) (int, error) {
	t := e.named(b.Task)
	if t == nil {
		return 0, ErrUnknownTask
	}
	rows, err := e.recordBackfill(ctx, t, b)
	e.call(func(now time.Time) {
		t.backfillLimit = max(b.Limit, 1)
		t.backfill = append(t.backfill, rows...)
		slices.SortFunc(t.backfill, func(a, b ax.Instance) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
		e.visit(t, now)
	})
	return len(rows), err
}

func (e *Engine) named(name string) *task {
	var t *task
	e.call(func(time.Time) { t = e.names[name] })
	return t
}

// recordBackfill writes the rows and returns those that were written.
func (e *Engine) recordBackfill(ctx context.Context, t *task, b Backfill) ([]ax.Instance, error) {
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		written []ax.Instance
		failed  error
	)
	for _, due := range b.Times {
		if failed = errors.Join(failed, ctx.Err()); failed != nil {
			break
		}
		now := time.Now()
		var row ax.Instance
		e.call(func(time.Time) { row = e.instance(t, due, ax.KindBackfill, now) })
		row.Status, row.Reason = ax.StatusTriggered, "waits for its turn in a backfill"
		wg.Add(1)
		e.cfg.Writer.Submit(ax.Change{
			Insert: []ax.Instance{row},
			Events: []ax.Event{e.event(&row, now, ax.StageTriggerReady, "info", fmt.Sprintf("backfill by %s", b.By))},
			Done: func(applied bool, err error) {
				defer wg.Done()
				mu.Lock()
				defer mu.Unlock()
				switch {
				case applied:
					written = append(written, row)
				case err != nil && !errors.Is(err, ax.ErrDuplicate):
					failed = fmt.Errorf("write due time %s: %w", row.ScheduledAt.Format(time.RFC3339), err)
				}
			},
		})
	}
	wg.Wait()
	return written, failed
}

// startBackfill starts what waits in a backfill, while nothing else of the task
// wants to start.
func (e *Engine) startBackfill(t *task, now time.Time) {
	for len(t.backfill) > 0 && len(t.waiting) == 0 && t.backfilling() < max(t.backfillLimit, 1) {
		if !e.begin(t, t.backfill[0], now) {
			return
		}
		t.backfill = t.backfill[1:]
	}
}

// backfilling counts the runs of a backfill under way.
func (t *task) backfilling() int {
	n := 0
	for _, a := range t.active {
		if a.kind == ax.KindBackfill {
			n++
		}
	}
	return n
}
