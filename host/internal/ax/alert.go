package ax

import (
	"encoding/json"
	"time"
)

// AlertState is how far a notification has come.
type AlertState string

// States of a notification.
const (
	// AlertOpen waits for its time (NextTryAt), gathering events until then.
	AlertOpen AlertState = "open"
	// AlertSent was taken over by the notifier.
	AlertSent AlertState = "sent"
	// AlertFailed was refused at least once and is tried again at NextTryAt.
	AlertFailed AlertState = "failed"
	// AlertGivenUp will not be tried again.
	AlertGivenUp AlertState = "given_up"
)

// AlertRow is a row of ax_alert: one notification for one notifier, and with
// that the window of time whose events it gathers. The table is the outbox as
// well as the memory of what was sent when.
type AlertRow struct {
	// ID is made by the sender. Saving a row with a known ID replaces it.
	ID       int64
	App      string
	TaskID   TaskID
	Notifier string
	Event    string // as in Notify.On, or calendar
	State    AlertState
	// WindowStart is when the message began to gather events. WindowEnd is when
	// it is to go out and, once it is sent, when it did.
	WindowStart, WindowEnd time.Time
	// Count events from FirstAt to LastAt stand behind the message.
	Count           int
	FirstAt, LastAt time.Time
	// Payload is the message as the notifier gets it, JSON, and beside it as
	// "facts" what it was made of.
	Payload json.RawMessage
	// Attempts counts the deliveries tried.
	Attempts  int
	NextTryAt time.Time
	LastError string
}

// AlertFilter selects rows of ax_alert, newest window first.
type AlertFilter struct {
	App    string
	TaskID TaskID // 0 = all
	States []AlertState
	// EndsAfter keeps only windows that end later; zero = all.
	EndsAfter time.Time
	Limit     int // 0 = 1000
}
