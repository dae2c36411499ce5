package ax

import "slices"

// Status is the state of an instance.
type Status string

// States of an instance. PENDING is a plan in the wheel and never a row.
const (
	StatusPending    Status = "PENDING"
	StatusTriggered  Status = "TRIGGERED"
	StatusDispatched Status = "DISPATCHED"
	StatusRunning    Status = "RUNNING"
	StatusRetrying   Status = "RETRYING"
	StatusSuccess    Status = "SUCCESS"
	StatusFailed     Status = "FAILED"
	StatusTimeout    Status = "TIMEOUT"
	StatusLost       Status = "LOST"
	StatusMissed     Status = "MISSED"
	StatusSkipped    Status = "SKIPPED"
	StatusCanceled   Status = "CANCELED"
)

// moves is the one table of legal moves. A move that a transaction makes in
// one go (local dispatch: straight to RUNNING) is listed by its end points.
// FAILED, TIMEOUT and LOST are final rows; while attempts are left the row goes
// from RUNNING to RETRYING and the failed attempt lives on as an ax_log event.
// RUNNING to RUNNING writes what became known on the way: bound parameters, or
// that the job will report its end by a callback. RUNNING to DISPATCHED gives a
// claim back before the job began, RUNNING to TRIGGERED also the place: what the
// job needs is not there.
var moves = map[Status][]Status{
	StatusPending:    {StatusTriggered, StatusDispatched, StatusRunning, StatusMissed, StatusSkipped},
	StatusTriggered:  {StatusDispatched, StatusRunning, StatusSkipped, StatusCanceled},
	StatusDispatched: {StatusTriggered, StatusDispatched, StatusRunning, StatusSkipped, StatusCanceled},
	StatusRunning:    {StatusRunning, StatusDispatched, StatusTriggered, StatusSuccess, StatusFailed, StatusTimeout, StatusLost, StatusCanceled, StatusRetrying},
	StatusRetrying:   {StatusDispatched, StatusRunning, StatusCanceled, StatusFailed},
}

// CanMove reports whether the state machine allows from → to.
func CanMove(from, to Status) bool { return slices.Contains(moves[from], to) }

// Final reports whether no move leads out of s.
func (s Status) Final() bool { return s != StatusPending && len(moves[s]) == 0 }

// Failure reports whether s is the end of an attempt that should be looked at.
func (s Status) Failure() bool {
	return s == StatusFailed || s == StatusTimeout || s == StatusLost
}

// Unfinished lists the states of rows that lead on.
func Unfinished() []Status {
	return slices.DeleteFunc(Statuses(), Status.Final)
}

// Statuses lists all states of rows, for validation and help texts.
func Statuses() []Status {
	return []Status{
		StatusTriggered, StatusDispatched, StatusRunning, StatusRetrying,
		StatusSuccess, StatusFailed, StatusTimeout, StatusLost,
		StatusMissed, StatusSkipped, StatusCanceled,
	}
}
