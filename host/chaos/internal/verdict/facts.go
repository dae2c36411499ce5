// Package verdict judges what was left behind after hosts ran tasks under faults:
// the rows of the database, and the journal that the jobs wrote themselves, held
// against the due times that the schedules have and the faults that there were.
// It is pure.
package verdict

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Facts are all that a verdict rests on. Times are those of the machine's clock.
type Facts struct {
	Tasks []Task
	// From and Until bound the due times of all tasks: From <= due < Until.
	From, Until time.Time
	// Rows are of ax_instance, by task and due time.
	Rows []Row
	// Lines are of the journal, in the order in which they were written.
	Lines  []Line
	Faults []Fault
}

// Task is what is known of a task from its configuration.
type Task struct {
	Name string
	// Next returns the first due time after a time.
	Next func(after time.Time) time.Time
	// Probe: each due time starts at once, whatever other runs of the task do. How
	// fast a task moves to another host is measured with these.
	Probe bool
}

// Row is what counts of a row of ax_instance, and of its events.
type Row struct {
	ID          ax.InstanceID
	Task        string
	Due         time.Time
	Kind        ax.Kind
	Status      ax.Status
	Attempt     int
	Missed      int
	MissedUntil time.Time
	// Scheduler is the name of the node that made the row.
	Scheduler string
	// Ends are the events that tell of the end of an attempt, in their order.
	Ends []End
}

// End is an event about the end of an attempt.
type End struct {
	Attempt int
	// Stage is outcome, lost or late_result.
	Stage ax.Stage
}

// Line is a line of the journal.
type Line struct {
	What     string // begin, end, failed or stopped
	Task     string
	Instance ax.InstanceID
	Attempt  int
	Fence    int64
	Node     string
	PID      int
	At       time.Time
}

// FaultKind names what is done to a host, to the database or to a network.
type FaultKind string

// Kinds of faults.
const (
	// Kill ends a host at once; it is started again.
	Kill FaultKind = "kill"
	// Drain ends a host in good order; it is started again.
	Drain FaultKind = "drain"
	// Stop halts a host for a while; HangAll halts its plugins too.
	Stop    FaultKind = "stop"
	HangAll FaultKind = "hang-all"
	// Isolate keeps a host from the database and from other hosts.
	Isolate FaultKind = "isolate"
	// CutDB resets the connections of a host to the database, MuteDB keeps what is
	// said there, SlowDB delays it.
	CutDB  FaultKind = "cut-db"
	MuteDB FaultKind = "mute-db"
	SlowDB FaultKind = "slow-db"
	// The same between a host and those that call it.
	CutPeer  FaultKind = "cut-peer"
	MutePeer FaultKind = "mute-peer"
	SlowPeer FaultKind = "slow-peer"
	// KillDB ends the database at once, RestartDB in good order; both start it again.
	KillDB    FaultKind = "kill-db"
	RestartDB FaultKind = "restart-db"
)

// Fault is something that was done, from Begin to End.
type Fault struct {
	Kind       FaultKind
	Node       string // empty: it struck the database
	Begin, End time.Time
	// Alone: there was no other fault shortly before and for as long afterwards as
	// its effect is measured.
	Alone bool
}
