package why

import (
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/trigger"
)

// unrecorded answers for a due time without an instance; due is nil if only the
// former schedule has it.
func (q *inquiry) unrecorded(due *trigger.Step) {
	q.tellSchedule(due)
	if q.At.After(q.Now) {
		q.toCome()
		return
	}
	q.tellPauses(q.At, q.Now)
	q.tellParkings(q.At, q.Now)
	def := &q.Task.Task
	if q.Former != nil {
		def = &q.Former.Task
	}
	paused := during(q.trail.paused, q.At)
	absent, since := q.absentThen()
	switch {
	case absent != "":
		q.tell(since, StepTask, absent)
		q.conclude(Absent, "The task was not there then: "+absent+".")
	case q.Former != nil && q.Former.Computed && !q.Former.Due:
		q.conclude(Changed, fmt.Sprintf("It was no due time then: the schedule was %s until %s changed it on %s.",
			scheduleText(q.Former.Task.Schedule), q.Former.ChangedBy, q.clock(q.Former.ChangedAt)))
	case !def.Enabled:
		q.conclude(Disabled, "The task was switched off in the configuration.")
	case paused != nil:
		q.conclude(Paused, "The schedule of the task was "+q.pauseText(paused)+q.resumed(paused)+".")
	default:
		q.overdue()
	}
}

func (q *inquiry) resumed(paused *stretch) string {
	if paused.to.IsZero() {
		return ""
	}
	return ", and resumed by " + paused.endedBy + " on " + q.clock(paused.to)
}

// overdue answers for a due time that the engine should have recorded, or is
// about to.
func (q *inquiry) overdue() {
	if next := q.Task.NextAt; !next.IsZero() && !next.After(q.At) {
		q.pending(next)
		return
	}
	switch {
	case q.Former != nil && q.Former.rescheduled(&q.Task.Task):
		q.conclude(Changed, fmt.Sprintf("%s changed the task on %s, before the due time was recorded; the due times of the schedule before that were given up.",
			q.Former.ChangedBy, q.clock(q.Former.ChangedAt)))
	case !q.Kept.IsZero() && q.At.Before(q.Kept):
		q.conclude(Forgotten, fmt.Sprintf("Nothing is known of it any more: what is older than %s is deleted.", q.clock(q.Kept)))
	case !q.Task.AnchorAt.IsZero() && q.At.Before(q.Task.AnchorAt):
		q.conclude(Changed, fmt.Sprintf("The schedule, as it is now, is in force since %s only.", q.clock(q.Task.AnchorAt)))
	default:
		q.conclude(Unknown, "It was due, and neither an instance nor the audit trail tells what became of it.")
	}
}

// pending answers for a due time that the engine has yet to see to; next is the
// first such due time of the task.
func (q *inquiry) pending(next time.Time) {
	switch {
	case q.Task.Paused:
		q.conclude(Paused, "It is due, and the schedule of the task is paused.")
	case q.Task.Parked != "":
		q.conclude(Parked, joined("It is due, and the task is parked", line(q.Task.Parked))+".")
	case q.Held:
		q.tell(q.HeldSince, StepHeld, "all workers are busy and the queue is full")
		q.conclude(Held, fmt.Sprintf("It is due and waits for room since %s: all workers are busy and the queue is full.", q.clock(q.HeldSince)))
	case next.Before(q.At):
		q.conclude(Held, fmt.Sprintf("It is due and waits for the due times before it, from %s on.", q.clock(next)))
	default:
		q.conclude(Held, "It is due, and on its way into the database.")
	}
}

// toCome answers for a due time that lies ahead.
func (q *inquiry) toCome() {
	task := &q.Task
	pauseEnds := task.PausedUntil
	switch {
	case !task.Enabled:
		q.conclude(Disabled, "It will not run: the task is switched off in the configuration.")
	case task.Paused && (pauseEnds.IsZero() || pauseEnds.After(q.At)):
		text := "It will not run: the schedule of the task is paused"
		if n := len(q.trail.paused); n > 0 {
			text = "It will not run: the schedule of the task was " + q.pauseText(&q.trail.paused[n-1])
		}
		q.tellPauses(q.Now, q.Now)
		q.conclude(Paused, text+".")
	case task.Parked != "":
		q.tellParkings(q.Now, q.Now)
		q.conclude(Parked, joined("It cannot run unless this changes before: the task is parked", line(task.Parked))+".")
	default:
		q.conclude(ToCome, fmt.Sprintf("It is due in %s.", span(q.At.Sub(q.Now))))
	}
}

// notDue answers for an instant that is no due time.
func (q *inquiry) notDue() {
	if q.Former != nil {
		q.tell(q.Former.ChangedAt, StepTask, q.Former.text(&q.Task.Task))
	}
	if q.Trouble != "" {
		q.conclude(Unknown, joined("The schedule cannot be asked", line(q.Trouble))+".")
		return
	}
	for i := range q.Steps {
		if s := &q.Steps[i]; s.At.Equal(q.At) {
			q.leftOut(s)
			return
		}
	}
	text := "The task was not due at this time: " + scheduleText(q.Task.Schedule) + " does not name it"
	if q.At.After(q.Now) {
		text = "The task is not due at this time: " + scheduleText(q.Task.Schedule) + " does not name it"
	}
	if s := q.Task.Schedule; s.Delay > 0 {
		text = fmt.Sprintf("The task was not due at this time: it is due %s after the end of each run", s.Delay)
	}
	q.conclude(NotDue, text+q.nearest()+".")
}

// leftOut answers for an instant that the schedule names and then leaves out.
func (q *inquiry) leftOut(s *trigger.Step) {
	code := NotDue
	switch s.Verdict {
	case trigger.VerdictMoved, trigger.VerdictMerged, trigger.VerdictDue:
		code = Moved
	case trigger.VerdictClosed:
		code = Closed
	case trigger.VerdictBlackout:
		code = Blackout
	case trigger.VerdictOutside:
		code = Outside
	}
	text := "The task was not due"
	if q.At.After(q.Now) {
		text = "The task will not be due"
	}
	if code == Moved && !s.Due.IsZero() {
		text += " at this time but at " + q.clock(s.Due)
	}
	q.tell(q.At, StepSchedule, joined(scheduleText(q.Task.Schedule)+" names this time, and leaves it out", s.Reason()))
	q.conclude(code, joined(text, s.Reason())+".")
}

// nearest names the due times around the instant.
func (q *inquiry) nearest() string {
	switch {
	case !q.Before.IsZero() && !q.After.IsZero():
		return fmt.Sprintf("; it was due before that at %s, and is due after it at %s", q.clock(q.Before), q.clock(q.After))
	case !q.Before.IsZero():
		return fmt.Sprintf("; it was due before that at %s, and never after it", q.clock(q.Before))
	case !q.After.IsZero():
		return fmt.Sprintf("; it is due for the first time after it at %s", q.clock(q.After))
	}
	return ""
}
