// Package pluginapi is what the author of an ax plugin imports: the five kinds
// of component (Trigger, Job, Notifier, ParamProvider, Listener) and the plain
// types that travel between host and plugin. It needs the standard library
// only; package serve turns components into a running plugin.
package pluginapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// Kind names what a component does.
type Kind string

// The five kinds of component.
const (
	KindTrigger  Kind = "trigger"
	KindJob      Kind = "job"
	KindNotifier Kind = "notifier"
	KindParams   Kind = "params"
	KindListener Kind = "listener"
)

// Kinds lists all kinds in the order in which they are documented.
func Kinds() []Kind {
	return []Kind{KindTrigger, KindJob, KindNotifier, KindParams, KindListener}
}

// Info describes a plugin as a whole.
type Info struct {
	// Name is lower case letters, digits and dashes; unique within a host.
	Name string
	// Version is a semantic version without a leading v, such as "1.4.0".
	Version string
	// Description is one sentence for people.
	Description string
}

// Env is what a component gets from the host besides its settings.
type Env struct {
	// Zone is the task's time zone, never nil for a Trigger or ParamProvider.
	Zone *time.Location
	// Calendars holds the calendars that the task names, by their names.
	Calendars map[string]*calendar.Calendar
	// Seed is stable for a task: the same on every host and after a restart.
	// Triggers that draw random times must draw from it and the date alone.
	Seed uint64
	// Log goes to the host's log.
	Log *slog.Logger
}

// Trigger computes due times. It must be a pure function of its settings,
// its Env and after: the same question gets the same answer on every host.
type Trigger interface {
	// Next returns the first due time strictly after the given instant, or the
	// zero time if there is none any more.
	Next(ctx context.Context, after time.Time) (time.Time, error)
}

// BatchTrigger may be implemented by a Trigger that computes many due times
// cheaper at once than one by one.
type BatchTrigger interface {
	Trigger
	// NextBatch returns up to n due times strictly after the given instant and
	// not later than until, in rising order. An empty slice means that there is
	// none up to until.
	NextBatch(ctx context.Context, after, until time.Time, n int) ([]time.Time, error)
}

// Job does the work of a task. Run is called once per attempt, for many runs
// at a time. The context ends at the run's deadline, when a person cancels the
// run, or when the host drains; context.Cause tells which. Run should then
// return soon: after the task's grace period the plugin process is killed.
// An error makes the attempt fail; wrap it with Permanent to refuse retries.
// The host may run the same due time again after a failure or a crash, so the
// work must be idempotent.
type Job interface {
	Run(ctx context.Context, run *Run) (Result, error)
}

// Notifier delivers a message to people or to another system. The host has
// already gathered what belongs together. An error makes the host try again
// later; wrap it with RetryAfter if the receiver says when, with Permanent if
// trying again is useless.
type Notifier interface {
	Notify(ctx context.Context, msg Message) error
}

// ReceiptNotifier may be implemented by a Notifier that has to know later what
// became of a message: where it is, so that others can follow it there, or who
// still waits for it.
type ReceiptNotifier interface {
	Notifier
	// NotifyReceipt is called instead of Notify. The receipt is any text of up
	// to MaxReceipt bytes. It comes back in [Message.Receipt] of the next message
	// about the same task to the same notifier, or of this one if it is sent
	// again, on any host. An empty receipt forgets the one before, but leaves it
	// if there is an error. A host may lose receipts, so a message without one
	// must get through too.
	NotifyReceipt(ctx context.Context, msg Message) (receipt string, err error)
}

// MaxReceipt bounds a receipt, in bytes. A longer one counts as an empty one.
const MaxReceipt = 8 << 10

// ParamProvider makes the parameters of a run at the moment of its due time.
// They are laid over the parameters of the configuration and kept with the
// run, so that a retry sees the same values.
type ParamProvider interface {
	Params(ctx context.Context, fire Fire) (map[string]any, error)
}

// Listener hears of runs. Embed NopListener to implement only some of it.
type Listener interface {
	// Before is called before each attempt. An error does not stop the run; it
	// is logged.
	Before(ctx context.Context, fire Fire) error
	// After is called after each attempt, with its outcome.
	After(ctx context.Context, fire Fire, outcome Outcome) error
	// Complete is called once an instance has reached its final state, with no
	// attempt left. It may be called again after a crash of the host.
	Complete(ctx context.Context, fire Fire, outcome Outcome) error
}

