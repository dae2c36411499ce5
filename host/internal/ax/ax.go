// Package ax holds the nouns of the engine: tasks, instances, events, nodes,
// and the rules about them that need no I/O (states, retries, ids). It imports
// the standard library only; every other package may import it.
package ax

import (
	"encoding/json"
	"time"
)

// TaskID identifies a task within a database. It is a hash of app and name, so
// that every host computes the same id without asking.
type TaskID int64

// InstanceID identifies an instance. It is made by the host, rises with time,
// and is written in decimal for people and as a string in JSON.
type InstanceID int64

// Kind tells why an instance exists.
type Kind string

// Kinds of instance.
const (
	KindScheduled Kind = "scheduled"
	KindManual    Kind = "manual"
	KindBackfill  Kind = "backfill"
	KindChild     Kind = "child"
)

// Instance is one due time of one task, and the row of ax_instance.
type Instance struct {
	ID       InstanceID
	TaskID   TaskID
	TaskName string
	App      string
	// ScheduledAt is the nominal due time; for a manual run the time of the
	// request.
	ScheduledAt time.Time
	Kind        Kind
	// Shard counts from 0 the instances of a due time of a task that is broadcast;
	// Shards is how many there are, and Node is the only one for this instance,
	// also before its first attempt. Shards is 0 for all other tasks.
	Shard, Shards int
	Status        Status
	// Attempt counts the attempts begun; 0 before the first.
	Attempt int
	// Fence grows by one at every claim and every re-dispatch. A write by a
	// stale holder names an old fence and changes nothing.
	Fence int64
	// Owner is the incarnation that runs or last ran the instance.
	Owner string
	// Node is the name of the node that runs or last ran the instance.
	Node string
	// Reason says in a few words why the instance is in its state, if that is
	// not plain from the status: why it was skipped, missed or canceled.
	Reason string
	// Missed is how many due times a MISSED row stands for, from ScheduledAt to
	// MissedUntil.
	Missed      int
	MissedUntil time.Time
	TraceID     string
	// Params is a JSON object, nil for none. ParamsBound tells that it already
	// holds what a ParamProvider added.
	Params      json.RawMessage
	ParamsBound bool
	CreatedAt   time.Time
	StartedAt   time.Time // of the newest attempt
	EndedAt     time.Time // of the newest attempt
	RetryAt     time.Time // set while RETRYING
	// Deferred says that the job will report its end by a callback; CallbackHash
	// is the SHA-256 of the token, in hex. DeadlineAt ends the wait.
	Deferred     bool
	CallbackHash string
	DeadlineAt   time.Time
	Message      string
	Error        string
	Data         json.RawMessage
}

// Event is a row of ax_log: one thing that happened to an instance, or lines
// of output of its job.
type Event struct {
	ID         int64
	InstanceID InstanceID
	TaskID     TaskID
	At         time.Time
	Attempt    int
	Stage      Stage
	// Level is trace, debug, info, warn or error; "output" for raw output.
	Level string
	Node  string
	Text  string
}

// Stage names what an Event tells.
type Stage string

// Stages of an instance's life, in the order in which they usually come.
const (
	StageTriggerReady   Stage = "trigger_ready"
	StageDispatched     Stage = "dispatched"
	StageReceived       Stage = "received"
	StageDispatchRetry  Stage = "dispatch_retry"
	StageClaimed        Stage = "claimed"
	StageParams         Stage = "params"
	StageOutput         Stage = "output"
	StageProgress       Stage = "progress"
	StageDeferred       Stage = "deferred"
	StageOutcome        Stage = "outcome"
	StageRetryScheduled Stage = "retry_scheduled"
	StageRedispatched   Stage = "redispatched"
	StageLost           Stage = "lost"
	StageLateResult     Stage = "late_result"
	StageCancel         Stage = "cancel"
)

// RunRequest is one attempt handed to a job.
type RunRequest struct {
	App         string
	Task        string
	Instance    InstanceID
	Kind        Kind
	Shard       int
	Shards      int
	Attempt     int
	MaxAttempts int
	ScheduledAt time.Time // in the task's zone
	Zone        string    // IANA name
	TraceID     string
	Node        string
	Params      json.RawMessage
	Fence       int64
	Deadline    time.Time // zero: none
	CallbackURL string
	// Grace is how long the job may take to end after a soft cancel.
	Grace time.Duration
}

// Output is what a job sends while it runs: lines, or Progress.
type Output struct {
	Lines []Line
	// Dropped lines are missing just before these, with DroppedBytes of text.
	Dropped, DroppedBytes uint64
	Progress              *Progress
}

// Line is a line of a job's log or raw output, without its line end.
type Line struct {
	At    time.Time
	Level string // as in Event
	Text  string
}

// Progress is how far a run is; Total 0 means unknown.
type Progress struct {
	Done    int64
	Total   int64
	Message string
}

// Outcome is the end of one attempt.
type Outcome struct {
	// Status is StatusSuccess, StatusFailed, StatusTimeout, StatusLost or
	// StatusCanceled.
	Status  Status
	Message string
	Error   string
	Data    json.RawMessage
	// Permanent refuses further attempts.
	Permanent bool
	// NotBegun: the job cannot have begun, since what it takes was not there; the
	// attempt does not count and is made later.
	NotBegun bool
	// Deferred: the attempt goes on elsewhere, Status is StatusRunning.
	Deferred bool
	// WillRetry tells listeners that a further attempt is planned.
	WillRetry bool
	StartedAt time.Time
	EndedAt   time.Time
}
