package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/spelling"
)

const (
	// testTimeout bounds the delivery of a test message.
	testTimeout = 30 * time.Second
	// longestSilence is how far ahead a silence may end.
	longestSilence = 90 * 24 * time.Hour
)

func (b backend) Alerts(ctx context.Context, f ax.AlertFilter) ([]api.AlertView, error) {
	f.App = b.h.live.Load().cfg.App
	rows, err := b.h.store.Alerts(ctx, f)
	if err != nil {
		return nil, err
	}
	views := make([]api.AlertView, len(rows))
	for i := range rows {
		views[i] = alertView(&rows[i])
		views[i].Text = ""
	}
	return views, nil
}

func (b backend) Alert(ctx context.Context, id int64) (api.AlertView, error) {
	row, err := b.h.store.Alert(ctx, b.h.live.Load().cfg.App, id)
	if errors.Is(err, ax.ErrNotFound) {
		return api.AlertView{}, &api.NotFound{What: "alert", Name: strconv.FormatInt(id, 10)}
	}
	if err != nil {
		return api.AlertView{}, err
	}
	return alertView(&row), nil
}

func alertView(r *ax.AlertRow) api.AlertView {
	v := api.AlertView{
		ID: strconv.FormatInt(r.ID, 10), Task: r.TaskName, Notifier: r.Notifier, State: r.State, Event: r.Event, Count: r.Count,
		FirstAt: r.FirstAt, LastAt: r.LastAt, At: r.WindowEnd, Attempts: r.Attempts, LastError: r.LastError,
	}
	if !r.State.Settled() {
		v.At = r.NextTryAt
	}
	if r.MergedInto != 0 {
		v.MergedInto = strconv.FormatInt(r.MergedInto, 10)
	}
	if msg, ok := alert.MessageOf(r); ok {
		v.Title, v.Text = msg.Title, msg.Text
	}
	return v
}

func (b backend) ResendAlert(ctx context.Context, id int64, actor string) error {
	err := b.letter(ctx, id, func(app string) error { return b.h.store.ResendAlert(ctx, app, id, time.Now()) })
	if err == nil {
		b.audit(ctx, actor, "alert.resend", strconv.FormatInt(id, 10), nil)
		b.h.alerts.Wake()
	}
	return err
}

func (b backend) DropAlert(ctx context.Context, id int64, actor string) error {
	err := b.letter(ctx, id, func(app string) error { return b.h.store.DropAlert(ctx, app, id) })
	if err == nil {
		b.audit(ctx, actor, "alert.drop", strconv.FormatInt(id, 10), nil)
	}
	return err
}

// letter does something to a dead letter, and says what is wrong with another.
func (b backend) letter(ctx context.Context, id int64, do func(app string) error) error {
	err := do(b.h.live.Load().cfg.App)
	if !errors.Is(err, ax.ErrNotFound) {
		return err
	}
	v, err := b.Alert(ctx, id)
	if err != nil {
		return err
	}
	return &api.Conflict{Reason: "the message is no dead letter: it is " + string(v.State)}
}

func (b backend) Notifiers(ctx context.Context) ([]api.NotifierView, error) {
	cfg := b.h.live.Load().cfg
	fares, err := b.h.store.AlertNotifiers(ctx, cfg.App)
	if err != nil {
		return nil, err
	}
	queues, err := b.h.store.AlertQueues(ctx, cfg.App)
	if err != nil {
		return nil, err
	}
	views := map[string]*api.NotifierView{}
	for name, n := range cfg.Notifiers {
		views[name] = &api.NotifierView{Name: name, Use: n.Use.Name, State: "unused"}
	}
	for i := range fares {
		n := &fares[i]
		v := views[n.Name]
		if v == nil {
			v = &api.NotifierView{Name: n.Name}
			views[n.Name] = v
		}
		v.State, v.DownSince, v.Failures, v.NextTryAt, v.LastError, v.SentAt = "ok", n.FailingSince, n.Failures, n.NextTryAt, n.LastError, n.SentAt
		if !n.FailingSince.IsZero() {
			v.State = "down"
		}
	}
	for _, q := range queues {
		v := views[q.Notifier]
		if v == nil {
			v = &api.NotifierView{Name: q.Notifier, State: "unused"}
			views[q.Notifier] = v
		}
		v.Waiting, v.Dead = q.Waiting, q.Dead
	}
	list := make([]api.NotifierView, 0, len(views))
	for _, name := range slices.Sorted(maps.Keys(views)) {
		list = append(list, *views[name])
	}
	return list, nil
}

