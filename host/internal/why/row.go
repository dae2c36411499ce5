package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
)

// recorded answers by the instances of the due time: the scheduled one, or the
// MISSED one that stands for it among others, and the one of a backfill; of a task
// that is broadcast its shards. It reports false if there is none.
func (q *inquiry) recorded(due *trigger.Step) bool {
	rows, again := q.rowsOf(ax.KindScheduled), q.rowsOf(ax.KindBackfill)
	if len(rows) == 0 {
		if missed := q.covering(due); missed != nil {
			rows = append(rows, missed)
		}
	}
	last := rows
	if len(again) > 0 {
		last = again
	}
	if len(last) == 0 {
		return false
	}
	q.tellSchedule(due)
	for _, row := range slices.Concat(rows, again) {
		q.tellRow(row)
	}
	telling := slices.MinFunc(last, func(a, b *ax.Instance) int { return rank(a.Status) - rank(b.Status) })
	q.answer.Instance = telling.ID.String()
	q.conclude(codeOf(telling.Status), q.summary(telling))
	if len(last) > 1 {
		q.answer.Summary = sum(last) + " " + joined(shardName(telling), q.answer.Summary)
	}
	if len(rows) > 0 && len(again) > 0 {
		q.answer.Summary = joined("It was made up for by a backfill", q.answer.Summary)
	}
	return true
}

// rowsOf are the instances of a kind, of shards in their order.
func (q *inquiry) rowsOf(kind ax.Kind) []*ax.Instance {
	var rows []*ax.Instance
	for i := range q.Rows {
		if q.Rows[i].Kind == kind {
			rows = append(rows, &q.Rows[i])
		}
	}
	slices.SortFunc(rows, func(a, b *ax.Instance) int { return a.Shard - b.Shard })
	return rows
}

// rank orders states by how much they matter to who asks why: what failed, what
// goes on, what did not run, what succeeded.
func rank(s ax.Status) int {
	order := []Code{Failed, Retrying, Running, Waiting, Canceled, Skipped, Missed, Succeeded}
	return slices.Index(order, codeOf(s))
}

func shardName(r *ax.Instance) string { return fmt.Sprintf("Shard %d of %d", r.Shard+1, r.Shards) }

