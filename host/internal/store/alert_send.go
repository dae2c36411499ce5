package store

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// AlertTurns returns, for each notifier with unsettled messages, when the first
// of them is due.
func (s *Store) AlertTurns(ctx context.Context, app string) (map[string]time.Time, error) {
	type turn struct {
		notifier string
		at       time.Time
	}
	rows, err := collect(ctx, s, "read when alerts are due", func(row scanner) (turn, error) {
		var t turn
		err := row.Scan(&t.notifier, timeColumn{&t.at})
		return t, err
	}, "SELECT notifier, min(next_try_at) FROM ax_alert WHERE app = ? AND state IN (?, ?, ?) AND merged_into = 0 GROUP BY notifier",
		app, string(ax.AlertOpen), string(ax.AlertSending), string(ax.AlertFailed))
	turns := map[string]time.Time{}
	for _, t := range rows {
		turns[t.notifier] = t.at
	}
	return turns, err
}

// DueAlerts returns the unsettled messages for a notifier that are due, those
// that have waited longest first.
func (s *Store) DueAlerts(ctx context.Context, app, notifier string, now time.Time, n int) ([]ax.AlertRow, error) {
	return collect(ctx, s, "read the alerts that are due", scanAlert, "SELECT "+alertColumns+
		" FROM ax_alert WHERE app = ? AND state IN (?, ?, ?) AND next_try_at <= ? AND notifier = ? AND merged_into = 0 ORDER BY next_try_at, id LIMIT ?",
		app, string(ax.AlertOpen), string(ax.AlertSending), string(ax.AlertFailed), now.UnixMicro(), notifier, n)
}

// ToldAlerts returns what left for a notifier after the given time, oldest
// first, without the payloads.
func (s *Store) ToldAlerts(ctx context.Context, app, notifier string, after time.Time) ([]ax.AlertRow, error) {
	return collect(ctx, s, "read what was told", func(row scanner) (ax.AlertRow, error) {
		var r ax.AlertRow
		err := row.Scan(&r.ID, &r.TaskID, &r.State, timeColumn{&r.WindowEnd}, &r.Digest, &r.MergedInto)
		return r, err
	}, `SELECT id, task_id, state, window_end, digest, merged_into FROM ax_alert
  WHERE app = ? AND notifier = ? AND window_end > ? AND digest <> '' ORDER BY window_end, id`, app, notifier, after.UnixMicro())
}

// AlertNotifiers returns how the notifiers of an app fare, as far as they were
// used, by their names.
func (s *Store) AlertNotifiers(ctx context.Context, app string) ([]ax.AlertNotifier, error) {
	return collect(ctx, s, "read how notifiers fare", func(row scanner) (ax.AlertNotifier, error) {
		var n ax.AlertNotifier
		err := row.Scan(&n.App, &n.Name, timeColumn{&n.FailingSince}, &n.Failures, timeColumn{&n.NextTryAt}, &n.LastError, timeColumn{&n.SentAt})
		return n, err
	}, "SELECT app, name, failing_since, failures, next_try_at, last_error, sent_at FROM ax_alert_notifier WHERE app = ? ORDER BY name", app)
}

// WakeAlerts lets what another life of this host was sending be sent again at
// once: the caller knows that it is dead.
func (s *Store) WakeAlerts(ctx context.Context, app string, now time.Time) error {
	_, err := s.exec(ctx, "take over messages under way", "UPDATE ax_alert SET next_try_at = ?, version = version + 1 WHERE app = ? AND state = ?",
		micros(now), app, string(ax.AlertSending))
	return err
}

// Silence lets messages wait.
func (s *Store) Silence(ctx context.Context, m ax.AlertSilence) error {
	_, err := s.exec(ctx, "silence alerts", `INSERT INTO ax_alert_silence (id, app, task, notifier, until_at, reason, created_at, created_by)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, m.ID, m.App, m.Task, m.Notifier, micros(m.Until), Cut(m.Reason, MaxMessage), micros(m.At), m.By)
	return err
}

// EndSilence ends a silence before its time, or returns ErrNotFound.
func (s *Store) EndSilence(ctx context.Context, app string, id int64) error {
	return s.execOne(ctx, "end a silence", "DELETE FROM ax_alert_silence WHERE app = ? AND id = ?", app, id)
}

// Silences returns those that are not over, the first to end first.
func (s *Store) Silences(ctx context.Context, app string, now time.Time) ([]ax.AlertSilence, error) {
	return collect(ctx, s, "read the silences", func(row scanner) (ax.AlertSilence, error) {
		var m ax.AlertSilence
		err := row.Scan(&m.ID, &m.App, &m.Task, &m.Notifier, timeColumn{&m.Until}, &m.Reason, timeColumn{&m.At}, &m.By)
		return m, err
	}, `SELECT id, app, task, notifier, until_at, reason, created_at, created_by FROM ax_alert_silence
  WHERE app = ? AND until_at > ? ORDER BY until_at, id`, app, now.UnixMicro())
}

// AdvanceAlerts makes messages due now that gather, or wait for another try, until
// after the given time, such as when a silence has ended: their turn is looked at
// again.
func (s *Store) AdvanceAlerts(ctx context.Context, app string, now, after time.Time) error {
	_, err := s.exec(ctx, "let held alerts go", "UPDATE ax_alert SET next_try_at = ?, version = version + 1 WHERE app = ? AND state IN (?, ?) AND next_try_at > ?",
		micros(now), app, string(ax.AlertOpen), string(ax.AlertFailed), micros(after))
	return err
}
