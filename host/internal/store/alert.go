package store

import (
	"context"
	"database/sql"

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

// Alerts returns the rows that the filter selects, newest window first.
func (s *Store) Alerts(ctx context.Context, f ax.AlertFilter) ([]ax.AlertRow, error) {
	const what = "read the alerts"
	w := where{}
	w.add("app = ?", f.App)
	if f.TaskID != 0 {
		w.add("task_id = ?", int64(f.TaskID))
	}
	in(&w, "state", f.States)
	if !f.EndsAfter.IsZero() {
		w.add("window_end > ?", f.EndsAfter.UnixMicro())
	}
	w.args = append(w.args, limit(f.Limit, 1000))
	rows, err := s.query(ctx, "SELECT "+alertColumns+" FROM ax_alert"+w.text+" ORDER BY window_start DESC, id DESC LIMIT ?", w.args...)
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
