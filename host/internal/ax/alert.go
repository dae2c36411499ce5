package ax

import (
	"encoding/json"
	"errors"
	"time"
)

// ErrLeaseLost says that another host holds the lease by now.
var ErrLeaseLost = errors.New("another host holds the lease")

// AlertState is how far a notification has come.
type AlertState string

// States of a notification.
const (
	// AlertOpen waits for its time (NextTryAt), gathering events until then.
	AlertOpen AlertState = "open"
	// AlertSending is being sent, or was when its host died: nobody else sends
	// it before NextTryAt.
	AlertSending AlertState = "sending"
	// AlertSent was taken over by the notifier.
	AlertSent AlertState = "sent"
	// AlertMerged was told by another message, MergedInto, which was sent. Until
	// then it is AlertSending.
	AlertMerged AlertState = "merged"
	// AlertFailed was refused at least once and is tried again at NextTryAt.
	AlertFailed AlertState = "failed"
	// AlertGivenUp is a dead letter: it is not tried again unless a person asks.
	AlertGivenUp AlertState = "given_up"
	// AlertDropped was given up, and a person has thrown it away.
	AlertDropped AlertState = "dropped"
)

// Settled reports whether nothing more becomes of the notification by itself.
func (s AlertState) Settled() bool {
	return s == AlertSent || s == AlertMerged || s == AlertGivenUp || s == AlertDropped
}

// AlertRow is a row of ax_alert: one notification for one notifier, and with
// that the window of time whose events it gathers. The table is the outbox as
// well as the memory of what was sent when.
type AlertRow struct {
	// ID is made by the sender.
	ID       int64
	App      string
	TaskID   TaskID
	TaskName string
	Notifier string
	Event    string // as in Notify.On, or of a subject that is no task
	State    AlertState
	// WindowStart is when the message began to gather events. WindowEnd is when
	// it is to go out and, once it is sent, when it did.
	WindowStart, WindowEnd time.Time
	// Count events from FirstAt to LastAt stand behind the message.
	Count           int
	FirstAt, LastAt time.Time
	// Payload is what the message is made of as "facts" and, once it leaves, the
	// message as the notifier gets it, JSON.
	Payload json.RawMessage
	// Attempts counts the deliveries tried.
	Attempts  int
	NextTryAt time.Time
	LastError string
	// Digest is equal for messages that say the same of different tasks; empty
	// while it gathers.
	Digest string
	// MergedInto is the ID of the row whose message told of this one, 0 for none.
	MergedInto int64
	// Version is 0 for a row that is not in the database yet and grows with each
	// write: a row that somebody else has written meanwhile is not overwritten.
	Version int64
}

// AlertFilter selects rows of ax_alert, newest window first.
type AlertFilter struct {
	App      string
	TaskID   TaskID // 0 = all
	Task     string // its name; empty = all
	Notifier string // empty = all
	States   []AlertState
	// EndsAfter keeps only windows that end later; zero = all.
	EndsAfter time.Time
	// Before pages: only rows with a smaller ID. 0 = from the newest.
	Before int64
	Limit  int // 0 = 1000
}

// AlertEvent is a row of ax_alert_event: something that happened to a task, or
// to another subject, and is in no message yet.
type AlertEvent struct {
	ID     int64 // made by the sender, rises with time
	App    string
	TaskID TaskID
	// Subject is the name of the task or, if there are Receivers, of what else the
	// event is about; TaskID is a hash of it then.
	Subject   string
	Receivers []string
	// Event is one of Notify.On, or a name that package alert knows.
	Event string
	// Count is how often it happened, the last time at At.
	Count    int
	At       time.Time
	Instance InstanceID // 0 for none
	Attempt  int
	Node     string
	// Detail is the error or the reason; empty if the instance has it.
	Detail string
}

// AlertTask is a row of ax_alert_task: how a task fares.
type AlertTask struct {
	TaskID   TaskID
	App      string
	Failures int // in a row
	State    json.RawMessage
}

// AlertLease is a row of ax_alert_lease: the right of one host to gather and
// send the notifications of an app.
type AlertLease struct {
	App   string
	Owner string // incarnation
	Fence int64
	Until time.Time // by the clock of the database
}

// AlertNotifier is a row of ax_alert_notifier: how a notifier fares.
type AlertNotifier struct {
	App, Name string
	// FailingSince is zero for one that works, or was not used yet.
	FailingSince time.Time
	Failures     int // tries in a row without success
	NextTryAt    time.Time
	LastError    string
	SentAt       time.Time // of the newest message
}

// AlertQueue is what waits for a notifier.
type AlertQueue struct {
	Notifier string
	Waiting  int // gather, are on their way, or are tried again
	Dead     int // dead letters
	// Since is when the first of those that wait was to leave, in the future if
	// all of them still gather; zero if none waits.
	Since time.Time
}

// AlertSilence is a row of ax_alert_silence: until then messages wait.
type AlertSilence struct {
	ID       int64
	App      string
	Task     string // empty = all
	Notifier string // empty = all
	Until    time.Time
	Reason   string
	At       time.Time // when it began
	By       string
}

// AlertBatch is written by the holder of a lease, all of it or nothing.
type AlertBatch struct {
	// Lease must still be held; it is prolonged by TTL.
	Lease AlertLease
	TTL   time.Duration
	// Events are deleted; each of them must be there.
	Events []int64
	// Tasks and Notifiers replace the rows with the same key.
	Tasks     []AlertTask
	Notifiers []AlertNotifier
	// Rows are inserted if their Version is 0, else written over a row that
	// still has this version.
	Rows []AlertRow
	// Merged tells what became of messages that others told of as well.
	Merged []AlertMerge
}

// AlertMerge is what became of the rows with this MergedInto, and when.
type AlertMerge struct {
	Into  int64
	State AlertState
	At    time.Time
}

// OverdueTask is a task with a due time that should have a row by now.
type OverdueTask struct {
	ID     TaskID
	Name   string
	NextAt time.Time
	Parked string // why it cannot be scheduled, if it is known
}

// TaskSuccess is when a run of a task was a success.
type TaskSuccess struct {
	ID   TaskID
	Name string
	At   time.Time
}

// WatchedInstance is an instance that waits or runs, in short.
type WatchedInstance struct {
	ID          InstanceID
	TaskID      TaskID
	TaskName    string
	Status      Status
	ScheduledAt time.Time
	StartedAt   time.Time
	Attempt     int
	Node        string
}
