package ax

import "time"

// Attempt is one execution of an instance, on its way to a job.
type Attempt struct {
	Task *Task
	// Instance is the row as it stands in the database: RUNNING and claimed, or
	// DISPATCHED and to be claimed by whoever runs it.
	Instance Instance
}

// Claim returns the instance as the claim of a new attempt leaves it.
func (inst Instance) Claim(node, incarnation string, now time.Time) Instance {
	inst = inst.Dispatch(node, incarnation)
	inst.Status = StatusRunning
	inst.Attempt++
	inst.StartedAt, inst.EndedAt = now, time.Time{}
	return inst
}

// Dispatch returns the instance as it is when a place in the queue of a node
// has been found for it: what an earlier attempt left is taken away.
func (inst Instance) Dispatch(node, incarnation string) Instance {
	inst.Status = StatusDispatched
	inst.Fence++
	inst.Node, inst.Owner = node, incarnation
	inst.RetryAt = time.Time{}
	inst.Reason, inst.Message, inst.Error, inst.Data = "", "", "", nil
	inst.Deferred, inst.CallbackHash, inst.DeadlineAt = false, "", time.Time{}
	return inst
}

// Room says whether an attempt can be taken on now.
type Room int

// Kinds of room. A caller that got any but RoomNone holds a place and must
// either start an attempt with it or give it back.
const (
	RoomNone  Room = iota // workers and queue are full: try again when told
	RoomQueue             // a place in the queue
	// RoomSoon is a place in the queue whose turn comes within moments: the
	// attempt is claimed at once, which saves it a commit of its own.
	RoomSoon
	RoomNow // a free worker
)

// Claims reports whether the attempt is claimed together with its place.
func (r Room) Claims() bool { return r == RoomSoon || r == RoomNow }

// Place is room on a node, promised by a dispatcher.
type Place struct {
	Node        string
	Incarnation string
	Room        Room
}

// Ended is the end of an attempt, after it was written to the database.
type Ended struct {
	Task      *Task
	Instance  Instance // as it stands in the database now
	Outcome   Outcome
	WillRetry bool
}

// Happening is something that listeners, alerts and metrics want to know.
type Happening struct {
	What HappeningKind
	At   time.Time
	Task *Task
	// Instance is the instance concerned; zero for parked and unparked.
	Instance Instance
	// Outcome and WillRetry are set for attempt_ended.
	Outcome   Outcome
	WillRetry bool
	// Text says why, for missed, skipped, parked and calendar.
	Text string
}

// HappeningKind names what happened.
type HappeningKind string

// What can happen.
const (
	AttemptStarted HappeningKind = "attempt_started"
	AttemptEnded   HappeningKind = "attempt_ended"
	DueMissed      HappeningKind = "missed"
	DueSkipped     HappeningKind = "skipped"
	TaskParked     HappeningKind = "parked"
	TaskUnparked   HappeningKind = "unparked"
	// CalendarEnds: the lists of holidays of a calendar end. Task stands for the
	// calendar, not for a task.
	CalendarEnds HappeningKind = "calendar"
)
