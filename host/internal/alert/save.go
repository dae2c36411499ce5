package alert

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// saveEvery is how often rows are written that only gather: in a storm the
	// database has better things to do.
	saveEvery = 200 * time.Millisecond
	// saveBatch is how many rows go into one transaction.
	saveBatch = 200
	// firstSavePause and lastSavePause bound the waits while the database refuses.
	firstSavePause = time.Second
	lastSavePause  = 30 * time.Second
)

// save writes what has changed, unless that can wait; then again is when to.
func (m *Manager) save(ctx context.Context, now time.Time) (again time.Time, err error) {
	m.mu.Lock()
	idle, urgent := m.book.saved(), m.book.urgent
	m.mu.Unlock()
	wait := saveEvery
	switch {
	case idle:
		return time.Time{}, nil
	case m.savePause > 0:
		wait = m.savePause
	case urgent:
		wait = 0
	}
	if again := m.savedAt.Add(wait); again.After(now) {
		return again, nil
	}
	m.savedAt = now
	if err := m.saveAll(ctx); err != nil {
		m.savePause = min(max(2*m.savePause, firstSavePause), lastSavePause)
		return now.Add(m.savePause), err
	}
	m.savePause = 0
	return time.Time{}, nil
}

// saveAll writes all that has changed until now.
func (m *Manager) saveAll(ctx context.Context) error {
	m.mu.Lock()
	batch, counts := m.book.take()
	m.mu.Unlock()
	for id, n := range counts {
		m.saveCount(id, n)
	}
	for len(batch) > 0 {
		part := batch[:min(len(batch), saveBatch)]
		batch = batch[len(part):]
		rows := make([]ax.AlertRow, len(part))
		for i := range part {
			if err := part[i].copy.render(m.cfg.Node, m.zone(part[i].copy.zone)); err != nil {
				return err
			}
			rows[i] = part[i].copy.AlertRow
		}
		if err := m.cfg.Store.SaveAlerts(ctx, rows...); err != nil {
			return err
		}
		m.mu.Lock()
		m.book.keep(part)
		m.mu.Unlock()
	}
	return nil
}

// zone returns a zone by its name. If it cannot be had a message with another
// clock is better than none.
func (m *Manager) zone(name string) *time.Location {
	zone := m.zones[name]
	if zone == nil {
		var err error
		if zone, err = time.LoadLocation(name); err != nil {
			zone = time.UTC
		}
		m.zones[name] = zone
	}
	return zone
}

// saveCount writes the failures in a row of a task.
func (m *Manager) saveCount(id ax.TaskID, n int) {
	m.cfg.Store.Submit(ax.Change{
		Failures: &ax.Failures{Task: id, Count: n},
		Done: func(_ bool, err error) {
			if err == nil {
				return
			}
			m.cfg.Log.Error("cannot note how often a task failed in a row", "task_id", id, "failures", n, "error", err)
			m.mu.Lock()
			defer m.mu.Unlock()
			if _, newer := m.book.counts[id]; !newer {
				m.book.counts[id] = n // goes with what is written next
			}
		},
	})
}

// pending is a row to be written, and a copy of it as it is now.
type pending struct {
	row  *row
	copy row
}

// saved reports whether everything stands in the database.
func (b *book) saved() bool { return len(b.changed) == 0 && len(b.counts) == 0 }

// take returns what is to be written.
func (b *book) take() ([]pending, map[ax.TaskID]int) {
	batch := make([]pending, 0, len(b.changed))
	for r := range b.changed {
		batch = append(batch, pending{r, r.snapshot()})
	}
	counts := b.counts
	b.counts = map[ax.TaskID]int{}
	return batch, counts
}

// keep notes that rows were written.
func (b *book) keep(batch []pending) {
	for _, p := range batch {
		if p.row.version == p.copy.version {
			p.row.msg = p.copy.msg
			delete(b.changed, p.row)
		}
	}
	b.urgent = false
	for r := range b.changed {
		b.urgent = b.urgent || r.leaving
	}
}
