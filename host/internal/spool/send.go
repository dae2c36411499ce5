package spool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// batch bounds the results that are under way at once.
	batch = 64
	// firstPause and lastPause bound the waits between tries while the database
	// takes nothing.
	firstPause = time.Second
	lastPause  = 30 * time.Second
	// patience bounds reading back what became of a result.
	patience = 10 * time.Second
)

// send delivers what is in the file until the spool is closed.
func (s *Spool) send() {
	for pause := firstPause; s.ctx.Err() == nil; {
		left, err := s.runOnce(s.ctx)
		switch {
		case s.ctx.Err() != nil:
		case err != nil:
			s.cfg.Log.Warn("results wait for the database", "in", pause, "error", err)
			s.sleep(pause)
			pause = min(2*pause, lastPause)
		default:
			pause = firstPause
			s.await(left > 0)
		}
	}
}

// await waits for a new result; some says that others are to be tried again
// some time.
func (s *Spool) await(some bool) {
	var again <-chan time.Time
	if some {
		timer := time.NewTimer(lastPause)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-s.wake:
		s.sleep(firstPause) // the database has just refused it
	case <-again:
	case <-s.ctx.Done():
	}
}

func (s *Spool) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// runOnce tries each result once, oldest first. It gives up at the first sign
// that the database is away, and returns that as an error; left is how many the
// database refused for other reasons.
func (s *Spool) runOnce(ctx context.Context) (left int, err error) {
	for after := int64(0); ; {
		rows, err := s.file.oldest(ctx, after, batch)
		if err != nil {
			return left, fmt.Errorf("read the spool: %w", err)
		}
		if len(rows) == 0 {
			return left, nil
		}
		after = rows[len(rows)-1].id
		kept, err := s.try(ctx, rows)
		left += kept
		if err != nil {
			return left, err
		}
	}
}

// answer is what the writer said about a result.
type answer struct {
	applied bool
	err     error
}

// sending is a result that is on its way to the database.
type sending struct {
	row      row
	result   Result
	answered chan answer
}

// try submits rows, and takes out of the file what is settled. kept counts the
// others; the error says that the database is away.
func (s *Spool) try(ctx context.Context, rows []row) (kept int, away error) {
	var done []int64
	for _, sent := range s.submit(rows) {
		fate, err := s.fate(ctx, sent)
		switch {
		case ctx.Err() != nil:
			// It stays for the next Open.
		case err == nil:
			s.settled(sent.result, fate)
			done = append(done, sent.row.id)
		case s.expired(sent.row, err):
			s.settled(sent.result, Expired)
			done = append(done, sent.row.id)
		case errors.Is(err, ax.ErrUnavailable) || errors.Is(err, ax.ErrClosed):
			kept, away = kept+1, err
		default:
			s.cfg.Log.Error("the database refuses a kept result, will try again",
				"instance_id", sent.row.instance, "attempt", sent.row.attempt, "error", err)
			kept++
		}
	}
	if len(done) > 0 {
		if err := s.file.remove(context.WithoutCancel(ctx), done); err != nil {
			return kept, fmt.Errorf("take settled results out of the spool: %w", err)
		}
	}
	return kept, away
}

// submit hands the results in rows to the writer. One that cannot be read stays
// in the file for somebody to look at.
func (s *Spool) submit(rows []row) []sending {
	var all []sending
	for _, r := range rows {
		result, err := decode(r.result)
		if err != nil {
			if !s.unreadable[r.id] {
				s.unreadable[r.id] = true
				s.cfg.Log.Error("a kept result cannot be read and stays in the spool",
					"path", s.cfg.Path, "id", r.id, "instance_id", r.instance, "attempt", r.attempt, "error", err)
			}
			continue
		}
		sent := sending{row: r, result: result, answered: make(chan answer, 1)}
		change := result.change()
		change.Done = func(applied bool, err error) { sent.answered <- answer{applied, err} }
		s.cfg.Writer.Submit(change)
		all = append(all, sent)
	}
	return all
}

// expired reports whether a result that the database has refused is to be given
// up.
func (s *Spool) expired(r row, refused error) bool {
	if time.Now().Before(r.expiresAt) {
		return false
	}
	s.cfg.Log.Error("a result was given up: the database did not take it in time",
		"instance_id", r.instance, "attempt", r.attempt, "since", r.failedAt.UTC(), "error", refused)
	return true
}

func (s *Spool) settled(r Result, fate Fate) {
	if s.cfg.Settled != nil {
		s.cfg.Settled(r, fate)
	}
}

// fate waits for the answer to a result. An error says that it is not settled.
func (s *Spool) fate(ctx context.Context, sent sending) (Fate, error) {
	var a answer
	select {
	case a = <-sent.answered:
	case <-ctx.Done():
		return Expired, ctx.Err()
	}
	switch {
	case a.err != nil:
		return Expired, a.err
	case a.applied:
		return Delivered, nil
	}
	// An earlier try may have been written although the answer was an error.
	written, err := s.written(ctx, sent.result)
	switch {
	case err != nil:
		return Expired, fmt.Errorf("%w: read back a result: %w", ax.ErrUnavailable, err)
	case written:
		return Delivered, nil
	}
	return Late, s.noteLate(ctx, sent.result)
}

// written reports whether the result is in the database: its events are written
// together with it, and their ids are unique.
func (s *Spool) written(ctx context.Context, r Result) (bool, error) {
	if len(r.Events) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	first := r.Events[0]
	found, err := s.cfg.Events.Events(ctx, ax.EventFilter{Instance: first.InstanceID, After: first.ID - 1, Limit: 1})
	return len(found) > 0 && found[0].ID == first.ID, err
}

// noteLate writes into the log of the instance what a result would have been
// that came too late.
func (s *Spool) noteLate(ctx context.Context, r Result) error {
	now, inst := time.Now(), &r.Move.New
	text := fmt.Sprintf("%s of attempt %d came too late, another one holds the instance: %s",
		r.Outcome.Status, inst.Attempt, r.Outcome.Message+r.Outcome.Error)
	s.cfg.Log.Warn("a result came too late", "instance_id", inst.ID, "attempt", inst.Attempt, "status", r.Outcome.Status)
	answered := make(chan answer, 1)
	s.cfg.Writer.Submit(ax.Change{
		Events: []ax.Event{{
			ID: s.cfg.IDs.Next(now), InstanceID: inst.ID, TaskID: inst.TaskID, At: now, Attempt: inst.Attempt,
			Stage: ax.StageLateResult, Level: "warn", Node: s.cfg.Node, Text: text,
		}},
		Done: func(applied bool, err error) { answered <- answer{applied, err} },
	})
	select {
	case a := <-answered:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
