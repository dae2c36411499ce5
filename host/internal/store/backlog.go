package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// RunTimes sums up how long the runs of a task took.
type RunTimes struct {
	Task string
	// Runs is how many ended by themselves, Failures how many of them in FAILED,
	// TIMEOUT or LOST.
	Runs, Failures int64
	// Average and Longest are about the newest attempt of each run. LOST ones are
	// left out: when they stopped nobody knows.
	Average, Longest time.Duration
}

// durationsQuery walks the instances of one task after the other, from the
// first one that is young enough on: an index on ended_at would serve as well,
// but every execution would have to keep it up.
const durationsQuery = `SELECT t.name, count(*),
  sum(CASE WHEN i.status = 'SUCCESS' THEN 0 ELSE 1 END),
  sum(CASE WHEN i.status = 'LOST' THEN 0 ELSE 1 END),
  sum(CASE WHEN i.status = 'LOST' THEN 0 ELSE i.ended_at - i.started_at END),
  max(CASE WHEN i.status = 'LOST' THEN 0 ELSE i.ended_at - i.started_at END)
  FROM ax_task t JOIN ax_instance i ON i.task_id = t.id
  WHERE t.app = ? AND t.deleted_at IS NULL AND i.id >= ?
  AND i.status IN ('SUCCESS', 'FAILED', 'TIMEOUT', 'LOST') AND i.started_at IS NOT NULL AND i.ended_at IS NOT NULL
  GROUP BY t.name`

// Durations sums up the runs that were recorded since the given time and have
// ended, by task in the order of the names. Tasks without any, and tasks that
// were deleted, are left out.
func (s *Store) Durations(ctx context.Context, app string, since time.Time) ([]RunTimes, error) {
	const what = "sum up the runs"
	rows, err := s.query(ctx, durationsQuery, app, ax.FirstID(since))
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []RunTimes
	for rows.Next() {
		var r RunTimes
		var timed, total, longest int64 // runs whose length is known, and microseconds
		if err := rows.Scan(&r.Task, &r.Runs, &r.Failures, &timed, &total, &longest); err != nil {
			return nil, s.wrap(what, err)
		}
		r.Average = time.Duration(total/max(timed, 1)) * time.Microsecond
		r.Longest = time.Duration(longest) * time.Microsecond
		all = append(all, r)
	}
	return all, s.wrap(what, rows.Err())
}

// Waiting sums up the instances of a task that are in one state, not a final
// one.
type Waiting struct {
	Task   string
	Status ax.Status
	Count  int64
	// OldestDue and OldestStart are the earliest due time and start among them;
	// NextRetry is the first time at which one is tried again. The last two are
	// zero where no instance has such a time.
	OldestDue, OldestStart, NextRetry time.Time
}

// Waiting sums up the instances that are in no final state, by task and status
// in the order of both.
func (s *Store) Waiting(ctx context.Context, app string) ([]Waiting, error) {
	const what = "sum up the unfinished instances"
	text, args := waitingQuery(app)
	rows, err := s.query(ctx, text, args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []Waiting
	for rows.Next() {
		var w Waiting
		var due, start, retry sql.NullInt64
		if err := rows.Scan(&w.Task, &w.Status, &w.Count, &due, &start, &retry); err != nil {
			return nil, s.wrap(what, err)
		}
		w.OldestDue, w.OldestStart, w.NextRetry = fromMicros(due), fromMicros(start), fromMicros(retry)
		all = append(all, w)
	}
	return all, s.wrap(what, rows.Err())
}

func waitingQuery(app string) (text string, args []any) {
	w := where{}
	w.add("app = ?", app)
	in(&w, "status", ax.Unfinished())
	return `SELECT task_name, status, count(*), min(scheduled_at), min(started_at), min(retry_at)
  FROM ax_instance` + w.text + ` GROUP BY task_name, status ORDER BY task_name, status`, w.args
}
