package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var backlogTests = []test{
	{"durations", backlogDurations},
	{"waiting", backlogWaiting},
}

// ended writes an instance of a task that was recorded at noon plus offset and
// ran for the given time.
func (b *bed) ended(task string, offset, took time.Duration, status ax.Status) {
	b.Helper()
	i := b.newInstance(task, offset)
	i.ID = ax.InstanceID(ax.NewIDs(int64(i.TaskID)).Next(i.ScheduledAt)) // old rows may come after young ones here
	i.StartedAt = i.ScheduledAt
	b.insert(i)
	m := move(i, status)
	m.New.EndedAt = i.StartedAt.Add(took)
	b.applied(ax.Change{Move: m})
}

func backlogDurations(b *bed) {
	b.apply(Task(app, "slow", noon), Task(app, "fast", noon), Task(app, "idle", noon), Task(app, "old", noon), Task(app, "gone", noon))
	b.ended("slow", -time.Second, time.Hour, ax.StatusSuccess) // too old
	b.ended("slow", 0, 3*time.Minute, ax.StatusSuccess)
	b.ended("slow", time.Second, 5*time.Minute+time.Microsecond, ax.StatusTimeout)
	b.ended("slow", 2*time.Second, 7*time.Minute, ax.StatusFailed)
	b.ended("slow", 3*time.Second, 9*time.Hour, ax.StatusLost)     // its length says nothing
	b.ended("slow", 4*time.Second, 9*time.Hour, ax.StatusCanceled) // neither does this one's
	b.ended("fast", time.Minute, time.Millisecond, ax.StatusSuccess)
	b.ended("old", -time.Hour, time.Hour, ax.StatusSuccess)
	b.ended("gone", time.Minute, time.Hour, ax.StatusSuccess)
	b.insert(b.newInstance("idle", time.Hour)) // still runs
	missed := b.newInstance("fast", time.Hour)
	missed.Status, missed.StartedAt, missed.EndedAt = ax.StatusMissed, time.Time{}, noon
	b.insert(missed)
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{ax.NewTaskID(app, "gone")}}))

	got, err := b.s.Durations(b.Context(), app, noon)
	b.must(err)
	equal(b, "durations", got, []store.RunTimes{
		{Task: "fast", Runs: 1, Average: time.Millisecond, Longest: time.Millisecond},
		{Task: "slow", Runs: 4, Failures: 3, Average: 5 * time.Minute, Longest: 7 * time.Minute},
	})
	got, err = b.s.Durations(b.Context(), "none", noon)
	b.must(err)
	equal(b, "durations of an app without tasks", len(got), 0)

	b.apply(Task(app, "lost", noon))
	b.ended("lost", time.Minute, time.Hour, ax.StatusLost)
	got, err = b.s.Durations(b.Context(), app, noon.Add(30*time.Second))
	b.must(err)
	equal(b, "only lost ones", got[1], store.RunTimes{Task: "lost", Runs: 1, Failures: 1})
}

func backlogWaiting(b *bed) {
	b.insertNumbered(7, func(n int, i *ax.Instance) {
		i.StartedAt = time.Time{}
		switch n {
		case 0, 1:
			i.Status = ax.StatusDispatched
		case 2:
			i.Status = ax.StatusTriggered
		case 3:
			i.StartedAt = noon.Add(time.Hour)
		case 4:
			i.StartedAt = noon.Add(2 * time.Hour)
		case 5:
			i.Status, i.EndedAt = ax.StatusSkipped, noon
		case 6:
			i.App = "other"
		}
	})
	for _, at := range []time.Duration{2 * time.Minute, time.Minute} {
		retry := b.newInstance("u", at)
		b.insert(retry)
		m := move(retry, ax.StatusRetrying)
		m.New.RetryAt = noon.Add(10 * at)
		b.applied(ax.Change{Move: m})
	}
	got, err := b.s.Waiting(b.Context(), app)
	b.must(err)
	after := func(minutes time.Duration) time.Time { return noon.Add(minutes * time.Minute) }
	equal(b, "waiting", got, []store.Waiting{
		{Task: "t", Status: ax.StatusDispatched, Count: 2, OldestDue: noon},
		{Task: "t", Status: ax.StatusRunning, Count: 2, OldestDue: after(3), OldestStart: after(60)},
		{Task: "t", Status: ax.StatusTriggered, Count: 1, OldestDue: after(2)},
		{Task: "u", Status: ax.StatusRetrying, Count: 2, OldestDue: after(1), OldestStart: noon, NextRetry: after(10)},
	})
}
