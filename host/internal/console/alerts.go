package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

const (
	alertsOnPage = 40
	// silenceText bounds what is written about a silence, in bytes.
	silenceText = 500
)

func (s *console) alertRoutes() {
	get(s, "/alerts", "alerts", s.alerts)
	get(s, "/alerts/{id}", "alert", s.alert)
	s.change("/alerts/{id}/resend", s.letter(s.backend.ResendAlert, "resent"))
	s.change("/alerts/{id}/drop", s.letter(s.backend.DropAlert, "dropped"))
	s.change("/notifiers/{name}/test", s.testNotifier)
	s.change("/silences", s.silence)
	s.change("/silences/{id}/end", s.letter(s.backend.EndSilence, "ended"))
}

// alertsData is what the page about messages shows.
type alertsData struct {
	Alerts    []api.AlertView
	Notifiers []api.NotifierView
	Silences  []api.SilenceView
	Task      string
	Notifier  string
	State     string
	States    []string
	Pager     pager
}

func (s *console) alerts(r *http.Request, _ *page) (alertsData, error) {
	if err := r.ParseForm(); err != nil {
		return alertsData{}, badRequest("The form cannot be read.")
	}
	ctx := r.Context()
	d := alertsData{Task: r.Form.Get("task"), Notifier: r.Form.Get("notifier"), State: r.Form.Get("state"), States: alertStates()}
	f := ax.AlertFilter{Task: d.Task, Notifier: d.Notifier, Limit: alertsOnPage}
	if slices.Contains(d.States, d.State) {
		f.States = []ax.AlertState{ax.AlertState(d.State)}
	}
	if before := r.Form.Get("before"); before != "" {
		id, err := strconv.ParseInt(before, 10, 64)
		if err != nil {
			return d, errNoPage
		}
		f.Before = id
	}
	var errs [3]error
	d.Alerts, errs[0] = s.backend.Alerts(ctx, f)
	d.Notifiers, errs[1] = s.backend.Notifiers(ctx)
	d.Silences, errs[2] = s.backend.Silences(ctx)
	if n := len(d.Alerts); n > 0 {
		d.Pager = older(r, n, alertsOnPage, d.Alerts[n-1].ID)
	}
	return d, errors.Join(errs[:]...)
}

// alertStates are in the order in which a message goes through them.
func alertStates() []string {
	var all []string
	for _, state := range []ax.AlertState{
		ax.AlertOpen, ax.AlertSending, ax.AlertFailed, ax.AlertSent, ax.AlertMerged, ax.AlertGivenUp, ax.AlertDropped,
	} {
		all = append(all, string(state))
	}
	return all
}

func (s *console) alert(r *http.Request, _ *page) (api.AlertView, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return api.AlertView{}, &api.NotFound{What: "alert", Name: r.PathValue("id")}
	}
	return s.backend.Alert(r.Context(), id)
}

// letter does something with the message, or the silence, that an address names.
func (s *console) letter(do func(ctx context.Context, id int64, actor string) error, note string) func(*http.Request, Viewer) (string, error) {
	return func(r *http.Request, v Viewer) (string, error) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			return "", errNoPage
		}
		return "/alerts?note=" + note, do(r.Context(), id, v.Name)
	}
}

// testNotifier sends a test message, and waits for what becomes of it.
func (s *console) testNotifier(r *http.Request, v Viewer) (string, error) {
	_, err := s.backend.TestNotifier(r.Context(), r.PathValue("name"), v.Name)
	return "/alerts?note=tested", err
}

func (s *console) silence(r *http.Request, v Viewer) (string, error) {
	until, err := timeOf(r, "until", s.zone)
	if err != nil {
		return "", err
	}
	if until.IsZero() {
		return "", badRequest("Say until when.")
	}
	o := api.SilenceOptions{
		Task: strings.TrimSpace(r.PostForm.Get("task")), Notifier: r.PostForm.Get("notifier"),
		Until: until, Reason: strings.TrimSpace(r.PostForm.Get("reason")), Actor: v.Name,
	}
	if len(o.Reason) > silenceText {
		return "", badRequest("The reason is too long.")
	}
	_, err = s.backend.Silence(r.Context(), o)
	return "/alerts?note=silenced", err
}
