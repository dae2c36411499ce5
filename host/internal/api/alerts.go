package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
)

// AlertBackend is what the API asks of the host about notifications.
type AlertBackend interface {
	// Alerts returns messages, those that began last first.
	Alerts(ctx context.Context, f ax.AlertFilter) ([]AlertView, error)
	// Alert returns one message with all it says.
	Alert(ctx context.Context, id int64) (AlertView, error)
	// ResendAlert has a dead letter sent again, DropAlert throws it away. One that
	// is no dead letter is a *Conflict.
	ResendAlert(ctx context.Context, id int64, actor string) error
	DropAlert(ctx context.Context, id int64, actor string) error
	Notifiers(ctx context.Context) ([]NotifierView, error)
	// TestNotifier sends a test message now; an error of the notifier is an
	// *Unavailable.
	TestNotifier(ctx context.Context, name, actor string) (TestReport, error)
	Silences(ctx context.Context) ([]SilenceView, error)
	// Silence lets messages wait, and returns from when until when.
	Silence(ctx context.Context, o SilenceOptions) (SilenceView, error)
	EndSilence(ctx context.Context, id int64, actor string) error
}

// AlertView is a message about one task, or about several.
type AlertView struct {
	ID       string        `json:"id"`
	Task     string        `json:"task" doc:"Or what else it is about, such as \"plugin exec on n1\""`
	Notifier string        `json:"notifier"`
	State    ax.AlertState `json:"state" enum:"open,sending,failed,sent,merged,given_up,dropped" doc:"open gathers events; failed is tried again; merged was told by another message; given_up is a dead letter"`
	Event    string        `json:"event" doc:"The newest state or event that it tells of"`
	Count    int           `json:"count" doc:"Events that it tells of"`
	FirstAt  time.Time     `json:"first_at"`
	LastAt   time.Time     `json:"last_at"`
	// At is when it was sent, or leaves or is tried again at the earliest.
	At         time.Time `json:"at,omitzero" required:"false" doc:"When it was sent; or when it leaves, or is tried again, at the earliest"`
	Attempts   int       `json:"attempts" doc:"Deliveries tried"`
	LastError  string    `json:"last_error,omitempty" doc:"Of the newest delivery"`
	MergedInto string    `json:"merged_into,omitempty" doc:"The message that told of it as well"`
	Title      string    `json:"title,omitempty" doc:"Once it has left"`
	Text       string    `json:"text,omitempty" doc:"Only of a single message, once it has left"`
}

// AlertList is a page of messages.
type AlertList struct {
	Alerts []AlertView `json:"alerts" nullable:"false"`
	Next   string      `json:"next,omitempty" doc:"Value of before for the next page; absent on the last one"`
}

// NotifierView is how a notifier fares.
type NotifierView struct {
	Name  string `json:"name"`
	Use   string `json:"use" doc:"The component; empty if it is not configured any more"`
	State string `json:"state" enum:"ok,down,unused" doc:"down: the newest delivery failed"`
	// DownSince is when the first of the failures in a row was.
	DownSince time.Time `json:"down_since,omitzero" required:"false"`
	Failures  int       `json:"failures,omitempty" doc:"Deliveries in a row that failed"`
	NextTryAt time.Time `json:"next_try_at,omitzero" required:"false"`
	LastError string    `json:"last_error,omitempty"`
	SentAt    time.Time `json:"sent_at,omitzero" required:"false" doc:"Of the newest message"`
	Waiting   int       `json:"waiting" doc:"Messages that gather or wait to be sent"`
	Dead      int       `json:"dead" doc:"Dead letters"`
}

