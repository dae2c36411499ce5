package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/why"
)

// Backend is what the API asks of the host. Its errors reach the client as a
// *NotFound, *Conflict, *Invalid or *Unavailable says; any other error is
// logged and becomes a 500 without its text. An actor is who asks, for the
// audit.
type Backend interface {
	AlertBackend
	NodeBackend
	DefinitionBackend
	CalendarBackend
	// Tasks returns tasks in the order of their names.
	Tasks(ctx context.Context, q TaskQuery) ([]TaskView, error)
	Task(ctx context.Context, name string) (TaskView, error)
	// Next computes the next due times of a task; none means never.
	Next(ctx context.Context, name string, q NextQuery) (NextTimes, error)
	// Run starts a task by hand, also one that is paused or disabled.
	// With a key that was used before it starts nothing, and returns what the first
	// request with it made; a key that was used for something else is an *Invalid.
	Run(ctx context.Context, name string, o RunOptions) (ax.InstanceID, error)
	// UnknownParams says which of the parameters of a run the task does not know,
	// a sentence each; none if it takes any.
	UnknownParams(ctx context.Context, name string, params Object) []string
	// Pause stops the schedule of a task; a zero until means until resumed.
	Pause(ctx context.Context, name string, until time.Time, actor string) error
	Resume(ctx context.Context, name, actor string) error
	// Why tells why a due time did or did not run; of a zero time the next one and
	// the newest one.
	Why(ctx context.Context, name string, at time.Time) ([]why.Answer, error)
	// Backfill runs past due times of a task, or says which ones it would run.
	Backfill(ctx context.Context, name string, o BackfillOptions) (BackfillPlan, error)
	BackfillProgress(ctx context.Context, name string, span BackfillSpan) (BackfillProgress, error)
	// CancelBackfill cancels the due times that wait in a backfill.
	CancelBackfill(ctx context.Context, name string, span BackfillSpan, actor string) (BackfillCanceled, error)

	Instances(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error)
	Instance(ctx context.Context, id ax.InstanceID) (ax.Instance, error)
	Cancel(ctx context.Context, id ax.InstanceID, actor string) error
	Events(ctx context.Context, f ax.EventFilter) ([]ax.Event, error)
	// Follow returns a channel that is signalled when there may be new events,
	// and closed once the instance is final, after its last event can be read.
	// It is let go when ctx ends.
	Follow(ctx context.Context, id ax.InstanceID) (<-chan struct{}, error)
	// Callback takes the end of a deferred run. A token that is not the
	// instance's is a *NotFound, a run that has ended a *Conflict.
	Callback(ctx context.Context, id ax.InstanceID, token string, r CallbackResult) error

	Plugins(ctx context.Context) ([]PluginView, error)
	// ResetPlugin ends a plugin's quarantine or back-off and starts it anew.
	ResetPlugin(ctx context.Context, name, actor string) error
	// Plan says what a configuration would change, nil standing for the host's
	// own file. Faults are an *Invalid, another app is a *Conflict.
	Plan(ctx context.Context, c *Candidate) (*preview.Plan, error)
	// Reload reads the configuration again. If it has faults nothing changes,
	// and the error is an *Invalid that lists them.
	Reload(ctx context.Context, actor string) (ReloadReport, error)
	Health(ctx context.Context) Health
	// Backlog shows what waits and what takes long, at most n tasks of each.
	Backlog(ctx context.Context, n int) (Backlog, error)
	// Metrics serves the Prometheus text format.
	Metrics() http.Handler
	// AuditTrail returns who changed what, newest first.
	AuditTrail(ctx context.Context, f ax.AuditFilter) ([]ax.AuditRow, error)
}

// TaskQuery selects tasks.
type TaskQuery struct {
	Prefix string // of the name
	Group  string // whole; empty = any
	After  string // pages: only names that sort after this one
	Limit  int
}

// NextQuery asks for due times.
type NextQuery struct {
	After time.Time // strictly after this one; zero = now
	N     int
	Why   bool // tell what becomes of each candidate on the way
}

// RunOptions are the details of a run by hand.
type RunOptions struct {
	// Params are laid over those of the task, for this run only.
	Params Object
	// Force starts it although the overlap policy says no.
	Force bool
	// Key, unless it is empty, stands for the request: it is done once, however
	// often it arrives within ax.RequestsKept. Digest tells what it asks for.
	Key, Digest string
	Actor       string
}

// NotFound says that there is no such thing; a 404.
type NotFound struct {
	What string // "task", "instance", "plugin" …
	Name string
	Near string // the name that was probably meant, if any
}

func (e *NotFound) Error() string {
	text := fmt.Sprintf("there is no %s %q", e.What, e.Name)
	if e.Near != "" {
		text += fmt.Sprintf(", did you mean %q?", e.Near)
	}
	return text
}

// Conflict says that the state of things forbids the request; a 409.
type Conflict struct{ Reason string }

func (e *Conflict) Error() string { return e.Reason }

// Forbidden says that who asks may not do this; a 403.
type Forbidden struct{ Reason string }

func (e *Forbidden) Error() string { return e.Reason }

// Stale says that a change was made for another version of a task than the one
// that is there; a 412.
type Stale struct {
	Task           string
	Asked, Present int64 // versions
	// By and At tell of the change that came between.
	By string
	At time.Time
}

func (e *Stale) Error() string {
	return fmt.Sprintf("task %q is at version %d, changed by %s at %s; this change was made for version %d: look at it again",
		e.Task, e.Present, e.By, e.At.Format(time.RFC3339), e.Asked)
}

// Unavailable says that the host cannot serve the request at present; a 503.
type Unavailable struct{ Reason string }

func (e *Unavailable) Error() string { return e.Reason }

// Invalid says that the request, or the configuration it is about, is wrong;
// a 422.
type Invalid struct {
	Reason string
	Faults []Fault
}

func (e *Invalid) Error() string { return e.Reason }

// Fault is one thing that is wrong, and where.
type Fault struct {
	// Where is "file:line:column", or a path into the request such as
	// "body.params".
	Where   string
	Message string
}
