package engine

import (
	"cmp"
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
	t, err := e.backfilled(b.Task)
	if err != nil {
		return 0, err
	}
	rows, err := e.recordBackfill(ctx, t, b)
	e.call(func(now time.Time) {
		if t.gone { // removed meanwhile
			for _, row := range rows {
				e.cancelRow(row, "the task was removed", now, nil)
			}
			return
		}
		if t.away {
			e.cfg.Elsewhere(t.def)
			return
		}
		t.backfillLimit = max(b.Limit, 1)
		t.backfill = append(t.backfill, rows...)
		t.sortBackfill()
		e.visit(t, now)
	})
	return len(rows), err
}

// ErrStopping says that the host starts nothing any more.
var ErrStopping = errors.New("the host is shutting down")

// backfilled returns the task of that name, while the engine fires.
func (e *Engine) backfilled(name string) (t *task, err error) {
	ok := e.call(func(time.Time) {
		if t = e.names[name]; t == nil {
			err = ErrUnknownTask
		} else if !e.firing {
			err = ErrStopping
		}
	})
	if !ok {
		err = ErrStopping
	}
	return t, err
}

func (t *task) sortBackfill() {
	slices.SortFunc(t.backfill, func(a, b ax.Instance) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
}

// recordBackfill writes the rows and returns those that were written. The first
// failure ends it.
func (e *Engine) recordBackfill(ctx context.Context, t *task, b Backfill) ([]ax.Instance, error) {
	var w written
	for _, due := range b.Times {
		if ctx.Err() != nil || w.failure() != nil {
			break
		}
		now := e.cfg.Now()
		var rows []ax.Instance
		if !e.call(func(time.Time) { rows = e.backfillRows(t, due, now) }) {
			w.fail(ErrStopping)
			break
		}
		for _, row := range rows {
			e.cfg.Writer.Submit(ax.Change{
				Insert: []ax.Instance{row},
				Events: []ax.Event{e.event(&row, now, ax.StageTriggerReady, "info", "backfill by "+b.By)},
				Done:   w.expect(row),
			})
		}
	}
	w.wg.Wait()
	return w.rows, errors.Join(w.err, ctx.Err())
}

func (e *Engine) backfillRows(t *task, due, now time.Time) []ax.Instance {
	if t.broadcast() {
		return e.shards(t, due, ax.KindBackfill, now)
	}
	row := e.instance(t, due, ax.KindBackfill, now)
	row.Status, row.Reason = ax.StatusTriggered, "waits for its turn in a backfill"
	return []ax.Instance{row}
}

// written gathers the answers of the writer to changes of single rows.
type written struct {
	wg sync.WaitGroup

	mu     sync.Mutex // guards the rest
	rows   []ax.Instance
	failed []ax.Instance
	err    error // the first one
}

// expect returns the Done of a change of row.
func (w *written) expect(row ax.Instance) func(applied bool, err error) {
	w.wg.Add(1)
	return func(applied bool, err error) {
		defer w.wg.Done()
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case applied:
			w.rows = append(w.rows, row)
		case err != nil && !errors.Is(err, ax.ErrDuplicate):
			w.failed = append(w.failed, row)
			w.err = cmp.Or(w.err, fmt.Errorf("write due time %s: %w", row.ScheduledAt.Format(time.RFC3339), err))
		}
	}
}

func (w *written) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = cmp.Or(w.err, err)
}

func (w *written) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
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

// CancelBackfill cancels the due times of a task that wait in a backfill and
// lie in [since, until); zero bounds are open. Runs under way and retries go on.
// It returns how many were canceled.
func (e *Engine) CancelBackfill(task string, since, until time.Time, by string) (int, error) {
	t, err := e.backfilled(task)
	if err != nil {
		return 0, err
	}
	var w written
	e.call(func(now time.Time) {
		t.backfill = slices.DeleteFunc(t.backfill, func(row ax.Instance) bool {
			within := !row.ScheduledAt.Before(since) && (until.IsZero() || row.ScheduledAt.Before(until))
			if within {
				e.cancelRow(row, "canceled by "+by, now, w.expect(row))
			}
			return within
		})
	})
	w.wg.Wait()
	e.call(func(now time.Time) {
		t.backfill = append(t.backfill, w.failed...)
		t.sortBackfill()
		e.visit(t, now)
	})
	return len(w.rows), w.err
}
