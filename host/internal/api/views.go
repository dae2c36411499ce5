package api

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
)

// The types of this file are the JSON of the API, for the server and for its
// clients. Times are RFC 3339 with an offset, durations as Go writes them
// ("1m30s"), ids are strings since they do not fit into a JavaScript number.

// TaskView is a task, its definition and its state. The settings of its job
// and its parameters are left out: they may hold secrets.
type TaskView struct {
	Name        string            `json:"name"`
	App         string            `json:"app"`
	Group       string            `json:"group,omitempty"`
	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	State       TaskMood          `json:"state" enum:"on,off,paused,parked,done" doc:"on: it is scheduled; off: disabled in the configuration; paused: by a person; parked: it cannot be scheduled, see parked; done: no due time is left"`
	Schedule    ScheduleView      `json:"schedule"`
	Job         string            `json:"job" doc:"Name of the job component"`
	Timeout     string            `json:"timeout,omitempty" doc:"Of one attempt"`
	Attempts    int               `json:"attempts" doc:"The first one and its retries"`
	Concurrency int               `json:"concurrency" doc:"Instances at once, 0 = no limit"`
	Overlap     ax.Overlap        `json:"overlap"`
	Misfire     ax.MisfirePolicy  `json:"misfire"`
	NotifyTo    []string          `json:"notify_to,omitempty" nullable:"false"`
	Source      string            `json:"source,omitempty" doc:"Where it is defined, file:line; \"console\" for a task that people have made over the API"`
	Version     int64             `json:"version,omitempty" doc:"Of the definition, grows with each change; of single tasks only"`

	NextAt      time.Time `json:"next_at,omitzero" required:"false" doc:"Of a paused task the first due time after the pause, of one that is off none"`
	PrevAt      time.Time `json:"prev_at,omitzero" required:"false" doc:"The newest due time that has an instance"`
	PausedUntil time.Time `json:"paused_until,omitzero" required:"false" doc:"When the pause ends by itself"`
	Parked      string    `json:"parked,omitempty" doc:"Why it cannot be scheduled"`
	Running     int       `json:"running" doc:"Instances that run now"`
	Failures    int       `json:"failures" doc:"Failed instances in a row"`
	LastID      string    `json:"last_instance,omitempty"`
	LastStatus  ax.Status `json:"last_status,omitempty"`
	LastAt      time.Time `json:"last_at,omitzero" required:"false" doc:"Due time of the newest instance"`
}

// TaskMood sums up whether and why a task is scheduled.
type TaskMood string

// Moods of a task; the schema of TaskView explains them.
const (
	TaskOn     TaskMood = "on"
	TaskOff    TaskMood = "off"
	TaskPaused TaskMood = "paused"
	TaskParked TaskMood = "parked"
	TaskDone   TaskMood = "done"
)

// ScheduleView is when a task is due, in the words of the configuration.
type ScheduleView struct {
	Cron        string      `json:"cron,omitempty"`
	Every       string      `json:"every,omitempty"`
	Anchor      time.Time   `json:"anchor,omitzero" required:"false"`
	RepeatCount *int        `json:"repeat_count,omitempty"`
	Delay       string      `json:"delay,omitempty" doc:"Between the end of a run and the next due time"`
	At          time.Time   `json:"at,omitzero" required:"false"`
	Trigger     string      `json:"trigger,omitempty" doc:"Name of the trigger component"`
	Timezone    string      `json:"timezone"`
	From        time.Time   `json:"from,omitzero" required:"false"`
	Until       time.Time   `json:"until,omitzero" required:"false"`
	Calendar    string      `json:"calendar,omitempty"`
	OnClosed    ax.OnClosed `json:"on_closed,omitempty"`
	// Blackouts are in words.
	Blackouts  []string      `json:"blackout,omitempty" nullable:"false" doc:"Times in which it is not due"`
	OnBlackout ax.OnBlackout `json:"on_blackout,omitempty"`
	Jitter     string        `json:"jitter,omitempty" doc:"Due times are put off by less than this"`
	// Words say all of it, also the settings of the trigger.
	Words preview.Words `json:"words" doc:"All of it in plain language"`
}

