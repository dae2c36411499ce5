package engine

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// task is a task as the loop knows it.
type task struct {
	// def is replaced, never changed: attempts under way keep theirs.
	def     *ax.Task
	st      ax.TaskState
	zone    *time.Location
	trigger Trigger
	remote  bool
	ready   func() error
	params  func(*ax.Instance) (params []byte, bound bool)
	// gen grows whenever st is replaced from outside, so that an answer to an
	// older change is recognised.
	gen int

	// armed is when the wheel will bring the task up, zero if it will not.
	armed time.Time
	// pending: a change of the plan is on its way to the database; nothing is
	// decided about due times until it has arrived.
	pending bool
	// fetching: the trigger plugin is being asked for more times.
	fetching bool
	// lane groups tasks that compete for room; held: it waits for room in e.held.
	lane string
	held bool
	// heldSince is when it first found no room for what it wants to start, zero
	// once there was.
	heldSince time.Time
	// gone: it was removed from the configuration.
	gone bool
	// away: another host schedules it. owning grows when that changes. wanted: it
	// is this host's turn, once what the other one left has been read.
	away, wanted bool
	owning       int
	// stale: the state in the database is not what was thought.
	stale bool
	// fetchFrom: due times up to this instant fell into a pause and are not
	// fetched.
	fetchFrom time.Time
	// pausedTo is the end of a pause whose due times are still in the plan.
	pausedTo time.Time
	// pausedAt is when a pause began, zero if what was due by then, which is no
	// part of it, has its row for certain. quiet is told once it has.
	pausedAt time.Time
	quiet    []chan struct{}
	// catchUp: due times up to this instant run however late (MisfireAll).
	catchUp time.Time
	// tryAt is when to try again after a failure to write or to start.
	tryAt   time.Time
	backoff time.Duration
	// fetchAt is when to ask a trigger plugin again that has failed; due times
	// that are known already do not wait for it.
	fetchAt      time.Time
	fetchBackoff time.Duration

	lastManual time.Time
	// lastEnd is when the newest instance ended, for a fixed delay; zero if that
	// was in an earlier life of the host.
	lastEnd time.Time

	// active counts against the concurrency limit: DISPATCHED or RUNNING, oldest
	// first. A retry that waits does not: the newest due time is worth more than
	// an old failure.
	active  []activeRun
	waiting []ax.Instance // TRIGGERED, oldest first
	// shardsAt is when shards ask their nodes for room again.
	shardsAt time.Time
	// round bounds how many of waiting may start under OverlapDefer.
	round    int
	retries  []ax.Instance // RETRYING
	deferred []ax.Instance // RUNNING, their end comes by callback
	// backfill waits for backfillLimit, oldest due time first.
	backfill      []ax.Instance
	backfillLimit int
}

type activeRun struct {
	id   ax.InstanceID
	kind ax.Kind
	node string
	// owner is the incarnation that has the attempt, since when it was last
	// known to have it.
	owner string
	since time.Time
}

// full reports whether the concurrency limit is used up. That of a task that is
// broadcast is one for each node.
func (t *task) full() bool {
	return !t.broadcast() && t.def.Overlap != ax.OverlapAllow && len(t.active) >= max(t.def.Concurrency, 1)
}

// goesOn reports whether there will be another due time, be it after a pause.
func (t *task) goesOn() bool {
	return t.def.Enabled && (!t.st.NextAt.IsZero() || !t.st.PlanDone)
}

// schedulable reports whether due times are looked at.
func (t *task) schedulable() bool {
	return t.def.Enabled && !t.st.Paused && !t.gone && !t.away && !t.stale && t.st.Parked == "" && !t.pending
}

func (t *task) entered(inst *ax.Instance, now time.Time) {
	t.active = append(t.active, activeRun{inst.ID, inst.Kind, inst.Node, inst.Owner, now})
}

func (t *task) left(id ax.InstanceID) {
	t.active = slices.DeleteFunc(t.active, func(a activeRun) bool { return a.id == id })
}

func without(list []ax.Instance, id ax.InstanceID) []ax.Instance {
	return slices.DeleteFunc(list, func(i ax.Instance) bool { return i.ID == id })
}

// wake returns the earliest instant after now at which the task needs a visit,
// zero if only an event can bring one.
func (t *task) wake(now time.Time) time.Time {
	var at time.Time
	consider := func(c time.Time) {
		if c.After(now) && (at.IsZero() || c.Before(at)) {
			at = c
		}
	}
	consider(t.tryAt)
	consider(t.fetchAt)
	consider(t.shardsAt)
	if t.schedulable() && !t.st.NextAt.IsZero() {
		consider(t.st.NextAt.Add(-lead))
		consider(t.st.NextAt)
	}
	if t.st.Paused {
		consider(t.st.PausedUntil)
	}
	for i := range t.retries {
		consider(t.retries[i].RetryAt)
	}
	for i := range t.deferred {
		consider(t.deferred[i].DeadlineAt)
	}
	return at
}

// ceil rounds up to whole microseconds, which is what the wheel counts in.
func ceil(t time.Time) time.Time {
	whole := t.Round(0).Truncate(time.Microsecond)
	if whole.Before(t) {
		whole = whole.Add(time.Microsecond)
	}
	return whole
}

// arm makes the wheel bring the task up at its next interesting instant.
func (e *Engine) arm(t *task, now time.Time) {
	at := t.wake(now)
	if at.IsZero() {
		return
	}
	if at = ceil(at); at.Equal(t.armed) {
		return
	}
	if !t.armed.IsZero() && t.armed.Before(at) && t.armed.After(now) {
		return // an earlier visit comes anyhow and arms again
	}
	t.armed = at
	e.wheel.Add(at, t)
}

// retryLater plans another visit after a failure, backing off to a minute.
func (t *task) retryLater(now time.Time) {
	t.tryAt = now.Add(grow(&t.backoff))
}

func grow(backoff *time.Duration) time.Duration {
	*backoff = min(max(2**backoff, time.Second), time.Minute)
	return *backoff
}
