package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/axsched/ax/host/internal/ax"
)

// row is what the tests look at of a row of ax_instance.
type row struct {
	ID          int64
	Task        string
	ScheduledAt time.Time
	Kind        ax.Kind
	Status      ax.Status
	Attempt     int
	Reason      string
	Missed      int
	MissedUntil time.Time
	StartedAt   time.Time
	EndedAt     time.Time
	Params      string
	Message     string
	Error       string
	Data        string
}

// late is how long after its due time an instance started.
func (r row) late() time.Duration { return r.StartedAt.Sub(r.ScheduledAt) }

// database opens the database as somebody who looks and changes nothing.
func (w *world) database() *sql.DB {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.path("data", "ax.db")+"?mode=ro&_pragma=busy_timeout(10000)")
	w.must(err)
	return db
}

// rows returns the instances for which a condition holds, by task and due time.
func (w *world) rows(where string, args ...any) []row {
	w.t.Helper()
	db := w.database()
	defer db.Close()
	found, err := db.QueryContext(w.t.Context(), `SELECT id, task_name, scheduled_at, kind, status, attempt, reason, missed,
		coalesce(missed_until, 0), coalesce(started_at, 0), coalesce(ended_at, 0), coalesce(params, ''), message, error, coalesce(data, '')
		FROM ax_instance WHERE `+where+` ORDER BY task_name, scheduled_at`, args...)
	w.must(err)
	defer found.Close()
	var rows []row
	for found.Next() {
		var r row
		var scheduled, until, started, ended int64
		w.must(found.Scan(&r.ID, &r.Task, &scheduled, &r.Kind, &r.Status, &r.Attempt, &r.Reason, &r.Missed,
			&until, &started, &ended, &r.Params, &r.Message, &r.Error, &r.Data))
		r.ScheduledAt, r.MissedUntil = time.UnixMicro(scheduled), time.UnixMicro(until)
		r.StartedAt, r.EndedAt = time.UnixMicro(started), time.UnixMicro(ended)
		rows = append(rows, r)
	}
	w.must(found.Err())
	return rows
}

// of returns the instances of a task.
func (w *world) of(task string) []row {
	w.t.Helper()
	return w.rows("task_name = ?", task)
}

// instance waits until an instance is in one of the states, and returns it.
func (w *world) instance(id string, states ...ax.Status) (r row) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		found := w.rows("id = ?", id)
		if len(found) == 0 {
			return fmt.Errorf("there is no instance %s", id)
		}
		r = found[0]
		if slices.Contains(states, r.Status) {
			return nil
		}
		return fmt.Errorf("instance %s is %s (%s %s), want %v", id, r.Status, r.Message, r.Error, states)
	})
	return r
}

// some waits until a task has at least n instances in a state, and returns them.
func (w *world) some(task string, n int, state ax.Status) (found []row) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		found = w.rows("task_name = ? AND status = ?", task, state)
		if len(found) < n {
			return fmt.Errorf("task %s has %d instances that are %s, want %d", task, len(found), state, n)
		}
		return nil
	})
	return found
}

// texts returns the texts of an instance's events of a stage, joined.
func (w *world) texts(id string, stage ax.Stage) string {
	w.t.Helper()
	db := w.database()
	defer db.Close()
	found, err := db.QueryContext(w.t.Context(),
		`SELECT text FROM ax_log WHERE instance_id = ? AND stage = ? ORDER BY id`, id, stage)
	w.must(err)
	defer found.Close()
	var texts []string
	for found.Next() {
		var text string
		w.must(found.Scan(&text))
		texts = append(texts, text)
	}
	w.must(found.Err())
	return strings.Join(texts, "\n")
}

// integrity has SQLite check the whole file.
func (w *world) integrity() {
	w.t.Helper()
	db := w.database()
	defer db.Close()
	var answer string
	w.must(db.QueryRowContext(w.t.Context(), "PRAGMA integrity_check").Scan(&answer))
	if answer != "ok" {
		w.t.Errorf("integrity_check: %s", answer)
	}
}