func (b backend) TestNotifier(ctx context.Context, name, actor string) (api.TestReport, error) {
	cfg := b.h.live.Load().cfg
	if _, ok := cfg.Notifiers[name]; !ok {
		return api.TestReport{}, &api.NotFound{What: "notifier", Name: name, Near: spelling.Nearest(name, slices.Sorted(maps.Keys(cfg.Notifiers)))}
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	begun := time.Now()
	msg := b.h.alerts.TestMessage(name, begun)
	b.audit(ctx, actor, "notifier.test", name, nil)
	if _, err := b.h.notify(ctx, name, msg); err != nil {
		return api.TestReport{}, &api.Unavailable{Reason: b.h.redactor.String(err.Error())}
	}
	return api.TestReport{Notifier: name, ID: msg.ID, Took: time.Since(begun).Round(time.Millisecond).String()}, nil
}

func (b backend) Silences(ctx context.Context) ([]api.SilenceView, error) {
	list, err := b.h.store.Silences(ctx, b.h.live.Load().cfg.App, time.Now())
	if err != nil {
		return nil, err
	}
	views := make([]api.SilenceView, len(list))
	for i, m := range list {
		views[i] = silenceView(m)
	}
	return views, nil
}

func silenceView(m ax.AlertSilence) api.SilenceView {
	return api.SilenceView{
		ID: strconv.FormatInt(m.ID, 10), Task: m.Task, Notifier: m.Notifier, Until: m.Until, Reason: m.Reason, At: m.At, By: m.By,
	}
}

func (b backend) Silence(ctx context.Context, o api.SilenceOptions) (api.SilenceView, error) {
	l, now := b.h.live.Load(), time.Now()
	switch {
	case !o.Until.After(now):
		return api.SilenceView{}, &api.Invalid{Reason: "until: it is past already"}
	case o.Until.After(now.Add(longestSilence)):
		return api.SilenceView{}, &api.Invalid{Reason: "until: expected a time within 90 days"}
	}
	if _, ok := l.cfg.Notifiers[o.Notifier]; !ok && o.Notifier != "" {
		return api.SilenceView{}, &api.NotFound{What: "notifier", Name: o.Notifier, Near: spelling.Nearest(o.Notifier, slices.Sorted(maps.Keys(l.cfg.Notifiers)))}
	}
	if l.entries[o.Task] == nil && o.Task != "" {
		return api.SilenceView{}, b.noTask(o.Task)
	}
	m := ax.AlertSilence{
		ID: b.h.ids.Next(now), App: l.cfg.App, Task: o.Task, Notifier: o.Notifier, Until: o.Until.UTC().Truncate(time.Microsecond),
		Reason: o.Reason, At: now.UTC().Truncate(time.Microsecond), By: o.Actor,
	}
	if err := b.h.store.Silence(ctx, m); err != nil {
		return api.SilenceView{}, err
	}
	b.audit(ctx, o.Actor, "alert.silence", o.Task, m)
	return silenceView(m), nil
}

func (b backend) EndSilence(ctx context.Context, id int64, actor string) error {
	app := b.h.live.Load().cfg.App
	err := b.h.store.EndSilence(ctx, app, id)
	if errors.Is(err, ax.ErrNotFound) {
		return &api.NotFound{What: "silence", Name: strconv.FormatInt(id, 10)}
	}
	if err != nil {
		return err
	}
	b.audit(ctx, actor, "alert.unsilence", strconv.FormatInt(id, 10), nil)
	now := time.Now()
	if err := b.h.store.AdvanceAlerts(ctx, app, now, now); err != nil {
		return err
	}
	b.h.alerts.Wake()
	return nil
}

// notifierTroubles says which notifiers are down or have dead letters.
func (h *Host) notifierTroubles(ctx context.Context) []string {
	list, err := backend{h}.Notifiers(ctx)
	if err != nil {
		return nil // the health says what is wrong with the database
	}
	var troubles []string
	for _, n := range list {
		if n.State == "down" {
			troubles = append(troubles, fmt.Sprintf("notifier %s is down since %s: %s", n.Name, n.DownSince.Format(time.RFC3339), n.LastError))
		}
		if n.Dead > 0 {
			troubles = append(troubles, fmt.Sprintf("notifier %s has %d dead letters, see \"ax alerts --dead\"", n.Name, n.Dead))
		}
	}
	return troubles
}
