package alert

import (
	"strings"

	"github.com/axsched/ax/host/internal/ax"
)

// Names of events, as Notify.On has them.
const (
	failed    = "failed"
	attempt   = "attempt"
	timeout   = "timeout"
	lost      = "lost"
	missed    = "missed"
	skipped   = "skipped"
	slow      = "slow"
	late      = "late"
	overdue   = "overdue"
	parked    = "parked"
	recovered = "recovered"
)

// Names of events about subjects that are no tasks.
const (
	// PluginDown ends with a Works.
	PluginDown = "plugin"
	// NodeLost is about a host that died.
	NodeLost = "node"
	// calendarEnds is about a calendar.
	calendarEnds = string(ax.CalendarEnds)
)

// Names of what is no event for people but bears on others.
const (
	succeeded = "succeeded"
	unparked  = string(ax.TaskUnparked)
	// Works says that what was down works again.
	Works = succeeded
)

// isFailure tells what begins or prolongs a row of failures.
func isFailure(name string) bool {
	return name == failed || name == timeout || name == lost || name == PluginDown
}

// isState reports whether an event says how the task fares from then on; the
// others are incidents.
func isState(name string) bool { return isFailure(name) || name == parked || name == recovered }

func severity(name string) string {
	switch name {
	case recovered:
		return "info"
	case attempt, missed, skipped, slow, late, calendarEnds:
		return "warning"
	}
	return "error"
}

// failureOf names the failure that a final status is; empty for none.
func failureOf(status ax.Status) string {
	if status.Failure() {
		return strings.ToLower(string(status))
	}
	return ""
}

// run is the attempt that an event is about, as far as there is one.
type run struct {
	Instance string `json:"instance,omitempty"`
	Attempt  int    `json:"attempt,omitempty"`
	Node     string `json:"node,omitempty"`
}

func runOf(ev *ax.AlertEvent) run {
	if ev.Instance == 0 {
		return run{}
	}
	return run{Instance: ev.Instance.String(), Attempt: ev.Attempt, Node: ev.Node}
}
