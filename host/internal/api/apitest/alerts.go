package apitest

import (
	"context"
	"strconv"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// AlertSample is the api.AlertBackend of a sample: messages, notifiers and a silence
// that stay as they are. Without a Record it has nothing.
type AlertSample struct {
	// Record notes changes.
	Record func(change string)
}

// Alerts implements api.AlertBackend.
func (a *AlertSample) Alerts(_ context.Context, f ax.AlertFilter) ([]api.AlertView, error) {
	var list []api.AlertView
	for _, v := range a.sample() {
		wanted := len(f.States) == 0
		for _, state := range f.States {
			wanted = wanted || v.State == state
		}
		if wanted && (f.Task == "" || f.Task == v.Task) && (f.Notifier == "" || f.Notifier == v.Notifier) && len(list) < f.Limit {
			v.Text = ""
			list = append(list, v)
		}
	}
	return list, nil
}

// Alert implements api.AlertBackend.
func (a *AlertSample) Alert(_ context.Context, id int64) (api.AlertView, error) {
	for _, v := range a.sample() {
		if v.ID == strconv.FormatInt(id, 10) {
			return v, nil
		}
	}
	return api.AlertView{}, missing("alert", strconv.FormatInt(id, 10))
}

// ResendAlert implements api.AlertBackend.
func (a *AlertSample) ResendAlert(ctx context.Context, id int64, actor string) error {
	return a.letter(ctx, "resend", id, actor)
}

// DropAlert implements api.AlertBackend.
func (a *AlertSample) DropAlert(ctx context.Context, id int64, actor string) error {
	return a.letter(ctx, "drop", id, actor)
}

func (a *AlertSample) letter(ctx context.Context, what string, id int64, actor string) error {
	v, err := a.Alert(ctx, id)
	if err != nil {
		return err
	}
	if v.State != ax.AlertGivenUp {
		return &api.Conflict{Reason: "the message is no dead letter: it is " + string(v.State)}
	}
	a.Record(what + " " + v.ID + " by " + actor)
	return nil
}

// Notifiers implements api.AlertBackend.
func (a *AlertSample) Notifiers(context.Context) ([]api.NotifierView, error) {
	if a.Record == nil {
		return nil, nil
	}
	return []api.NotifierView{
		{
			Name: "mail", Use: "email", State: "down", DownSince: Noon().Add(-time.Hour), Failures: 14, NextTryAt: Noon().Add(3 * time.Minute),
			LastError: "connect to mail.example: connection refused", SentAt: Noon().Add(-26 * time.Hour), Waiting: 2, Dead: 1,
		},
		{Name: "ops", Use: "dingtalk", State: "ok", SentAt: Noon().Add(-5 * time.Minute), Waiting: 1},
		{Name: "值班", Use: "webhook", State: "unused"},
	}, nil
}

// TestNotifier implements api.AlertBackend.
func (a *AlertSample) TestNotifier(_ context.Context, name, actor string) (api.TestReport, error) {
	switch name {
	case "ops":
		a.Record("test " + name + " by " + actor)
		return api.TestReport{Notifier: name, ID: "901", Took: "120ms"}, nil
	case "mail":
		return api.TestReport{}, &api.Unavailable{Reason: "connect to mail.example: connection refused"}
	}
	return api.TestReport{}, &api.NotFound{What: "notifier", Name: name, Near: "ops"}
}

// Silences implements api.AlertBackend.
func (a *AlertSample) Silences(context.Context) ([]api.SilenceView, error) {
	if a.Record == nil {
		return nil, nil
	}
	return []api.SilenceView{{
		ID: "801", Task: "billing/close-day", Until: Noon().Add(2 * time.Hour), Reason: "the database moves", At: Noon().Add(-time.Hour), By: "ann (cli)",
	}}, nil
}

// Silence implements api.AlertBackend.
func (a *AlertSample) Silence(_ context.Context, o api.SilenceOptions) (api.SilenceView, error) {
	if !o.Until.After(Noon()) {
		return api.SilenceView{}, &api.Invalid{Reason: "until: it is past already"}
	}
	a.Record("silence " + o.Task + " to " + o.Notifier + " until " + utc(o.Until) + " by " + o.Actor + ": " + o.Reason)
	return api.SilenceView{ID: "802", Task: o.Task, Notifier: o.Notifier, Until: o.Until, Reason: o.Reason, At: Noon(), By: o.Actor}, nil
}

// EndSilence implements api.AlertBackend.
func (a *AlertSample) EndSilence(_ context.Context, id int64, actor string) error {
	if id != 801 {
		return missing("silence", strconv.FormatInt(id, 10))
	}
	a.Record("end silence 801 by " + actor)
	return nil
}

func (a *AlertSample) sample() []api.AlertView {
	if a.Record == nil {
		return nil
	}
	noon := Noon()
	return []api.AlertView{
		{
			ID: "704", Task: "billing/close-day", Notifier: "ops", State: ax.AlertOpen, Event: "failed", Count: 12,
			FirstAt: noon.Add(-5 * time.Minute), LastAt: noon.Add(-time.Minute), At: noon.Add(5 * time.Minute),
		},
		{
			ID: "703", Task: "billing/close-day", Notifier: "mail", State: ax.AlertFailed, Event: "timeout", Count: 1,
			FirstAt: noon.Add(-time.Hour), LastAt: noon.Add(-time.Hour), At: noon.Add(3 * time.Minute), Attempts: 14,
			LastError: "connect to mail.example: connection refused", Title: "billing/close-day timed out",
			Text: "Task billing/close-day of app orders timed out at 2026-03-02 11:00:00 CST.",
		},
		{
			ID: "702", Task: "每日对账", Notifier: "ops", State: ax.AlertSent, Event: "recovered", Count: 3,
			FirstAt: noon.Add(-40 * time.Minute), LastAt: noon.Add(-6 * time.Minute), At: noon.Add(-5 * time.Minute), Attempts: 1,
			Title: "3 tasks: recovered", Text: "App orders, 3 tasks: recovered:\n- 每日对账 recovered\n- warm-up recovered\n- import recovered",
		},
		{
			ID: "701", Task: "warm-up", Notifier: "ops", State: ax.AlertMerged, Event: "recovered", Count: 1, MergedInto: "702",
			FirstAt: noon.Add(-6 * time.Minute), LastAt: noon.Add(-6 * time.Minute), At: noon.Add(-5 * time.Minute),
		},
		{
			ID: "700", Task: "warm-up", Notifier: "mail", State: ax.AlertGivenUp, Event: "parked", Count: 1,
			FirstAt: noon.AddDate(0, 0, -3), LastAt: noon.AddDate(0, 0, -3), At: noon.AddDate(0, 0, -1), Attempts: 300,
			LastError: "550 no such user", Title: "warm-up is parked",
		},
	}
}
