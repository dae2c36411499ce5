package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/axsched/ax/host/chaos/internal/verdict"
	"github.com/axsched/ax/host/internal/ax"
)

// facts reads what hosts and jobs have left behind.
func (w *world) facts(ctx context.Context, faults []verdict.Fault) (verdict.Facts, error) {
	f := verdict.Facts{Tasks: known(w.tasks), From: w.from, Until: w.until, Faults: faults}
	db, err := w.db.read()
	if err != nil {
		return f, fmt.Errorf("open the database: %w", err)
	}
	defer db.Close()
	if f.Rows, err = readRows(ctx, db); err != nil {
		return f, fmt.Errorf("read instances: %w", err)
	}
	if err := readEvents(ctx, db, f.Rows); err != nil {
		return f, fmt.Errorf("read events: %w", err)
	}
	journal, err := os.Open(w.path("journal"))
	if err != nil {
		return f, fmt.Errorf("read the journal: %w", err)
	}
	defer journal.Close()
	f.Lines, err = verdict.ReadJournal(journal)
	return f, err
}

func readRows(ctx context.Context, db *sql.DB) ([]verdict.Row, error) {
	found, err := db.QueryContext(ctx, `SELECT id, task_name, scheduled_at, kind, status, attempt, missed, coalesce(missed_until, 0)
		FROM ax_instance ORDER BY task_name, scheduled_at, id`)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var rows []verdict.Row
	for found.Next() {
		var r verdict.Row
		var due, until int64
		if err := found.Scan(&r.ID, &r.Task, &due, &r.Kind, &r.Status, &r.Attempt, &r.Missed, &until); err != nil {
			return nil, err
		}
		r.Due, r.MissedUntil = time.UnixMicro(due), time.UnixMicro(until)
		rows = append(rows, r)
	}
	return rows, found.Err()
}

// readEvents puts what the events tell into the rows.
func readEvents(ctx context.Context, db *sql.DB, rows []verdict.Row) error {
	byID := make(map[ax.InstanceID]*verdict.Row, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	found, err := db.QueryContext(ctx, `SELECT instance_id, attempt, stage, node FROM ax_log
		WHERE stage IN ('trigger_ready', 'outcome', 'lost', 'late_result') ORDER BY id`)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var id ax.InstanceID
		var node string
		var e verdict.End
		if err := found.Scan(&id, &e.Attempt, &e.Stage, &node); err != nil {
			return err
		}
		r := byID[id]
		switch {
		case r == nil: // an event of nothing shows where rows are missing
		case e.Stage == ax.StageTriggerReady:
			r.Scheduler = node
		default:
			r.Ends = append(r.Ends, e)
		}
	}
	return found.Err()
}

// unfinished counts instances that have not ended and tasks that are still due.
func unfinished(ctx context.Context, db *sql.DB) (instances, tasks int, err error) {
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM ax_instance
		WHERE status IN ('TRIGGERED', 'DISPATCHED', 'RUNNING', 'RETRYING')`).Scan(&instances)
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM ax_task WHERE next_at IS NOT NULL`).Scan(&tasks)
	}
	return instances, tasks, err
}

// explain shows what the database and the journal hold about an instance.
func (w *world) explain(ctx context.Context, db *sql.DB, id ax.InstanceID, lines []verdict.Line) error {
	var task, kind, status, node, reason, owner string
	var due, created int64
	var attempt, fence int
	err := db.QueryRowContext(ctx, `SELECT task_name, scheduled_at, kind, status, attempt, fence, node, owner, reason, created_at
		FROM ax_instance WHERE id = ?`, id).Scan(&task, &due, &kind, &status, &attempt, &fence, &node, &owner, &reason, &created)
	if err != nil {
		return fmt.Errorf("read instance %d: %w", id, err)
	}
	w.say("  instance %d of %s, due %s, %s, %s, attempt %d, fence %d, on %s (%s), made %s %s", id, task, micro(due), kind, status,
		attempt, fence, node, owner, micro(created), reason)
	found, err := db.QueryContext(ctx, "SELECT at, attempt, stage, node, text FROM ax_log WHERE instance_id = ? ORDER BY id", id)
	if err != nil {
		return fmt.Errorf("read events of instance %d: %w", id, err)
	}
	defer found.Close()
	for found.Next() {
		var at int64
		var stage, text string
		if err := found.Scan(&at, &attempt, &stage, &node, &text); err != nil {
			return fmt.Errorf("read events of instance %d: %w", id, err)
		}
		w.say("    %s  %-15s %s: %s (attempt %d)", micro(at), stage, node, text, attempt)
	}
	for _, l := range lines {
		if l.Instance == id {
			w.say("    %s  journal: %s on %s, attempt %d, fence %d, pid %d", micro(l.At.UnixMicro()), l.What, l.Node, l.Attempt, l.Fence, l.PID)
		}
	}
	return found.Err()
}

func micro(at int64) string { return time.UnixMicro(at).UTC().Format("15:04:05.000000") }