// sum counts what became of the shards of a due time.
func sum(shards []*ax.Instance) string {
	counts := map[ax.Status]int{}
	for _, r := range shards {
		counts[r.Status]++
	}
	states := slices.SortedFunc(maps.Keys(counts), func(a, b ax.Status) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
	parts := make([]string, len(states))
	for i, s := range states {
		parts[i] = fmt.Sprintf("%d %s", counts[s], s)
	}
	return fmt.Sprintf("It has a run on each of %d hosts: %s.", len(shards), strings.Join(parts, ", "))
}

// covering is the MISSED instance that stands for the due time and others before
// it, or nil.
func (q *inquiry) covering(due *trigger.Step) *ax.Instance {
	wasDue := due != nil || q.Trouble != "" || q.Former != nil && q.Former.Due
	if e := q.Earlier; wasDue && e != nil && e.Status == ax.StatusMissed && !e.MissedUntil.Before(q.At.Truncate(time.Microsecond)) {
		return e
	}
	return nil
}

func codeOf(s ax.Status) Code {
	switch s {
	case ax.StatusSuccess:
		return Succeeded
	case ax.StatusFailed, ax.StatusTimeout, ax.StatusLost:
		return Failed
	case ax.StatusRunning:
		return Running
	case ax.StatusRetrying:
		return Retrying
	case ax.StatusMissed:
		return Missed
	case ax.StatusSkipped:
		return Skipped
	case ax.StatusCanceled:
		return Canceled
	default:
		return Waiting
	}
}

// summary says in a sentence what became of an instance.
func (q *inquiry) summary(r *ax.Instance) string {
	took := span(r.EndedAt.Sub(r.StartedAt))
	switch r.Status {
	case ax.StatusSuccess:
		return fmt.Sprintf("It ran on %s from %s for %s and succeeded%s.", r.Node, q.clock(r.StartedAt), took, attempts(r, " in attempt %d"))
	case ax.StatusFailed, ax.StatusTimeout, ax.StatusLost:
		return joined(fmt.Sprintf("It ran on %s and ended %s%s", r.Node, r.Status, attempts(r, " after %d attempts")), line(r.Error)) + "."
	case ax.StatusRunning:
		if r.Deferred {
			return fmt.Sprintf("It waits for the callback of its job, until %s.", q.clock(r.DeadlineAt))
		}
		return fmt.Sprintf("It runs on %s since %s%s.", r.Node, q.clock(r.StartedAt), attempts(r, ", in attempt %d"))
	case ax.StatusRetrying:
		return joined(fmt.Sprintf("Attempt %d failed, the next one follows at %s", r.Attempt, q.clock(r.RetryAt)), line(r.Error)) + "."
	case ax.StatusDispatched:
		return fmt.Sprintf("It is in the queue of %s: all workers are busy.", r.Node)
	case ax.StatusTriggered:
		return joined("It is due and waits"+q.blockers(r), line(r.Reason)) + "."
	case ax.StatusMissed:
		return q.missedSummary(r)
	case ax.StatusSkipped:
		return joined("It did not run"+q.blockers(r), line(strings.TrimPrefix(r.Reason, "skipped: "))) + "."
	default:
		text := "It did not run to its end"
		if r.StartedAt.IsZero() {
			text = "It did not run"
		}
		return joined(text, line(r.Reason)) + "."
	}
}

func attempts(r *ax.Instance, format string) string {
	if r.Attempt < 2 {
		return ""
	}
	return fmt.Sprintf(format, r.Attempt)
}

// missedSummary says why due times were missed: what kept the host from
// noticing them, and the policy.
func (q *inquiry) missedSummary(r *ax.Instance) string {
	text := "It did not run"
	if r.Missed > 1 {
		text += fmt.Sprintf(": it is one of %s from %s to %s that were missed together", times(r.Missed), q.clock(r.ScheduledAt), q.clock(r.MissedUntil))
	}
	cause := ""
	switch host, parked := q.hostStart(r), q.parkedThen(); {
	case parked != nil:
		cause = joined("The task was parked then", line(parked.reason))
	case host != nil:
		cause = fmt.Sprintf("No host ran then: %s was started at %s", host.Name, q.clock(host.StartedAt))
	default:
		cause = fmt.Sprintf("It was noticed only at %s, %s late", q.clock(r.CreatedAt), span(r.CreatedAt.Sub(q.At)))
	}
	_, reason, _ := strings.Cut(r.Reason, ": ")
	return fmt.Sprintf("%s. %s; the misfire policy is %s (%s).", text, cause, q.Task.Misfire.Policy, reason)
}

func (q *inquiry) parkedThen() *stretch { return during(q.trail.parked, q.At) }

// hostStart is the host that found the due time missed when it was started, or
// nil if one ran at that time already.
func (q *inquiry) hostStart(r *ax.Instance) *ax.Node {
	var found *ax.Node
	for i := range q.Nodes {
		n := &q.Nodes[i]
		switch {
		case n.StartedAt.After(r.CreatedAt):
		case n.StartedAt.After(q.At):
			if found == nil || n.StartedAt.After(found.StartedAt) {
				found = n
			}
		case n.BeatAt.After(q.At):
			return nil
		}
	}
	return found
}

// blockers names the runs that held an instance up when it was recorded.
func (q *inquiry) blockers(r *ax.Instance) string {
	var names []string
	for _, o := range q.blocking(r) {
		names = append(names, o.ID.String())
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return ", held up by instance " + names[0]
	default:
		return ", held up by the instances " + strings.Join(names, ", ")
	}
}

// blocking lists the runs of the task that went on when an instance was
// recorded, oldest first.
func (q *inquiry) blocking(r *ax.Instance) []*ax.Instance {
	if r.Status != ax.StatusSkipped && r.Status != ax.StatusTriggered || r.Kind == ax.KindBackfill {
		return nil
	}
	var found []*ax.Instance
	for i := range q.Others {
		o := &q.Others[i]
		began := o.ID < r.ID && !o.StartedAt.IsZero() && (r.Shards == 0 || o.Node == r.Node)
		if began && (o.Status == ax.StatusRunning || o.EndedAt.After(r.CreatedAt)) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b *ax.Instance) int { return a.StartedAt.Compare(b.StartedAt) })
	return found
}

