package store

import (
	"context"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const alertColumns = `id, app, task_id, task_name, notifier, event, state, window_start, window_end,
  count, first_at, last_at, payload, attempts, next_try_at, last_error, digest, merged_into, version`

// alertArgs lists the values in the order of alertColumns.
func alertArgs(r *ax.AlertRow) []any {
	return append([]any{r.ID, r.App, int64(r.TaskID)}, alertValues(r)...)
}

// alertValues are those of the columns that may change, and the version that
// the write brings about.
func alertValues(r *ax.AlertRow) []any {
	return []any{
		r.TaskName, r.Notifier, r.Event, string(r.State), micros(r.WindowStart), micros(r.WindowEnd),
		r.Count, micros(r.FirstAt), micros(r.LastAt), jsonText(r.Payload), r.Attempts, micros(r.NextTryAt),
		Cut(r.LastError, MaxMessage), r.Digest, r.MergedInto, r.Version + 1,
	}
}

const (
	insertAlert = "INSERT INTO ax_alert (" + alertColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	updateAlert = `UPDATE ax_alert SET task_name = ?, notifier = ?, event = ?, state = ?, window_start = ?, window_end = ?,
  count = ?, first_at = ?, last_at = ?, payload = ?, attempts = ?, next_try_at = ?, last_error = ?, digest = ?, merged_into = ?,
  version = ? WHERE id = ? AND version = ?`
)

func scanAlert(row scanner) (ax.AlertRow, error) {
	var r ax.AlertRow
	err := row.Scan(&r.ID, &r.App, &r.TaskID, &r.TaskName, &r.Notifier, &r.Event, &r.State, timeColumn{&r.WindowStart}, timeColumn{&r.WindowEnd},
		&r.Count, timeColumn{&r.FirstAt}, timeColumn{&r.LastAt}, jsonColumn{&r.Payload}, &r.Attempts, timeColumn{&r.NextTryAt},
		&r.LastError, &r.Digest, &r.MergedInto, &r.Version)
	return r, err
}

// Alerts returns the rows that the filter selects, newest window first.
func (s *Store) Alerts(ctx context.Context, f ax.AlertFilter) ([]ax.AlertRow, error) {
	w := where{}
	w.add("app = ?", f.App)
	if f.TaskID != 0 {
		w.add("task_id = ?", int64(f.TaskID))
	}
	if f.Task != "" {
		w.add("task_name = ?", f.Task)
	}
	if f.Notifier != "" {
		w.add("notifier = ?", f.Notifier)
	}
	in(&w, "state", f.States)
	if !f.EndsAfter.IsZero() {
		w.add("window_end > ?", f.EndsAfter.UnixMicro())
	}
	if f.Before != 0 {
		w.add("id < ?", f.Before)
	}
	w.args = append(w.args, limit(f.Limit, 1000))
	return collect(ctx, s, "read the alerts", scanAlert,
		"SELECT "+alertColumns+" FROM ax_alert"+w.text+" ORDER BY window_start DESC, id DESC LIMIT ?", w.args...)
}

// Alert returns one notification, or ErrNotFound.
func (s *Store) Alert(ctx context.Context, app string, id int64) (ax.AlertRow, error) {
	r, err := scanAlert(s.readDB.QueryRowContext(ctx, s.sql("SELECT "+alertColumns+" FROM ax_alert WHERE id = ? AND app = ?"), id, app))
	return r, s.wrap(fmt.Sprintf("read alert %d", id), err)
}

// ResendAlert has a dead letter sent again, as soon as its turn comes. It
// returns ErrNotFound if there is no dead letter of that ID.
func (s *Store) ResendAlert(ctx context.Context, app string, id int64, now time.Time) error {
	return s.execOne(ctx, fmt.Sprintf("send alert %d again", id), `UPDATE ax_alert SET state = ?, attempts = 0, window_end = ?, next_try_at = ?,
  version = version + 1 WHERE id = ? AND app = ? AND state = ?`,
		string(ax.AlertFailed), micros(now), micros(now), id, app, string(ax.AlertGivenUp))
}

// DropAlert throws a dead letter away, or returns ErrNotFound.
func (s *Store) DropAlert(ctx context.Context, app string, id int64) error {
	return s.execOne(ctx, fmt.Sprintf("drop alert %d", id), "UPDATE ax_alert SET state = ?, version = version + 1 WHERE id = ? AND app = ? AND state = ?",
		string(ax.AlertDropped), id, app, string(ax.AlertGivenUp))
}

// AlertQueues returns what waits for each notifier that is waited for, by name.
func (s *Store) AlertQueues(ctx context.Context, app string) ([]ax.AlertQueue, error) {
	w := where{}
	w.add("app = ?", app)
	in(&w, "state", []ax.AlertState{ax.AlertOpen, ax.AlertSending, ax.AlertFailed, ax.AlertGivenUp})
	dead := string(ax.AlertGivenUp)
	return collect(ctx, s, "count the alerts", func(row scanner) (ax.AlertQueue, error) {
		var q ax.AlertQueue
		err := row.Scan(&q.Notifier, &q.Waiting, &q.Dead, timeColumn{&q.Since})
		return q, err
	}, `SELECT notifier, count(CASE WHEN state <> ? THEN 1 END), count(CASE WHEN state = ? THEN 1 END), min(CASE WHEN state <> ? THEN window_end END)
  FROM ax_alert`+w.text+" AND merged_into = 0 GROUP BY notifier ORDER BY notifier", append([]any{dead, dead, dead}, w.args...)...)
}

// collect runs a query and scans all of its rows.
func collect[T any](ctx context.Context, s *Store, what string, scan func(scanner) (T, error), text string, args ...any) ([]T, error) {
	rows, err := s.query(ctx, text, args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, v)
	}
	return all, s.wrap(what, rows.Err())
}

// idArgs are ids as arguments of an IN.
func idArgs[T ~int64](ids []T) []any {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = int64(id)
	}
	return args
}
