package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

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
	h.setAlertSettings()
	h.alerts = alert.New(alert.Config{
		App: cfg.App, Node: cfg.Node, Incarnation: h.incarnation, Sole: !cfg.Store.Shared(),
		IDs: h.ids, Store: h.store, Log: h.log.Named("alert"),
		Overdue:  func(_ context.Context, tasks []ax.OverdueTask) { h.fleet.overdue(tasks) },
		Settings: h.alertSettings.Load, Task: h.taskNamed, Redact: h.redactor.String, Notify: h.notify,
		Tried: h.metrics.AlertTried,
		Nodes: func(ctx context.Context) ([]ax.Node, error) {
			// Not cfg: that would keep its tasks for good.
			nodes, _, err := h.store.Nodes(ctx, h.live.Load().cfg.App)
			return nodes, err
		},
	})
	h.writer.journal = h.alerts.Journal
}

// taskNamed returns the definition of a task in force, nil if there is none.
func (h *Host) taskNamed(name string) *ax.Task {
	entry := h.live.Load().entries[name]
	if entry == nil {
		return nil
	}
	return &entry.Row.Task
}

// setAlertSettings puts in force what the configuration says about notifications.
func (h *Host) setAlertSettings() {
	l := h.live.Load()
	cfg, watched := l.cfg, false
	for _, task := range l.byID {
		watched = watched || task.WarnAfter > 0 || task.StartDeadline > 0
	}
	a := &cfg.Alerts
	settings := &alert.Settings{
		Window: a.Window, Gather: a.Gather, MergeFrom: a.MergeFrom, Expire: a.Expire, To: a.To, OverdueAfter: a.OverdueAfter,
		Heartbeat: alert.Heartbeat{URL: a.Heartbeat.URL, Every: a.Heartbeat.Every},
		WatchRuns: watched,
		Receivers: make(map[string]*alert.Receiver, len(cfg.Receivers)),
	}
	for name, r := range cfg.Receivers {
		receiver := &alert.Receiver{Language: r.Language, Zone: r.Zone(), PerMinute: r.PerMinute}
		if len(r.Quiet) > 0 {
			receiver.Quiet = &alert.Quiet{Zone: r.Zone(), Hours: r.Quiet, Calendars: cfg.Calendars}
		}
		// The templates were checked when they were read.
		if r.Title != "" {
			receiver.Title, _ = alert.ParseTemplate(r.Title)
		}
		if r.Text != "" {
			receiver.Text, _ = alert.ParseTemplate(r.Text)
		}
		settings.Receivers[name] = receiver
		h.metrics.Notifier(name)
	}
	h.alertSettings.Store(settings)
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

// notify hands a message to a notifier of the configuration, and returns its
// receipt. Secrets that were not known yet when it was written are taken out.
func (h *Host) notify(ctx context.Context, name string, msg pluginapi.Message) (receipt string, err error) {
	notifier, ok := h.live.Load().cfg.Notifiers[name]
	if !ok {
		return "", fmt.Errorf("the configuration has no notifier %q any more", name)
	}
	for _, text := range []*string{&msg.Title, &msg.Text, &msg.LastError} {
		*text = h.redactor.String(*text)
	}
	if notifier.Use.Name == logNotifier {
		h.logMessage(name, msg)
		return "", nil
	}
	receipt, err = h.plugins.Notifier(pluginhost.Spec{Use: notifier.Use.Name, Settings: notifier.With}).Notify(ctx, msg)
	return receipt, blame(err)
}

// blame marks errors that come from the lack of a plugin on this host.
func blame(err error) error {
	_, missing := errors.AsType[*pluginhost.NotFoundError](err)
	_, broken := errors.AsType[*pluginhost.UnavailableError](err)
	if missing || broken {
		return fmt.Errorf("%w (%w)", err, alert.ErrCannot)
	}
	return err
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

// tellPlugins tells of plugins that are out of order for good, and of those that
// work again.
func (h *Host) tellPlugins(now time.Time) {
	node := h.live.Load().cfg.Node
	for _, p := range h.plugins.Plugins() {
		ev := ax.AlertEvent{Subject: "plugin " + p.Name + " on " + node, At: now, Node: node}
		switch p.State {
		case pluginhost.StateQuarantined:
			ev.Event, ev.Detail = alert.PluginDown, p.Reason
		case pluginhost.StateReady, pluginhost.StateDiscovered: // the latter starts when it is needed
			ev.Event = alert.Works
		default:
			continue
		}
		h.alerts.Report(ev)
	}
}
