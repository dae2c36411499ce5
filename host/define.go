package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/store"
)

const (
	// afterglow is how long due times that were reached are left to an engine that
	// runs, before a change of the schedule calls them missed.
	afterglow = time.Second
	// defineTries bounds how often a set of definitions is compared anew because
	// a plan moved on meanwhile.
	defineTries = 100
)

// define puts a configuration into the database. A schedule that is replaced or
// ends accounts for its due times up to that instant, and the new one for those
// after it: none is lost between them.
func (h *Host) define(ctx context.Context, cfg *config.Config, actor string, running bool) (*changes, error) {
	return h.settle(ctx, running, store.ApplyParams{App: cfg.App, Actor: actor}, func(now time.Time) (*changes, error) {
		return h.compare(ctx, cfg, now)
	})
}

// settle writes what compare finds to be different, once no due time is left to
// account for. running tells that the engine may still do that itself. p says
// under which conditions.
func (h *Host) settle(
	ctx context.Context, running bool, p store.ApplyParams, compare func(now time.Time) (*changes, error),
) (*changes, error) {
	begin := h.now()
	for try := 1; ; try++ {
		now := h.now()
		c, err := compare(now)
		if err != nil {
			return nil, err
		}
		if len(c.reached) == 0 {
			p.Now, p.Upsert, p.Delete, p.Seen = now, c.upsert, c.remove, c.seen
			err = h.store.ApplyTasks(ctx, p)
			if !errors.Is(err, ax.ErrMoved) {
				return c, err
			}
		} else if running && now.Sub(begin) < afterglow {
			err = pause(ctx, afterglow/20)
		} else {
			err = h.lapse(c.reached, now)
		}
		if err != nil && !errors.Is(err, ax.ErrMoved) {
			return nil, err
		}
		if try == defineTries {
			return nil, fmt.Errorf("put %d changed schedules in force: %w", len(c.seen), ax.ErrMoved)
		}
	}
}

// ends notes a task whose schedule ends or is replaced.
func (c *changes) ends(row *ax.TaskRow, now time.Time) {
	c.seen[row.ID] = row.NextAt
	if row.Enabled && !row.Paused && !row.NextAt.IsZero() && !row.NextAt.After(now) {
		c.reached = append(c.reached, row)
	}
}

// lapse writes rows for due times that the schedules of tasks have reached.
func (h *Host) lapse(reached []*ax.TaskRow, now time.Time) error {
	for _, row := range reached {
		if err := h.lapseTask(row, now); err != nil {
			return fmt.Errorf("task %q: %w", row.Name, err)
		}
	}
	return nil
}

func (h *Host) lapseTask(row *ax.TaskRow, now time.Time) error {
	entry := engine.Entry{Row: *row, Remote: row.Schedule.Trigger != nil}
	if trig, err := h.timetable(h.live.Load().cfg, &row.Task, row.AnchorAt); err == nil {
		entry.Trigger = trig
	}
	change, missed, err := h.engine.Lapse(entry, now, "the schedule was changed before it came to that")
	if err != nil || change.Plan == nil {
		return err
	}
	done := make(chan error, 1)
	change.Done = func(applied bool, err error) {
		if applied {
			h.observe(ax.Happening{What: ax.DueMissed, At: now, Task: &row.Task, Instance: missed, Text: missed.Reason})
		}
		done <- err // not applied: somebody else dealt with it, which is as good
	}
	h.writer.Submit(change)
	err = <-done
	if errors.Is(err, ax.ErrDuplicate) { // the first of them has a row although the plan does not say so
		h.log.Warn("a due time has a row already, going on", "task", row.Name, "due", row.NextAt)
		change.Insert, change.Events = nil, nil
		h.writer.Submit(change)
		err = <-done
	}
	return err
}

// pause waits for a while.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
