package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"
)

// shape is what set statements write for each execution.
type shape int

const (
	// bare: the instance is inserted, claimed and finished, with a commit each.
	bare shape = iota
	// full: its task's plan is moved on and it is inserted as claimed, with an
	// event; then it is finished, with another event.
	full
)

// limit returns how many executions a second set statements reach.
func (b *bed) limit(s shape, connections int) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), *length)
	defer cancel()
	began := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	done, failure := 0, error(nil)
	for c := range connections {
		wg.Go(func() {
			n, err := b.sets(ctx, s, c, connections)
			mu.Lock()
			defer mu.Unlock()
			if done += n; err != nil {
				failure = err
			}
		})
	}
	wg.Wait()
	return float64(done) / time.Since(began).Seconds(), failure
}

// sets writes one set after the other, with tasks that no other connection uses,
// until ctx ends. It returns how many executions it has written.
func (b *bed) sets(ctx context.Context, s shape, connection, connections int) (int, error) {
	w := newSetWriter(b, *size)
	share := len(b.tasks) / connections
	done := 0
	for ; ctx.Err() == nil; done += *size {
		w.fill(s, connection*share, share, done)
		var err error
		switch s {
		case bare:
			err = w.commits([]statement{w.insert("DISPATCHED")}, []statement{w.claim()}, []statement{w.finish()})
		case full:
			err = w.commits([]statement{w.plan(), w.insert("RUNNING"), w.log()}, []statement{w.finish(), w.log()})
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// setWriter makes the statements for a set of executions.
type setWriter struct {
	bed  *bed
	size int
	now  int64 // microseconds

	taskIDs, ids    []any
	inserts, events []any // arguments
}

type statement struct {
	text string
	args []any
}

func newSetWriter(b *bed, size int) *setWriter { return &setWriter{bed: b, size: size} }

// fill takes the next set of executions, of the tasks from first on. Without a
// plan that moves on, each is due at an instant of its own.
func (w *setWriter) fill(s shape, first, count, done int) {
	now := time.Now()
	w.now = now.UnixMicro()
	w.taskIDs, w.ids, w.inserts, w.events = nil, nil, nil, nil
	for k := range w.size {
		t := &w.bed.tasks[first+(done+k)%count]
		due := now.Add(time.Duration(k) * time.Microsecond)
		if s == full {
			due = t.NextAt
			t.NextAt = due.Add(time.Second)
		}
		i := w.bed.instance(t, due, now)
		w.taskIDs = append(w.taskIDs, int64(t.ID))
		w.ids = append(w.ids, int64(i.ID))
		w.inserts = append(w.inserts, int64(i.ID), int64(t.ID), t.Name, i.ScheduledAt.UnixMicro(), w.now, w.now)
	}
}

func (w *setWriter) repeat(text string) string {
	return strings.TrimSuffix(strings.Repeat(text+", ", w.size), ", ")
}

func (w *setWriter) plan() statement {
	return statement{"UPDATE ax_task SET prev_at = next_at, next_at = next_at + 1000000 WHERE id IN (" + w.repeat("?") + ")", w.taskIDs}
}

func (w *setWriter) insert(status string) statement {
	return statement{"INSERT INTO ax_instance VALUES " + w.repeat("(?, 'bench', ?, ?, ?, 'scheduled', 0, '"+status+
		"', 1, 1, 'host-1-0001', 'host-1', '', 0, NULL, '0123456789abcdef0123456789abcdef', NULL, 0, ?, ?, NULL, NULL, 0, '', NULL, '', '', NULL, 0)"), w.inserts}
}

func (w *setWriter) claim() statement {
	return statement{
		"UPDATE ax_instance SET status = 'RUNNING', started_at = ? WHERE status = 'DISPATCHED' AND id IN (" + w.repeat("?") + ")",
		append([]any{w.now}, w.ids...),
	}
}

func (w *setWriter) finish() statement {
	return statement{
		"UPDATE ax_instance SET status = 'SUCCESS', message = 'done', ended_at = ? WHERE status = 'RUNNING' AND id IN (" + w.repeat("?") + ")",
		append([]any{w.now}, w.ids...),
	}
}

func (w *setWriter) log() statement {
	var args []any
	for k := range w.size {
		args = append(args, w.bed.ids.Next(time.Now()), w.ids[k], w.taskIDs[k], w.now)
	}
	return statement{"INSERT INTO ax_log VALUES " + w.repeat("(?, ?, ?, ?, 1, 'claimed', 'info', 'host-1', '')"), args}
}

// commits runs each group of statements in a transaction.
func (w *setWriter) commits(groups ...[]statement) error {
	for _, group := range groups {
		if err := w.commit(group); err != nil {
			return err
		}
	}
	return nil
}

func (w *setWriter) commit(group []statement) error {
	tx, err := w.bed.raw.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a Commit it says only that
	for _, s := range group {
		if err := w.exec(tx, s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// exec runs a statement and checks that it hit the whole set.
func (w *setWriter) exec(tx *sql.Tx, s statement) error {
	res, err := tx.Exec(s.text, s.args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != int64(w.size) {
		return fmt.Errorf("%d rows of %d (%w)", n, w.size, err)
	}
	return nil
}