// NopListener implements Listener and does nothing.
type NopListener struct{}

// Before implements Listener.
func (NopListener) Before(context.Context, Fire) error { return nil }

// After implements Listener.
func (NopListener) After(context.Context, Fire, Outcome) error { return nil }

// Complete implements Listener.
func (NopListener) Complete(context.Context, Fire, Outcome) error { return nil }

// Fire identifies one attempt of one due time of a task.
type Fire struct {
	App        string `json:"app"`
	Task       string `json:"task"`
	InstanceID string `json:"instance_id"`
	// Kind is "scheduled", "manual", "backfill" or "child".
	Kind string `json:"kind"`
	// Attempt counts from 1.
	Attempt     int `json:"attempt"`
	MaxAttempts int `json:"max_attempts"`
	// ScheduledAt is the due time in the task's zone: use it instead of the
	// clock wherever the work depends on a date.
	ScheduledAt time.Time      `json:"scheduled_at"`
	TraceID     string         `json:"trace_id"`
	Node        string         `json:"node"`
	Params      map[string]any `json:"params,omitempty"`
	// Fence only grows from attempt to attempt of an instance; a store that
	// remembers the highest fence it saw can refuse a stale attempt's writes.
	Fence int64 `json:"fence"`
	// Shard is the part of the work that is this run's, from 0 to Shards-1, if the
	// task runs on several nodes at once (strategy: broadcast). Shards is 0 if
	// there are no parts.
	Shard  int `json:"shard,omitempty"`
	Shards int `json:"shards,omitempty"`
}

// Result is what an attempt reports. Together with an error only Data counts.
type Result struct {
	// Message is one line for people, such as "1204 rows copied".
	Message string
	// Data is kept with the run as JSON, at most 64 KiB.
	Data map[string]any
	// Deferred says that the work goes on elsewhere and its end will be
	// reported to Run.CallbackURL. The instance stays running until then, or
	// until its timeout.
	Deferred bool
}

// Outcome is the end of an attempt as Listeners and Messages see it.
type Outcome struct {
	// Status is SUCCESS, FAILED, TIMEOUT, LOST or CANCELED.
	Status    string         `json:"status"`
	Message   string         `json:"message,omitempty"`
	Error     string         `json:"error,omitempty"`
	StartedAt time.Time      `json:"started_at"`
	EndedAt   time.Time      `json:"ended_at"`
	Data      map[string]any `json:"data,omitempty"`
	// WillRetry says that a further attempt is planned.
	WillRetry bool `json:"will_retry"`
}

// Message is a notification, ready to be shown to people.
type Message struct {
	// ID is the same when the host sends a message again.
	ID   string `json:"id"`
	App  string `json:"app"`
	Node string `json:"node"`
	Task string `json:"task"`
	// Event is failed, attempt, timeout, lost, missed, skipped, slow, late, overdue,
	// parked, recovered or test. Or it is about something else, which Task then
	// names with a word before it: calendar, if its lists of holidays end; plugin,
	// if one is down; node, if a host has died.
	Event    string `json:"event"`
	Severity string `json:"severity"` // info, warning or error
	Title    string `json:"title"`
	Text     string `json:"text"`
	// Count is how many events this message stands for, First and Last when
	// they happened.
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// LastError is a digest of the newest error.
	LastError  string `json:"last_error,omitempty"`
	InstanceID string `json:"instance_id,omitempty"`
	// Tasks are the tasks of a message about several that say the same; Task is
	// empty then. There may be more than are listed.
	Tasks []string `json:"tasks,omitempty"`
	// Zone is the IANA name of the task's zone, for showing First and Last.
	Zone string `json:"zone,omitempty"`
	// Receipt is the one that the notifier returned last about this task, see
	// ReceiptNotifier. It is not for people.
	Receipt string `json:"receipt,omitempty"`
}

// Component is one thing that a plugin offers. Make it with TriggerOf, JobOf,
// NotifierOf, ParamsOf or ListenerOf.
type Component struct {
	Kind        Kind
	Name        string
	Description string
	// Schema is the JSON Schema of the settings (an object).
	Schema json.RawMessage
	// Build checks settings and makes the component. The value has the
	// interface type of the Kind.
	Build func(settings json.RawMessage, env Env) (any, error)

	fault error // what is wrong with the type of the settings
}