// tellRow tells what happened to an instance.
func (q *inquiry) tellRow(r *ax.Instance) {
	if r.Kind == ax.KindScheduled {
		q.tellDelay(r)
	}
	for _, o := range q.blocking(r) {
		text := fmt.Sprintf("instance %s, due %s, runs since %s", o.ID, q.clock(o.ScheduledAt), q.clock(o.StartedAt))
		if !o.EndedAt.IsZero() {
			text += ", until " + q.clock(o.EndedAt)
		}
		q.tellOf(o, r.CreatedAt, StepHeld, text)
	}
	for _, e := range q.Events[r.ID] {
		if step := stepOf(e, r); step != "" {
			text := line(strings.TrimPrefix(e.Text, string(step)+": "))
			if r.Shards > 0 && !strings.Contains(text, "shard ") {
				text = fmt.Sprintf("shard %d, %s: %s", r.Shard+1, r.Node, text)
			}
			q.tellOf(r, e.At, step, text)
		}
	}
	q.tellAlerts(r)
}

// onTime is how late a due time may be recorded before it is asked why.
const onTime = time.Second

// tellDelay tells what kept a due time from being recorded at once.
func (q *inquiry) tellDelay(r *ax.Instance) {
	if r.CreatedAt.Sub(q.At) < onTime {
		return
	}
	q.tellPauses(q.At, r.CreatedAt)
	q.tellParkings(q.At, r.CreatedAt)
	if host := q.hostStart(r); host != nil {
		q.tell(host.StartedAt, StepHost, fmt.Sprintf("%s was started (version %s)", host.Name, host.Version))
	}
}

// stepOf is the step that an event is, empty for what says nothing of the way of
// an instance.
func stepOf(e ax.Event, r *ax.Instance) Step {
	switch e.Stage {
	case ax.StageTriggerReady:
		if r.Status == ax.StatusTriggered || r.Kind == ax.KindBackfill {
			return StepWaits
		}
		return StepNoticed
	case ax.StageDispatched, ax.StageReceived, ax.StageRedispatched, ax.StageDispatchRetry:
		return StepDispatched
	case ax.StageClaimed:
		return StepClaimed
	case ax.StageDeferred:
		return StepDeferred
	case ax.StageOutcome:
		switch r.Status {
		case ax.StatusMissed:
			return StepMissed
		case ax.StatusSkipped:
			return StepSkipped
		}
		return StepOutcome
	case ax.StageLost, ax.StageLateResult:
		return StepOutcome
	case ax.StageRetryScheduled:
		return StepRetry
	case ax.StageCancel:
		return StepCanceled
	default:
		return ""
	}
}

// tellAlerts tells of the messages that may be about the end of an instance.
func (q *inquiry) tellAlerts(r *ax.Instance) {
	if r.EndedAt.IsZero() || r.Status == ax.StatusSuccess {
		return
	}
	for _, a := range q.Alerts {
		if a.FirstAt.After(r.EndedAt) || a.LastAt.Before(r.EndedAt) {
			continue
		}
		what := fmt.Sprintf("message of %d events (%s) to %s", a.Count, a.Event, a.Notifier)
		if a.Count == 1 {
			what = fmt.Sprintf("message (%s) to %s", a.Event, a.Notifier)
		}
		switch a.State {
		case ax.AlertMerged:
			q.tell(a.WindowEnd, StepAlert, what+": sent, together with those of other tasks")
		case ax.AlertSent:
			q.tell(a.WindowEnd, StepAlert, what+": sent")
		case ax.AlertGivenUp, ax.AlertDropped:
			q.tell(a.LastAt, StepAlert, joined(what+" given up", line(a.LastError)))
		case ax.AlertFailed:
			q.tell(a.LastAt, StepAlert, joined(fmt.Sprintf("%s failed, tried again at %s", what, q.clock(a.NextTryAt)), line(a.LastError)))
		default:
			q.tell(a.LastAt, StepAlert, what+" waits until "+q.clock(a.NextTryAt))
		}
	}
}
