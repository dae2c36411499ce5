package ax

import "time"

// Change is a unit of the group-commit writer: all of it is written, or
// nothing. Many changes share one transaction.
type Change struct {
	// Plan moves a task's next due time by compare-and-set. If another host has
	// moved it already the whole change is not applied.
	Plan *Plan
	// Insert holds new instances.
	Insert []Instance
	// Move changes one instance if it is still in the expected state; if it is
	// not, the whole change is not applied.
	Move *Move
	// Events are written with the rest. Their IDs are set by the sender.
	Events []Event
	// Alerts are written with the rest, for people to be told of. Their IDs are
	// set by the sender.
	Alerts []AlertEvent
	// Request, if not nil, is written with the rest, for the first of those with its
	// key only. Its Instance is one of Insert.
	Request *Request
	// Done is told once whether the change is in the database: applied false
	// with a nil error means that a condition did not hold. It is called from
	// the writer's goroutine, in commit order, and must not block.
	Done func(applied bool, err error)
}

// Plan is the compare-and-set on ax_task.next_at.
type Plan struct {
	Task TaskID
	From time.Time // the value that must still be there
	// To is the new NextAt, zero for never; Prev the new PrevAt.
	To, Prev time.Time
	// Planned replaces the times fetched ahead unless it is nil.
	Planned  []time.Time
	PlanDone bool
}

// Move is one conditional UPDATE of ax_instance: WHERE id, status and fence are
// as given. New carries the values of all mutable columns afterwards.
type Move struct {
	From  Status
	Fence int64
	New   Instance
}

// InstanceFilter selects instances for lists, newest first.
type InstanceFilter struct {
	App      string
	Task     string
	Statuses []Status
	Kinds    []Kind
	// Since and Until bound ScheduledAt: Since <= t < Until; zero = open.
	Since, Until time.Time
	// Before pages: only instances with a smaller id. 0 = from the newest.
	Before InstanceID
	Limit  int // 0 = 100
}

// EventFilter selects events of an instance in the order of their ids.
type EventFilter struct {
	Instance InstanceID
	After    int64 // only ids above
	Stages   []Stage
	Limit    int // 0 = 1000
}

// Node is a row of ax_node: one life of a host process.
type Node struct {
	Incarnation string // unique for each start of a host
	Name        string
	App         string
	Address     string // host:port of the API, empty if none
	// Cluster is host:port at which other hosts reach this one, empty if they
	// cannot.
	Cluster   string
	Version   string
	PID       int
	StartedAt time.Time
	BeatAt    time.Time // by the clock of the database
	Draining  bool
	NodeFigures
}

// NodeFigures are what a host tells of itself with every sign of life. Their
// JSON form is one column of the row.
type NodeFigures struct {
	// Labels are what Task.Nodes refers to.
	Labels map[string]string `json:"labels,omitempty"`
	// Offers are the components of jobs and triggers that are ready, by the
	// names that tasks use for them.
	Offers []string `json:"offers,omitempty"`
	// Running and Queued count attempts, Workers and Queue are their limits.
	Running int `json:"running"`
	Queued  int `json:"queued"`
	Workers int `json:"workers"`
	Queue   int `json:"queue"`
	// CPU is the share of the machine that is busy, 0 to 1; Memory is what the
	// process uses, in bytes.
	CPU    float64 `json:"cpu,omitempty"`
	Memory int64   `json:"memory,omitempty"`
	// Leaving says that the host is stopping, while Node.Draining may also be the
	// wish of a person.
	Leaving bool `json:"leaving,omitempty"`
	// Statements is how many a second the host has lately sent to the database.
	Statements float64 `json:"statements,omitempty"`
	// ConfigHash tells configurations apart.
	ConfigHash string `json:"config_hash,omitempty"`
	// ClockOffset is by how much the clock of the host is ahead of the
	// database's.
	ClockOffset time.Duration `json:"clock_offset,omitempty"`
}
