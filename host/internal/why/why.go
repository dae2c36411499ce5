// Package why tells why a due time of a task did or did not run. It is a pure
// function of Facts that the caller gathers: what the schedule says, the rows and
// events of the database, the audit trail, and the state of the engine. Its
// answers are the JSON of the API and of the command line.
package why

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
)

// Facts are what is known about a task and an instant.
type Facts struct {
	Now time.Time
	// At is the instant that is asked about.
	At   time.Time
	Zone *time.Location // in which times are shown
	// Task is its row as it is now, with the state of the engine.
	Task ax.TaskRow
	// Steps are what the schedule in force says: the candidates that are at the
	// instant or make the task due at it.
	Steps []trigger.Step
	// Before and After are the nearest due times; zero if there is none.
	Before, After time.Time
	// Trouble tells why the schedule could not be asked; empty if it could.
	Trouble string
	// Former is the definition in force at the instant, if it was another.
	Former *Former
	// Rows are the instances that are due at the instant, Events what happened to
	// them, without their output.
	Rows   []ax.Instance
	Events map[ax.InstanceID][]ax.Event
	// Earlier is the newest scheduled instance that is due before it, nil if
	// there is none.
	Earlier *ax.Instance
	// Others are instances of the task that were recorded before those of Rows.
	Others []ax.Instance
	// Audit is the trail of the task, newest first.
	Audit  []ax.AuditRow
	Nodes  []ax.Node
	Alerts []ax.AlertRow
	// Kept is since when finished instances are kept; zero = for ever.
	Kept time.Time
	// Held tells that the task waits for room now, since HeldSince.
	Held      bool
	HeldSince time.Time
}

// Code says in a word what became of a due time, or why there was none.
type Code string

// What can have become of an instant.
const (
	// An instance tells.
	Succeeded Code = "succeeded"
	Failed    Code = "failed"
	Running   Code = "running"
	Waiting   Code = "waiting" // for a place or a worker
	Retrying  Code = "retrying"
	Missed    Code = "missed"
	Skipped   Code = "skipped"
	Canceled  Code = "canceled"
	// It was a due time, and there is no instance.
	ToCome    Code = "to_come"
	Held      Code = "held" // due, and there is no room
	Parked    Code = "parked"
	Paused    Code = "paused"
	Disabled  Code = "disabled"
	Absent    Code = "absent"    // the task was not there then
	Changed   Code = "changed"   // the schedule was another one then
	Forgotten Code = "forgotten" // older than what is kept
	Unknown   Code = "unknown"
	// It was no due time.
	NotDue Code = "not_due"
	Moved  Code = "moved" // by a calendar, a blackout or jitter
	Closed Code = "closed"
	// Blackout and Outside go by what the schedule says of the instant.
	Blackout Code = "blackout"
	Outside  Code = "outside"
)

// Answer says what became of an instant, and why.
type Answer struct {
	At      time.Time `json:"at" doc:"The due time, or the time that was asked about"`
	Due     bool      `json:"due" doc:"Whether the schedule, as it is now, makes the task due at it"`
	Code    Code      `json:"code" enum:"succeeded,failed,running,waiting,retrying,missed,skipped,canceled,to_come,held,parked,paused,disabled,absent,changed,forgotten,unknown,not_due,moved,closed,blackout,outside"`
	Summary string    `json:"summary" doc:"The answer in a sentence"`
	// Instance is the one that the summary is about.
	Instance string    `json:"instance,omitempty"`
	Before   time.Time `json:"before,omitzero" required:"false" doc:"The nearest due time before it"`
	After    time.Time `json:"after,omitzero" required:"false" doc:"The nearest due time after it"`
	Chain    []Link    `json:"chain" nullable:"false" doc:"What led to it, in the order of time"`
}

// Link is one thing that bears on the answer.
type Link struct {
	At       time.Time `json:"at"`
	Step     Step      `json:"step" enum:"task,schedule,pause,park,host,noticed,held,waits,dispatched,claimed,deferred,outcome,retry,missed,skipped,canceled,alert"`
	Text     string    `json:"text"`
	Instance string    `json:"instance,omitempty"`
}

