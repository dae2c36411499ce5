package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const alertEventColumns = "id, app, task_id, subject, receivers, event, count, at, instance_id, attempt, node, detail"

// alertEventArgs lists the values in the order of alertEventColumns.
func alertEventArgs(e *ax.AlertEvent) []any {
	receivers := ""
	if len(e.Receivers) > 0 {
		b, _ := json.Marshal(e.Receivers) // texts always marshal
		receivers = string(b)
	}
	return []any{
		e.ID, e.App, int64(e.TaskID), e.Subject, receivers, e.Event, e.Count, micros(e.At),
		int64(e.Instance), e.Attempt, e.Node, Cut(e.Detail, MaxError),
	}
}

func scanAlertEvent(row scanner) (ax.AlertEvent, error) {
	var e ax.AlertEvent
	var receivers string
	err := row.Scan(&e.ID, &e.App, &e.TaskID, &e.Subject, &receivers, &e.Event, &e.Count, timeColumn{&e.At},
		&e.Instance, &e.Attempt, &e.Node, &e.Detail)
	if err == nil && receivers != "" {
		err = json.Unmarshal([]byte(receivers), &e.Receivers)
	}
	return e, err
}

// AlertEvents returns the oldest events of an app that are in no message yet.
func (s *Store) AlertEvents(ctx context.Context, app string, n int) ([]ax.AlertEvent, error) {
	return collect(ctx, s, "read the events for alerts", scanAlertEvent,
		"SELECT "+alertEventColumns+" FROM ax_alert_event WHERE app = ? ORDER BY id LIMIT ?", app, n)
}

func scanAlertTask(row scanner) (ax.AlertTask, error) {
	var t ax.AlertTask
	var state string
	err := row.Scan(&t.TaskID, &t.App, &t.Failures, &state)
	if state != "" {
		t.State = json.RawMessage(state)
	}
	return t, err
}

const selectAlertTask = "SELECT task_id, app, failures, state FROM ax_alert_task"

// AlertTasks returns how the given tasks fare; those that fare well may have no
// row.
func (s *Store) AlertTasks(ctx context.Context, ids []ax.TaskID) ([]ax.AlertTask, error) {
	return inChunks(ids, func(chunk []ax.TaskID) ([]ax.AlertTask, error) {
		return collect(ctx, s, "read how tasks fare", scanAlertTask,
			selectAlertTask+" WHERE task_id IN ("+placeholders(len(chunk))+")", idArgs(chunk)...)
	})
}

// FailingTasks returns the tasks of an app that failed at their last run.
func (s *Store) FailingTasks(ctx context.Context, app string) ([]ax.AlertTask, error) {
	return collect(ctx, s, "read which tasks fail", scanAlertTask, selectAlertTask+" WHERE app = ? AND failures > 0", app)
}

// TaskAlerts returns the notifications of tasks that are not settled, and those
// that were settled with a window that ends after the given time.
func (s *Store) TaskAlerts(ctx context.Context, app string, ids []ax.TaskID, after time.Time) ([]ax.AlertRow, error) {
	return inChunks(ids, func(chunk []ax.TaskID) ([]ax.AlertRow, error) {
		args := append([]any{app}, idArgs(chunk)...)
		args = append(args, string(ax.AlertOpen), string(ax.AlertSending), string(ax.AlertFailed), after.UnixMicro())
		return collect(ctx, s, "read the alerts of tasks", scanAlert, "SELECT "+alertColumns+" FROM ax_alert WHERE app = ? AND task_id IN ("+
			placeholders(len(chunk))+") AND (state IN (?, ?, ?) OR window_end > ?) ORDER BY id", args...)
	})
}

// EndTexts returns what instances say about their ends: the error or else the
// reason.
func (s *Store) EndTexts(ctx context.Context, ids []ax.InstanceID) (map[ax.InstanceID]string, error) {
	type end struct {
		id          ax.InstanceID
		err, reason string
	}
	rows, err := inChunks(ids, func(chunk []ax.InstanceID) ([]end, error) {
		return collect(ctx, s, "read the errors of instances", func(row scanner) (end, error) {
			var e end
			err := row.Scan(&e.id, &e.err, &e.reason)
			return e, err
		}, "SELECT id, error, reason FROM ax_instance WHERE id IN ("+placeholders(len(chunk))+")", idArgs(chunk)...)
	})
	texts := make(map[ax.InstanceID]string, len(rows))
	for _, e := range rows {
		texts[e.id] = cmp.Or(e.err, e.reason)
	}
	return texts, err
}

// inChunks reads in parts that are small enough for one statement.
func inChunks[ID, T any](ids []ID, read func([]ID) ([]T, error)) ([]T, error) {
	var all []T
	for chunk := range slices.Chunk(ids, maxListed) {
		part, err := read(chunk)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}
