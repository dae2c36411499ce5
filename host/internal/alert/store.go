package alert

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Store keeps events and notifications, in a database that all hosts of the app
// share.
type Store interface {
	// Submit writes events.
	Submit(c ax.Change)

	TakeAlertLease(ctx context.Context, app, owner string, ttl time.Duration, dead bool) (l ax.AlertLease, ok bool, err error)
	LeaveAlertLease(ctx context.Context, l ax.AlertLease) error
	// WriteAlerts writes all or nothing: ax.ErrLeaseLost, ax.ErrMoved.
	WriteAlerts(ctx context.Context, b ax.AlertBatch) error
	// AdvanceAlerts makes messages due now that gather until after a time.
	AdvanceAlerts(ctx context.Context, app string, now, after time.Time) error
	// WakeAlerts makes messages due now that a dead host was sending.
	WakeAlerts(ctx context.Context, app string, now time.Time) error

	AlertEvents(ctx context.Context, app string, n int) ([]ax.AlertEvent, error)
	AlertTasks(ctx context.Context, ids []ax.TaskID) ([]ax.AlertTask, error)
	FailingTasks(ctx context.Context, app string) ([]ax.AlertTask, error)
	TaskAlerts(ctx context.Context, app string, ids []ax.TaskID, after time.Time) ([]ax.AlertRow, error)
	// EndTexts returns the error or the reason of instances.
	EndTexts(ctx context.Context, ids []ax.InstanceID) (map[ax.InstanceID]string, error)
	NewestSuccesses(ctx context.Context, ids []ax.TaskID, since time.Time) ([]ax.TaskSuccess, error)

	Alerts(ctx context.Context, f ax.AlertFilter) ([]ax.AlertRow, error)
	// AlertTurns returns when the first message of each notifier is due.
	AlertTurns(ctx context.Context, app string) (map[string]time.Time, error)
	DueAlerts(ctx context.Context, app, notifier string, now time.Time, n int) ([]ax.AlertRow, error)
	ToldAlerts(ctx context.Context, app, notifier string, after time.Time) ([]ax.AlertRow, error)
	AlertNotifiers(ctx context.Context, app string) ([]ax.AlertNotifier, error)
	Silences(ctx context.Context, app string, now time.Time) ([]ax.AlertSilence, error)

	OverdueTasks(ctx context.Context, app string, before time.Time, n int) ([]ax.OverdueTask, error)
	WatchedInstances(ctx context.Context, app string, n int) ([]ax.WatchedInstance, error)
	CountRecent(ctx context.Context, app string, since time.Time) (map[ax.Status]int, error)
	Now(ctx context.Context) (time.Time, error)
}