// Step names what a Link tells of.
type Step string

// Steps, in the order in which they come at the same time.
const (
	StepTask       Step = "task" // it was made, changed or removed
	StepSchedule   Step = "schedule"
	StepPause      Step = "pause"
	StepPark       Step = "park"
	StepHost       Step = "host"
	StepNoticed    Step = "noticed"
	StepHeld       Step = "held" // by other runs
	StepWaits      Step = "waits"
	StepDispatched Step = "dispatched"
	StepClaimed    Step = "claimed"
	StepDeferred   Step = "deferred"
	StepOutcome    Step = "outcome"
	StepRetry      Step = "retry"
	StepMissed     Step = "missed"
	StepSkipped    Step = "skipped"
	StepCanceled   Step = "canceled"
	StepAlert      Step = "alert"
)

// inquiry is one question on its way to its answer.
type inquiry struct {
	Facts
	trail  trail
	answer Answer
}

// Explain answers the question that the facts are about.
func Explain(f Facts) Answer {
	q := &inquiry{Facts: f, trail: readTrail(f.Audit)}
	q.answer = Answer{At: f.At.In(f.Zone), Before: f.Before, After: f.After, Chain: []Link{}}
	due := q.dueStep()
	q.answer.Due = due != nil
	switch {
	case q.recorded(due):
	case due != nil || q.Former != nil && q.Former.Due:
		q.unrecorded(due)
	default:
		q.notDue()
	}
	slices.SortStableFunc(q.answer.Chain, func(a, b Link) int { return a.At.Compare(b.At) })
	return q.answer
}

// dueStep is the candidate that makes the task due at the instant, or nil. Of a
// fixed delay only the next due time is known, and of a schedule that cannot be
// asked those that were fetched ahead.
func (q *inquiry) dueStep() *trigger.Step {
	for i := range q.Steps {
		if s := &q.Steps[i]; s.Due.Equal(q.At) {
			return s
		}
	}
	if q.Trouble == "" && q.Task.Schedule.Delay == 0 {
		return nil
	}
	for _, at := range append([]time.Time{q.Task.NextAt}, q.Task.Planned...) {
		if at.Equal(q.At) {
			return &trigger.Step{At: at, Due: at, Verdict: trigger.VerdictDue}
		}
	}
	return nil
}

func (q *inquiry) conclude(code Code, summary string) {
	q.answer.Code, q.answer.Summary = code, summary
}

func (q *inquiry) tell(at time.Time, step Step, text string) {
	q.answer.Chain = append(q.answer.Chain, Link{At: at.In(q.Zone), Step: step, Text: text})
}

// tellOf is tell of an instance.
func (q *inquiry) tellOf(inst *ax.Instance, at time.Time, step Step, text string) {
	q.tell(at, step, text)
	q.answer.Chain[len(q.answer.Chain)-1].Instance = inst.ID.String()
}

// tellSchedule says what the schedule makes of the instant.
func (q *inquiry) tellSchedule(due *trigger.Step) {
	words := scheduleText(q.Task.Schedule)
	switch {
	case due == nil && q.Task.Schedule.Delay > 0:
		q.tell(q.At, StepSchedule, words+": due so long after the end of the run before")
	case due == nil && q.Trouble != "":
		q.tell(q.At, StepSchedule, words+" cannot be asked: "+line(q.Trouble))
	case due == nil:
		q.tell(q.At, StepSchedule, words+": as it is now, it does not make the task due at this time")
	case due.At.Equal(due.Due):
		q.tell(q.At, StepSchedule, joined(words+" makes the task due at this time", due.Reason()))
	default:
		q.tell(q.At, StepSchedule, joined(words+" makes the task due at this time instead of "+q.clock(due.At), due.Reason()))
	}
	if former := q.Former; former != nil {
		q.tell(former.ChangedAt, StepTask, former.text(&q.Task.Task))
	}
}
