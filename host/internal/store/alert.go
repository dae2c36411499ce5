package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const alertColumns = `id, app, task_id, notifier, event, state, window_start, window_end,
  count, first_at, last_at, payload, attempts, next_try_at, last_error`

// SaveAlerts writes notifications in one transaction, replacing rows with the
// same ID.
func (s *Store) SaveAlerts(ctx context.Context, rows ...ax.AlertRow) error {
	return s.writeTx(ctx, "save alerts", func(tx *sql.Tx) error {
		for i := range rows {
			r := &rows[i]
			if _, err := tx.ExecContext(ctx, s.sql("DELETE FROM ax_alert WHERE id = ?"), r.ID); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, s.sql("INSERT INTO ax_alert ("+alertColumns+") VALUES ("+placeholders(15)+")"),
				r.ID, r.App, int64(r.TaskID), r.Notifier, r.Event, string(r.State), micros(r.WindowStart), micros(r.WindowEnd),
				r.Count, micros(r.FirstAt), micros(r.LastAt), jsonText(r.Payload), r.Attempts, micros(r.NextTryAt), Cut(r.LastError, MaxMessage))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// PendingAlerts returns up to n notifications whose time has come, the longest
// waiting first: open and failed ones with NextTryAt not after now.
func (s *Store) PendingAlerts(ctx context.Context, app string, now time.Time, n int) ([]ax.AlertRow, error) {
	w := where{}
	w.add("app = ?", app)
	in(&w, "state", []ax.AlertState{ax.AlertOpen, ax.AlertFailed})
	w.add("next_try_at <= ?", now.UnixMicro())
	return s.alerts(ctx, w, "next_try_at, id", n)
}

// Alerts returns the rows that the filter selects, newest window first.
func (s *Store) Alerts(ctx context.Context, f ax.AlertFilter) ([]ax.AlertRow, error) {
	w := where{}
	w.add("app = ?", f.App)
	if f.TaskID != 0 {
		w.add("task_id = ?", int64(f.TaskID))
	}
	in(&w, "state", f.States)
	if !f.EndsAfter.IsZero() {
		w.add("window_end > ?", f.EndsAfter.UnixMicro())
	}
	return s.alerts(ctx, w, "window_start DESC, id DESC", limit(f.Limit, 1000))
}

func (s *Store) alerts(ctx context.Context, w where, order string, n int) ([]ax.AlertRow, error) {
	const what = "read the alerts"
	rows, err := s.query(ctx, "SELECT "+alertColumns+" FROM ax_alert"+w.text+" ORDER BY "+order+" LIMIT ?", append(w.args, n)...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.AlertRow
	for rows.Next() {
		var r ax.AlertRow
		err := rows.Scan(&r.ID, &r.App, &r.TaskID, &r.Notifier, &r.Event, &r.State, timeColumn{&r.WindowStart}, timeColumn{&r.WindowEnd},
			&r.Count, timeColumn{&r.FirstAt}, timeColumn{&r.LastAt}, jsonColumn{&r.Payload}, &r.Attempts, timeColumn{&r.NextTryAt}, &r.LastError)
		if err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, r)
	}
	return all, s.wrap(what, rows.Err())
}

// MarkSent notes that the notifier has taken a message.
func (s *Store) MarkSent(ctx context.Context, id int64) error {
	return s.execOne(ctx, fmt.Sprintf("mark alert %d as sent", id),
		"UPDATE ax_alert SET state = ?, attempts = attempts + 1, next_try_at = NULL, last_error = '' WHERE id = ?",
		string(ax.AlertSent), id)
}

// MarkFailed notes that a delivery failed. The next one is due at nextTry; if
// that is zero the message is given up.
func (s *Store) MarkFailed(ctx context.Context, id int64, cause string, nextTry time.Time) error {
	state := ax.AlertFailed
	if nextTry.IsZero() {
		state = ax.AlertGivenUp
	}
	return s.execOne(ctx, fmt.Sprintf("mark alert %d as %s", id, state),
		"UPDATE ax_alert SET state = ?, attempts = attempts + 1, next_try_at = ?, last_error = ? WHERE id = ?",
		string(state), micros(nextTry), Cut(cause, MaxMessage), id)
}
