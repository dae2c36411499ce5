package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Backlog is what waits on a host, and why; and what takes long.
type Backlog struct {
	Workers    int `json:"workers" doc:"How many runs may go on at once"`
	Busy       int `json:"busy" doc:"Workers that run something; a job of a plugin that has nothing else running gets one beyond the number"`
	QueueLimit int `json:"queue_limit" doc:"How many runs may wait for a worker"`
	QueueDepth int `json:"queue_depth" doc:"How many do"`
	Held       int `json:"held" doc:"Tasks that are due and wait for room in the queue; nothing is lost, it is recorded once there is"`
	// TasksTotal counts the tasks that Tasks would show without a limit.
	TasksTotal int           `json:"tasks_total" doc:"Tasks with something that waits or runs; tasks lists the first ones of them"`
	Tasks      []BacklogTask `json:"tasks" nullable:"false" doc:"What waits longest comes first, then what only runs"`
	SlowSince  time.Time     `json:"slow_since" doc:"Slow is about runs since then"`
	Slow       []SlowTask    `json:"slow" nullable:"false" doc:"Tasks whose runs take longest on average"`
}

// BacklogTask is a task with its instances that are not final.
type BacklogTask struct {
	Task         string       `json:"task"`
	Running      int          `json:"running"`
	Queued       int          `json:"queued" doc:"DISPATCHED: in the queue for a worker"`
	Waiting      int          `json:"waiting" doc:"TRIGGERED: for a place under the limit of the task"`
	Retrying     int          `json:"retrying"`
	Overdue      bool         `json:"overdue,omitempty" doc:"Its next due time has come and is not recorded yet"`
	OldestDue    time.Time    `json:"oldest_due,omitzero" required:"false" doc:"Of what waits"`
	RunningSince time.Time    `json:"running_since,omitzero" required:"false" doc:"Start of the longest run under way"`
	Why          []WaitReason `json:"why,omitempty" nullable:"false" doc:"Why something waits, the first thing to look at first"`
}

// WaitReason says why something waits.
type WaitReason struct {
	Cause WaitCause `json:"cause" enum:"stopping,parked,paused,error,database,limit,room,workers,queue,next_due,backfill,retry"`
	Text  string    `json:"text" doc:"For people"`
	Until time.Time `json:"until,omitzero" required:"false" doc:"When it is over or looked at again, if that is known"`
}

// WaitCause names a reason to wait.
type WaitCause string

// Reasons to wait.
const (
	WaitStopping WaitCause = "stopping" // the host starts nothing any more
	WaitParked   WaitCause = "parked"   // something is missing, such as a plugin
	WaitPaused   WaitCause = "paused"   // a person stopped the schedule
	WaitError    WaitCause = "error"    // it could not be started and is tried again
	WaitDatabase WaitCause = "database" // it is being written down
	WaitLimit    WaitCause = "limit"    // the task's own concurrency
	WaitRoom     WaitCause = "room"     // all workers are busy and the queue is full
	WaitWorkers  WaitCause = "workers"  // all workers are busy
	WaitQueue    WaitCause = "queue"    // it is in the queue although a worker is free
	WaitNextDue  WaitCause = "next_due" // overlap: defer
	WaitBackfill WaitCause = "backfill" // its turn among the past due times
	WaitRetry    WaitCause = "retry"    // the pause before the next attempt
)

// SlowTask sums up the runs of a task.
type SlowTask struct {
	Task     string `json:"task"`
	Runs     int64  `json:"runs" doc:"That have ended"`
	Failures int64  `json:"failures" doc:"FAILED, TIMEOUT or LOST"`
	Average  string `json:"average" doc:"Of the last attempts; LOST ones do not count"`
	Longest  string `json:"longest"`
}

func (s *server) backlogRoutes() {
	register(s, huma.Operation{
		OperationID: "get-backlog", Method: http.MethodGet, Path: Base + "/backlog",
		Summary: "Show what waits and why, and what takes long", Tags: []string{"host"},
	}, s.getBacklog)
}

type backlogQuery struct {
	N int `query:"n" minimum:"1" maximum:"1000" default:"10" doc:"Length of either list"`
}

func (s *server) getBacklog(ctx context.Context, in *backlogQuery) (*reply[Backlog], error) {
	backlog, err := s.backend.Backlog(ctx, in.N)
	if err != nil {
		return nil, err
	}
	if backlog.Tasks == nil {
		backlog.Tasks = []BacklogTask{}
	}
	if backlog.Slow == nil {
		backlog.Slow = []SlowTask{}
	}
	return &reply[Backlog]{backlog}, nil
}