// InstanceView is one due time of a task and what became of it.
type InstanceView struct {
	ID          string    `json:"id"`
	Task        string    `json:"task"`
	App         string    `json:"app"`
	Kind        ax.Kind   `json:"kind" enum:"scheduled,manual,backfill,child"`
	Status      ax.Status `json:"status"`
	Final       bool      `json:"final" doc:"Whether the status will stay as it is"`
	Reason      string    `json:"reason,omitempty" doc:"Why it is in this state"`
	ScheduledAt time.Time `json:"scheduled_at" doc:"The due time"`
	CreatedAt   time.Time `json:"created_at"`
	StartedAt   time.Time `json:"started_at,omitzero" required:"false" doc:"Of the newest attempt"`
	EndedAt     time.Time `json:"ended_at,omitzero" required:"false" doc:"Of the newest attempt"`
	RetryAt     time.Time `json:"retry_at,omitzero" required:"false"`
	DeadlineAt  time.Time `json:"deadline_at,omitzero" required:"false"`
	Attempt     int       `json:"attempt" doc:"Attempts begun"`
	Node        string    `json:"node,omitempty"`
	Shard       int       `json:"shard,omitempty" doc:"Which of the shards of its due time it is, from 0"`
	Shards      int       `json:"shards,omitempty" doc:"How many hosts run this due time, each a shard, with strategy: broadcast"`
	Deferred    bool      `json:"deferred,omitempty" doc:"Its end will be reported by a callback"`
	Missed      int       `json:"missed,omitempty" doc:"How many due times a MISSED instance stands for"`
	MissedUntil time.Time `json:"missed_until,omitzero" required:"false"`
	TraceID     string    `json:"trace_id,omitempty"`
	Params      any       `json:"params,omitempty"`
	Message     string    `json:"message,omitempty"`
	Error       string    `json:"error,omitempty"`
	Data        any       `json:"data,omitempty"`
}

// EventView is a line of an instance's log.
type EventView struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Attempt int       `json:"attempt"`
	Stage   ax.Stage  `json:"stage"`
	Level   string    `json:"level"`
	Node    string    `json:"node,omitempty"`
	Text    string    `json:"text"`
}

// PluginView is a plugin as the host knows it.
type PluginView struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description,omitempty"`
	Path        string          `json:"path" doc:"Of the binary"`
	State       string          `json:"state" doc:"ready (without a pid: it starts when it is first needed), starting, backoff, quarantined, draining, refused"`
	Reason      string          `json:"reason,omitempty" doc:"Why it is not ready"`
	PID         int             `json:"pid,omitempty"`
	StartedAt   time.Time       `json:"started_at,omitzero" required:"false"`
	Restarts    int             `json:"restarts"`
	Running     int             `json:"running" doc:"Runs in flight"`
	Components  []ComponentView `json:"components" nullable:"false"`
}

// ComponentView is one thing that a plugin offers.
type ComponentView struct {
	Kind        string `json:"kind"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// ReloadReport says what a reload changed, in numbers of tasks.
type ReloadReport struct {
	Added     int      `json:"added"`
	Changed   int      `json:"changed"`
	Removed   int      `json:"removed"`
	Unchanged int      `json:"unchanged"`
	Warnings  []string `json:"warnings,omitempty" nullable:"false"`
}

// Health sums up how the host is.
type Health struct {
	Status        HealthStatus `json:"status" enum:"ok,degraded,draining,failing"`
	Reasons       []string     `json:"reasons,omitempty" nullable:"false" doc:"Why it is not ok, or soon will not be"`
	NotReady      []string     `json:"not_ready,omitempty" nullable:"false" doc:"Why it takes no work at the moment"`
	Version       string       `json:"version"`
	App           string       `json:"app"`
	Node          string       `json:"node"`
	Incarnation   string       `json:"incarnation,omitempty"`
	StartedAt     time.Time    `json:"started_at"`
	UptimeSeconds int64        `json:"uptime_seconds"`
	Database      string       `json:"database" doc:"Its kind, such as sqlite"`
	DatabaseOK    bool         `json:"database_ok"`
	Plugins       int          `json:"plugins"`
	PluginsReady  int          `json:"plugins_ready" doc:"Those that run, or start when they are first needed"`
	Tasks         int          `json:"tasks"`
	TasksParked   int          `json:"tasks_parked"`
	Running       int          `json:"running" doc:"Runs in flight on this host"`
	QueueDepth    int          `json:"queue_depth" doc:"Runs that wait for a worker"`
}

// HealthStatus is the sum of a Health.
type HealthStatus string

// States of a host, from good to bad.
const (
	HealthOK       HealthStatus = "ok"       // all is well
	HealthDegraded HealthStatus = "degraded" // it works, with something broken
	HealthDraining HealthStatus = "draining" // it is stopping
	HealthFailing  HealthStatus = "failing"  // it does not do its work
)

// CallbackResult is how a deferred run ended.
type CallbackResult struct {
	Status  string `json:"status" enum:"success,failed"`
	Message string `json:"message,omitempty" maxLength:"4096" doc:"One line for people; the error if it failed"`
	Data    Object `json:"data,omitempty" doc:"Kept with the instance"`
}
