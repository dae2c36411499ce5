package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/pluginapi"
)

// logNotifier is the notifier that is built in: it writes messages to the log
// of the host.
const logNotifier = "log"

// logNotifierSchema is the schema of its settings: there are none.
var logNotifierSchema = json.RawMessage(`{"type":"object","additionalProperties":false}`)

func (h *Host) openAlerts() {
	cfg := h.live.Load().cfg
	h.alerts = alert.New(alert.Config{
		App: cfg.App, Node: cfg.Node, IDs: h.ids, Store: h.store, Log: h.log.Named("alert"),
		Failures: h.failures, Redact: h.redactor.String, Notify: h.notify,
	})
}

// startAlerts goes on with what an earlier life of the host left to be told.
func (h *Host) startAlerts(ctx context.Context) error {
	if err := h.alerts.Start(ctx); err != nil {
		return err
	}
	h.onUndo(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLast)
		defer cancel()
		h.alerts.Stop(ctx)
	})
	return nil
}

// failures returns how often tasks had failed in a row when their rows were read
// at the start; those that had not are left out.
func (h *Host) failures(context.Context) (map[ax.TaskID]int, error) {
	counts := map[ax.TaskID]int{}
	for _, entry := range h.live.Load().entries {
		if entry.Row.Failures > 0 {
			counts[entry.Row.ID] = entry.Row.Failures
		}
	}
	return counts, nil
}

// notify hands a message to a notifier of the configuration. Secrets that were
// not known yet when it was written are taken out.
func (h *Host) notify(ctx context.Context, name string, msg pluginapi.Message) error {
	notifier, ok := h.live.Load().cfg.Notifiers[name]
	if !ok {
		return fmt.Errorf("the configuration has no notifier %q any more", name)
	}
	for _, text := range []*string{&msg.Title, &msg.Text, &msg.LastError} {
		*text = h.redactor.String(*text)
	}
	if notifier.Use.Name == logNotifier {
		h.logMessage(name, msg)
		return nil
	}
	return h.plugins.Notifier(pluginhost.Spec{Use: notifier.Use.Name, Settings: notifier.With}).Notify(ctx, msg)
}

// logMessage is the built-in notifier.
func (h *Host) logMessage(name string, msg pluginapi.Message) {
	write := h.log.Error
	switch msg.Severity {
	case "info":
		write = h.log.Info
	case "warning":
		write = h.log.Warn
	}
	write(msg.Title, "notifier", name, "alert_id", msg.ID, "task", msg.Task, "event", msg.Event, "count", msg.Count, "text", msg.Text)
}
