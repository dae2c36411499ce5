package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// AlertLease returns the lease of an app; its Owner is empty if nobody had one.
func (s *Store) AlertLease(ctx context.Context, app string) (ax.AlertLease, error) {
	l, err := readLease(s.readDB.QueryRowContext(ctx, s.sql(selectLease), app))
	if err == sql.ErrNoRows { //nolint:errorlint // comes from Scan itself
		return ax.AlertLease{App: app}, nil
	}
	return l, s.wrap("read the lease of the alerts", err)
}

const selectLease = "SELECT app, owner, fence, until_at FROM ax_alert_lease WHERE app = ?"

func readLease(row scanner) (ax.AlertLease, error) {
	var l ax.AlertLease
	err := row.Scan(&l.App, &l.Owner, &l.Fence, timeColumn{&l.Until})
	return l, err
}

// TakeAlertLease gives the lease of an app to owner if nobody holds it, the
// holder's time is over, or the caller knows that the holder is dead. ok tells
// whether it did; if not, the lease is that of the holder. All by the clock of
// the database.
func (s *Store) TakeAlertLease(ctx context.Context, app, owner string, ttl time.Duration, dead bool) (l ax.AlertLease, ok bool, err error) {
	const what = "take the lease of the alerts"
	now, err := s.Now(ctx)
	if err != nil {
		return l, false, fmt.Errorf("%s: %w", what, err)
	}
	old, err := s.AlertLease(ctx, app)
	if err != nil {
		return old, false, err
	}
	l = ax.AlertLease{App: app, Owner: owner, Fence: old.Fence + 1, Until: now.Add(ttl).Truncate(time.Microsecond)}
	switch {
	case old.Owner == "" && old.Fence == 0:
		_, err = s.exec(ctx, what, "INSERT INTO ax_alert_lease (app, owner, fence, until_at) VALUES (?, ?, ?, ?)", app, owner, l.Fence, micros(l.Until))
		if err != nil && s.dialect.duplicate(err) {
			return old, false, nil
		}
		return l, err == nil, err
	case old.Owner != "" && old.Until.After(now) && !dead:
		return old, false, nil
	}
	n, err := s.exec(ctx, what, "UPDATE ax_alert_lease SET owner = ?, fence = ?, until_at = ? WHERE app = ? AND fence = ?",
		owner, l.Fence, micros(l.Until), app, old.Fence)
	return l, n > 0, err
}

// LeaveAlertLease lets the next one have the lease at once.
func (s *Store) LeaveAlertLease(ctx context.Context, l ax.AlertLease) error {
	_, err := s.exec(ctx, "leave the lease of the alerts", "UPDATE ax_alert_lease SET owner = '' WHERE app = ? AND owner = ? AND fence = ?", l.App, l.Owner, l.Fence)
	return err
}

// WriteAlerts writes a batch in one transaction and prolongs the lease. It
// returns ax.ErrLeaseLost if another host has taken the lease, and ax.ErrMoved if
// an event is gone or a row was written by somebody else; then nothing is
// written.
func (s *Store) WriteAlerts(ctx context.Context, b ax.AlertBatch) error {
	const what = "write alerts"
	now, err := s.Now(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return s.writeTx(ctx, what, func(tx *sql.Tx) error {
		w := alertTx{s: s, tx: tx}
		w.must(ctx, ax.ErrLeaseLost, "UPDATE ax_alert_lease SET until_at = ? WHERE app = ? AND owner = ? AND fence = ?",
			micros(now.Add(b.TTL)), b.Lease.App, b.Lease.Owner, b.Lease.Fence)
		w.deleteEvents(ctx, b.Events)
		for i := range b.Tasks {
			w.task(ctx, &b.Tasks[i])
		}
		for i := range b.Notifiers {
			w.notifier(ctx, &b.Notifiers[i])
		}
		for i := range b.Rows {
			if r := &b.Rows[i]; r.Version == 0 {
				w.exec(ctx, insertAlert, alertArgs(r)...)
			} else {
				w.must(ctx, ax.ErrMoved, updateAlert, append(alertValues(r), r.ID, r.Version)...)
			}
		}
		for _, m := range b.Merged {
			w.exec(ctx, "UPDATE ax_alert SET state = ?, window_end = ?, version = version + 1 WHERE merged_into = ?", string(m.State), micros(m.At), m.Into)
		}
		return w.err
	})
}

// alertTx runs statements until one fails.
type alertTx struct {
	s   *Store
	tx  *sql.Tx
	err error
}

func (w *alertTx) exec(ctx context.Context, text string, args ...any) int64 {
	if w.err != nil {
		return 0
	}
	res, err := w.tx.ExecContext(ctx, w.s.sql(text), args...)
	if err != nil {
		w.err = err
		return 0
	}
	n, err := res.RowsAffected()
	w.err = err
	return n
}

// must is exec for a statement that has to match a row.
func (w *alertTx) must(ctx context.Context, otherwise error, text string, args ...any) {
	if n := w.exec(ctx, text, args...); w.err == nil && n == 0 {
		w.err = otherwise
	}
}

// maxListed bounds the ids in one statement.
const maxListed = 500

func (w *alertTx) deleteEvents(ctx context.Context, ids []int64) {
	for chunk := range slices.Chunk(ids, maxListed) {
		n := w.exec(ctx, "DELETE FROM ax_alert_event WHERE id IN ("+placeholders(len(chunk))+")", idArgs(chunk)...)
		if w.err == nil && int(n) != len(chunk) {
			w.err = ax.ErrMoved
		}
	}
}

// task replaces a row of ax_alert_task, or takes it away if it says nothing, and
// keeps ax_task in step.
func (w *alertTx) task(ctx context.Context, t *ax.AlertTask) {
	if t.Failures == 0 && len(t.State) == 0 {
		w.exec(ctx, "DELETE FROM ax_alert_task WHERE task_id = ?", int64(t.TaskID))
	} else if w.exec(ctx, "UPDATE ax_alert_task SET failures = ?, state = ? WHERE task_id = ?", t.Failures, string(t.State), int64(t.TaskID)) == 0 {
		w.exec(ctx, "INSERT INTO ax_alert_task (task_id, app, failures, state) VALUES (?, ?, ?, ?)", int64(t.TaskID), t.App, t.Failures, string(t.State))
	}
	w.exec(ctx, "UPDATE ax_task SET failures = ? WHERE id = ? AND failures <> ? AND deleted_at IS NULL", t.Failures, int64(t.TaskID), t.Failures)
}

func (w *alertTx) notifier(ctx context.Context, n *ax.AlertNotifier) {
	values := []any{micros(n.FailingSince), n.Failures, micros(n.NextTryAt), Cut(n.LastError, MaxMessage), micros(n.SentAt), n.App, n.Name}
	if w.exec(ctx, `UPDATE ax_alert_notifier SET failing_since = ?, failures = ?, next_try_at = ?, last_error = ?, sent_at = ?
  WHERE app = ? AND name = ?`, values...) == 0 {
		w.exec(ctx, `INSERT INTO ax_alert_notifier (failing_since, failures, next_try_at, last_error, sent_at, app, name)
  VALUES (?, ?, ?, ?, ?, ?, ?)`, values...)
	}
}