// NotifierList is all notifiers of an app.
type NotifierList struct {
	Notifiers []NotifierView `json:"notifiers" nullable:"false"`
	Next      string         `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

// TestReport says that a test message was taken.
type TestReport struct {
	Notifier string `json:"notifier"`
	ID       string `json:"id" doc:"Of the message"`
	Took     string `json:"took"`
}

// SilenceOptions say for what, and for how long, messages wait.
type SilenceOptions struct {
	Task     string
	Notifier string
	Until    time.Time
	Reason   string
	Actor    string
}

// SilenceView is a silence.
type SilenceView struct {
	ID       string    `json:"id"`
	Task     string    `json:"task,omitempty" doc:"Empty for all"`
	Notifier string    `json:"notifier,omitempty" doc:"Empty for all"`
	Until    time.Time `json:"until" doc:"Then what was held is told"`
	Reason   string    `json:"reason,omitempty"`
	At       time.Time `json:"at" doc:"When it began"`
	By       string    `json:"by"`
}

// SilenceList is the silences that are not over.
type SilenceList struct {
	Silences []SilenceView `json:"silences" nullable:"false"`
	Next     string        `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

func (s *server) alertRoutes() {
	tags, missing := []string{"alerts"}, []int{http.StatusNotFound}
	letter := []int{http.StatusNotFound, http.StatusConflict}
	register(s, huma.Operation{
		OperationID: "list-alerts", Method: http.MethodGet, Path: Base + "/alerts", Tags: tags,
		Summary: "List messages, newest first: those that gather, the outbox, what was sent, dead letters",
	}, s.listAlerts)
	register(s, huma.Operation{
		OperationID: "get-alert", Method: http.MethodGet, Path: Base + "/alerts/{id}", Tags: tags,
		Summary: "Show a message", Errors: missing, Responses: notModified(),
	}, s.getAlert)
	register(s, huma.Operation{
		OperationID: "resend-alert", Method: http.MethodPost, Path: Base + "/alerts/{id}/resend", Tags: tags,
		Summary: "Send a dead letter again", DefaultStatus: http.StatusNoContent, Errors: letter,
	}, s.resendAlert)
	register(s, huma.Operation{
		OperationID: "drop-alert", Method: http.MethodPost, Path: Base + "/alerts/{id}/drop", Tags: tags,
		Summary: "Throw a dead letter away", DefaultStatus: http.StatusNoContent, Errors: letter,
	}, s.dropAlert)
	register(s, huma.Operation{
		OperationID: "list-notifiers", Method: http.MethodGet, Path: Base + "/notifiers", Tags: tags,
		Summary: "Show how the notifiers fare",
	}, s.listNotifiers)
	register(s, huma.Operation{
		OperationID: "test-notifier", Method: http.MethodPost, Path: Base + "/notifiers/{name}/test", Tags: tags,
		Summary: "Send a test message", Description: "503 if the notifier does not take it, with its words.",
		Errors: []int{http.StatusNotFound, http.StatusServiceUnavailable},
	}, s.testNotifier)
	register(s, huma.Operation{
		OperationID: "list-silences", Method: http.MethodGet, Path: Base + "/silences", Tags: tags,
		Summary: "List the silences that are not over",
	}, s.listSilences)
	register(s, huma.Operation{
		OperationID: "silence", Method: http.MethodPost, Path: Base + "/silences", Tags: tags,
		Summary: "Let messages wait until a time", Description: "Nothing is lost: what was held is told afterwards.",
		Errors: []int{http.StatusNotFound, http.StatusUnprocessableEntity},
	}, s.silence)
	register(s, huma.Operation{
		OperationID: "end-silence", Method: http.MethodPost, Path: Base + "/silences/{id}/end", Tags: tags,
		Summary: "End a silence before its time", DefaultStatus: http.StatusNoContent, Errors: missing,
	}, s.endSilence)
}

type alertQuery struct {
	Task     string   `query:"task" maxLength:"255" doc:"Of this task, or other subject"`
	Notifier string   `query:"notifier" maxLength:"128"`
	State    []string `query:"state" enum:"open,sending,failed,sent,merged,given_up,dropped" doc:"In one of these states, separated by commas"`
	Before   int64    `query:"before" minimum:"0" doc:"Value of next of the page before"`
	Limit    int      `query:"limit" minimum:"1" maximum:"1000" default:"50"`
}

func (s *server) listAlerts(ctx context.Context, in *alertQuery) (*reply[AlertList], error) {
	f := ax.AlertFilter{Notifier: in.Notifier, Before: in.Before, Limit: in.Limit, Task: in.Task}
	for _, state := range in.State {
		f.States = append(f.States, ax.AlertState(state))
	}
	list, err := s.backend.Alerts(ctx, f)
	page := AlertList{Alerts: orEmpty(list)}
	if len(list) >= in.Limit {
		page.Next = list[len(list)-1].ID
	}
	return &reply[AlertList]{page}, err
}

// Numbered is the input of an operation on something with a number; see Named.
type Numbered struct {
	ID int64 `path:"id" minimum:"1"`
}

type numberedChange struct {
	Numbered
	Acting
}

type oneAlert struct {
	Numbered
	Conditional
}

func (s *server) getAlert(ctx context.Context, in *oneAlert) (*tagged[AlertView], error) {
	view, err := s.backend.Alert(ctx, in.ID)
	return tag(view, "", in.Conditional, err)
}

func (s *server) resendAlert(ctx context.Context, in *numberedChange) (*struct{}, error) {
	return nil, s.backend.ResendAlert(ctx, in.ID, in.Actor)
}

func (s *server) dropAlert(ctx context.Context, in *numberedChange) (*struct{}, error) {
	return nil, s.backend.DropAlert(ctx, in.ID, in.Actor)
}

func (s *server) listNotifiers(ctx context.Context, in *Paging) (*reply[NotifierList], error) {
	list, err := s.backend.Notifiers(ctx)
	rows, next := paged(list, *in, func(v NotifierView) string { return v.Name })
	return &reply[NotifierList]{NotifierList{rows, next}}, err
}

func (s *server) testNotifier(ctx context.Context, in *namedChange) (*reply[TestReport], error) {
	report, err := s.backend.TestNotifier(ctx, in.Name, in.Actor)
	return &reply[TestReport]{report}, err
}

func (s *server) listSilences(ctx context.Context, in *Paging) (*reply[SilenceList], error) {
	list, err := s.backend.Silences(ctx)
	rows, next := paged(list, *in, func(v SilenceView) string { return strings.Repeat("0", max(20-len(v.ID), 0)) + v.ID })
	return &reply[SilenceList]{SilenceList{rows, next}}, err
}

type silenceInput struct {
	Acting
	Body struct {
		Task     string    `json:"task,omitempty" maxLength:"255" doc:"Messages about this task; without it, about all"`
		Notifier string    `json:"notifier,omitempty" maxLength:"128" doc:"Messages to this notifier; without it, to all"`
		Until    time.Time `json:"until" doc:"When it ends, at most 90 days ahead"`
		Reason   string    `json:"reason,omitempty" maxLength:"500" doc:"For people"`
	}
}

func (s *server) silence(ctx context.Context, in *silenceInput) (*reply[SilenceView], error) {
	b := in.Body
	view, err := s.backend.Silence(ctx, SilenceOptions{Task: b.Task, Notifier: b.Notifier, Until: b.Until, Reason: b.Reason, Actor: in.Actor})
	return &reply[SilenceView]{view}, err
}

func (s *server) endSilence(ctx context.Context, in *numberedChange) (*struct{}, error) {
	return nil, s.backend.EndSilence(ctx, in.ID, in.Actor)
}
