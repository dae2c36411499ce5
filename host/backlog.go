package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/store"
)

const (
	// slowSpan is how far back the run times of the backlog go.
	slowSpan = 24 * time.Hour
	// overdueAfter is how long a due time may be on its way into the database
	// before it counts as one that waits.
	overdueAfter = time.Second
)

// Backlog shows what waits and why, and what takes long, n tasks of each.
func (b backend) Backlog(ctx context.Context, n int) (api.Backlog, error) {
	now, app := time.Now(), b.h.live.Load().cfg.App
	rows, err := b.h.store.Waiting(ctx, app)
	if err != nil {
		return api.Backlog{}, err
	}
	since := now.Add(-slowSpan)
	times, err := b.h.store.Durations(ctx, app, since)
	if err != nil {
		return api.Backlog{}, err
	}
	l := load{now: now, stopping: b.h.draining.Load()}
	l.workers, l.queue = b.h.executor.Size()
	l.busy, l.queued = b.h.executor.Counts()
	views, err := b.h.views(ctx)
	if err != nil {
		return api.Backlog{}, err
	}
	tasks, held := l.tasks(views, rows)
	return api.Backlog{
		Workers: l.workers, Busy: l.busy, QueueLimit: l.queue, QueueDepth: l.queued,
		Held: held, TasksTotal: len(tasks), Tasks: tasks[:min(n, len(tasks))],
		SlowSince: since, Slow: slowest(times, n),
	}, nil
}

// load is how busy the executor is at a moment.
type load struct {
	now           time.Time
	workers, busy int
	queue, queued int
	stopping      bool
}

// tasks joins what the engine knows of the tasks with the instances of the
// database, and leaves out tasks of which nothing waits or runs. held counts
// those that wait for room.
func (l load) tasks(views []engine.View, rows []store.Waiting) (tasks []api.BacklogTask, held int) {
	byName := map[string][]store.Waiting{}
	for _, row := range rows {
		byName[row.Task] = append(byName[row.Task], row)
	}
	for i := range views {
		v := &views[i]
		if v.Held {
			held++
		}
		if t, found := l.task(v, byName[v.Row.Name]); found {
			tasks = append(tasks, t)
		}
		delete(byName, v.Row.Name)
	}
	for name, rows := range byName { // of tasks that were removed: they end, or are canceled
		t, _ := l.task(&engine.View{Row: ax.TaskRow{Task: ax.Task{Name: name}}}, rows)
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, longestFirst)
	return tasks, held
}

// task returns a task as the backlog shows it; found is false if nothing of it
// waits or runs.
func (l load) task(v *engine.View, rows []store.Waiting) (t api.BacklogTask, found bool) {
	t.Task = v.Row.Name
	older := func(at *time.Time, than time.Time) {
		if at.IsZero() || than.Before(*at) {
			*at = than
		}
	}
	var retry time.Time
	for _, row := range rows {
		n := int(row.Count)
		switch row.Status {
		case ax.StatusRunning:
			t.Running, t.RunningSince = n, row.OldestStart
			continue
		case ax.StatusDispatched:
			t.Queued = n
		case ax.StatusTriggered:
			t.Waiting = n
		case ax.StatusRetrying:
			t.Retrying, retry = n, row.NextRetry
		}
		older(&t.OldestDue, row.OldestDue)
	}
	if next := v.Row.NextAt; v.Row.Enabled && !next.IsZero() && !next.After(l.now) {
		t.Overdue = v.Held || l.now.Sub(next) > overdueAfter
	}
	if t.Overdue {
		older(&t.OldestDue, v.Row.NextAt)
	}
	t.Why = l.why(v, &t, retry)
	return t, len(rows) > 0 || t.Overdue || v.Row.Parked != ""
}

// why says why something of the task waits: first what stops all of it, then
// what concerns single due times. retry is when the next one is tried again.
func (l load) why(v *engine.View, t *api.BacklogTask, retry time.Time) []api.WaitReason {
	row := &v.Row
	limit := max(row.Concurrency, 1)
	full := row.Overlap != ax.OverlapAllow && v.Running >= limit
	waits := t.Overdue || t.Queued+t.Waiting+t.Retrying > 0
	wantsPlace := t.Overdue || t.Waiting > 0 || t.Retrying > 0 && !retry.After(l.now)
	paused := row.Paused && (row.PausedUntil.IsZero() || row.PausedUntil.After(l.now))
	allBusy := l.busy >= l.workers
	var why []api.WaitReason
	for _, c := range []struct {
		holds bool
		cause api.WaitCause
		until time.Time
		text  string
	}{
		{l.stopping && waits, api.WaitStopping, time.Time{}, "the host is stopping"},
		{row.Parked != "", api.WaitParked, v.TryAt, row.Parked},
		{paused && t.Overdue, api.WaitPaused, row.PausedUntil, "its schedule is paused"},
		{row.Parked == "" && !v.TryAt.IsZero(), api.WaitError, v.TryAt, "it could not be started; the log of the host tells why"},
		{t.Overdue && v.Writing, api.WaitDatabase, time.Time{}, "the database has not taken the due time yet"},
		{full && wantsPlace, api.WaitLimit, time.Time{}, fmt.Sprintf("its limit of %d at once is used up", limit)},
		{v.Held, api.WaitRoom, time.Time{}, fmt.Sprintf("all workers are busy (%d) and the queue is full (%d)", l.workers, l.queue)},
		{t.Queued > 0 && allBusy, api.WaitWorkers, time.Time{}, fmt.Sprintf("all workers are busy (%d)", l.workers)},
		{t.Queued > 0 && !allBusy, api.WaitQueue, time.Time{}, "it is in the queue, and no worker has taken it yet"},
		{v.Waiting > 0 && !full && row.Overlap == ax.OverlapDefer, api.WaitNextDue, row.NextAt, "it was put off to the next due time"},
		{v.Backfill > 0 && !full, api.WaitBackfill, time.Time{}, "past due times take their turn in a backfill"},
		{retry.After(l.now), api.WaitRetry, retry, "the pause before the next attempt"},
	} {
		if c.holds {
			why = append(why, api.WaitReason{Cause: c.cause, Text: c.text, Until: c.until})
		}
	}
	return why
}

// longestFirst orders tasks by how long something of them waits, then by how
// long they run.
func longestFirst(a, b api.BacklogTask) int {
	return cmp.Or(
		earlierFirst(a.OldestDue, b.OldestDue),
		cmp.Compare(len(b.Why), len(a.Why)),
		earlierFirst(a.RunningSince, b.RunningSince),
		strings.Compare(a.Task, b.Task),
	)
}

// earlierFirst compares times; one that is not set comes last.
func earlierFirst(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return b.Compare(a)
	}
	return a.Compare(b)
}

// slowest returns the n tasks whose runs take longest on average.
func slowest(times []store.RunTimes, n int) []api.SlowTask {
	slices.SortFunc(times, func(a, b store.RunTimes) int {
		return cmp.Or(cmp.Compare(b.Average, a.Average), cmp.Compare(b.Longest, a.Longest), strings.Compare(a.Task, b.Task))
	})
	slow := make([]api.SlowTask, 0, min(n, len(times)))
	for _, r := range times[:min(n, len(times))] {
		slow = append(slow, api.SlowTask{
			Task: r.Task, Runs: r.Runs, Failures: r.Failures,
			Average: r.Average.Round(time.Millisecond).String(), Longest: r.Longest.Round(time.Millisecond).String(),
		})
	}
	return slow
}
