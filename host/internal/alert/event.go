package alert

import (
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Names of events, as Notify.On has them.
const (
	failed    = "failed"
	timeout   = "timeout"
	lost      = "lost"
	missed    = "missed"
	skipped   = "skipped"
	parked    = "parked"
	recovered = "recovered"
	// calendarEnds is about a calendar in the place of a task.
	calendarEnds = "calendar"
)

// Names of what is no event for people but bears on others.
const (
	succeeded = "succeeded"
	unparked  = "unparked"
)

// event is something that happened to a task.
type event struct {
	name string
	at   time.Time
	// text is the error or the reason, fit for people.
	text string
	run  run
}

// run is the attempt that an event is about, as far as there is one.
type run struct {
	Instance string `json:"instance,omitempty"`
	Attempt  int    `json:"attempt,omitempty"`
	Node     string `json:"node,omitempty"`
}

// eventOf tells what a happening means; false: nothing to anybody. An attempt
// that will be made again is nothing yet, and one that a person ended is neither
// failure nor success.
func eventOf(h ax.Happening, redact func(string) string) (event, bool) {
	ev := event{at: h.At, text: h.Text}
	switch h.What {
	case ax.AttemptEnded:
		status := h.Outcome.Status
		switch {
		case h.WillRetry:
			return ev, false
		case status == ax.StatusSuccess:
			ev.name = succeeded
		case status.Failure():
			ev.name, ev.text = strings.ToLower(string(status)), h.Outcome.Error
		default:
			return ev, false
		}
	case ax.DueMissed, ax.DueSkipped, ax.TaskParked, ax.TaskUnparked, ax.CalendarEnds:
		ev.name = string(h.What)
	default:
		return ev, false
	}
	ev.text = digest(redact(ev.text))
	if h.Instance.ID != 0 {
		ev.run = run{Instance: h.Instance.ID.String(), Attempt: h.Instance.Attempt, Node: h.Instance.Node}
	}
	return ev, true
}

func (ev *event) failure() bool { return isFailure(ev.name) }

func isFailure(name string) bool { return name == failed || name == timeout || name == lost }

// isState reports whether an event says how the task fares from then on; the
// others are incidents.
func isState(name string) bool { return isFailure(name) || name == parked || name == recovered }

func severity(name string) string {
	switch name {
	case recovered:
		return "info"
	case missed, skipped, calendarEnds:
		return "warning"
	}
	return "error"
}
