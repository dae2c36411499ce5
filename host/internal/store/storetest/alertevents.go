package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var alertEventTests = []test{
	{"events are written with their change", alertEvents},
	{"how tasks fare", alertTasks},
	{"what ended instances say", alertTexts},
	{"due times without a row", alertOverdue},
}

func (b *bed) newAlertEvent(event string) ax.AlertEvent {
	return ax.AlertEvent{ID: b.id(), App: app, TaskID: 7, Event: event, Count: 1, At: noon, Instance: 9, Attempt: 2, Node: "n1"}
}

func alertEvents(b *bed) {
	b.apply(Task(app, "t", noon))
	failed, missed := b.newAlertEvent("failed"), b.newAlertEvent("missed")
	down := ax.AlertEvent{ID: b.id(), App: app, TaskID: 8, Subject: "plugin exec", Receivers: []string{"ops", "值班"}, Event: "plugin", Count: 3, At: noon, Detail: "坏了"}
	b.applied(ax.Change{Alerts: []ax.AlertEvent{failed, missed}})
	b.applied(ax.Change{Alerts: []ax.AlertEvent{down}})
	// A change that is not applied leaves no event.
	b.refused(ax.Change{
		Plan:   &ax.Plan{Task: ax.NewTaskID(app, "t"), From: noon.Add(time.Hour), To: noon, Prev: noon},
		Alerts: []ax.AlertEvent{b.newAlertEvent("late")},
	})
	got, err := b.s.AlertEvents(b.Context(), app, 10)
	b.must(err)
	equal(b, "events", got, []ax.AlertEvent{failed, missed, down})
	b.must(b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: b.takeLease(), Events: []int64{failed.ID, down.ID}}))
	got, err = b.s.AlertEvents(b.Context(), app, 10)
	b.must(err)
	equal(b, "events left", got, []ax.AlertEvent{missed})
}

func alertTasks(b *bed) {
	b.apply(Task(app, "t", noon))
	id := ax.NewTaskID(app, "t")
	write := func(tasks ...ax.AlertTask) {
		b.Helper()
		b.must(b.s.WriteAlerts(b.Context(), ax.AlertBatch{Lease: b.takeLease(), Tasks: tasks}))
	}
	fails := ax.AlertTask{TaskID: id, App: app, Failures: 3, State: []byte(`{"cause":"1"}`)}
	watched := ax.AlertTask{TaskID: 8, App: app, State: []byte(`{}`)}
	write(ax.AlertTask{TaskID: id, App: app, Failures: 1, State: []byte(`{}`)}, watched)
	write(fails)
	equal(b, "failures of the task", b.task("t").Failures, 3)
	got, err := b.s.AlertTasks(b.Context(), []ax.TaskID{id, 99})
	b.must(err)
	equal(b, "how it fares", got, []ax.AlertTask{fails})
	got, err = b.s.FailingTasks(b.Context(), app)
	b.must(err)
	equal(b, "tasks that fail", got, []ax.AlertTask{fails})
	write(ax.AlertTask{TaskID: id, App: app})
	equal(b, "failures of the task", b.task("t").Failures, 0)
	got, err = b.s.AlertTasks(b.Context(), []ax.TaskID{id, 8})
	b.must(err)
	equal(b, "rows left", got, []ax.AlertTask{watched})

	write(fails) // a task that is made again begins anew
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{id}}))
	got, err = b.s.AlertTasks(b.Context(), []ax.TaskID{id, 8})
	b.must(err)
	equal(b, "rows left without the task", got, []ax.AlertTask{watched})
}

func alertTexts(b *bed) {
	b.apply(Task(app, "t", noon))
	failed, skipped, good := b.newInstance("t", 0), b.newInstance("t", time.Second), b.newInstance("t", 2*time.Second)
	skipped.Status, skipped.Reason = ax.StatusSkipped, "忙"
	b.insert(failed, skipped, good)
	watched, err := b.s.WatchedInstances(b.Context(), app, 10)
	b.must(err)
	equal(b, "watched", len(watched), 2)
	equal(b, "the first", watched[0].ID, failed.ID)
	end := func(i ax.Instance, status ax.Status, text string) {
		b.Helper()
		from := i.Status
		i.Status, i.Error, i.EndedAt = status, text, noon.Add(time.Minute)
		b.applied(ax.Change{Move: &ax.Move{From: from, Fence: i.Fence, New: i}})
	}
	end(failed, ax.StatusFailed, "坏了")
	end(good, ax.StatusSuccess, "")
	texts, err := b.s.EndTexts(b.Context(), []ax.InstanceID{failed.ID, skipped.ID, 1})
	b.must(err)
	equal(b, "texts", texts, map[ax.InstanceID]string{failed.ID: "坏了", skipped.ID: "忙"})
	newest, err := b.s.NewestSuccesses(b.Context(), []ax.TaskID{failed.TaskID, 99}, noon.Add(-time.Hour))
	b.must(err)
	equal(b, "newest success", newest, []ax.TaskSuccess{{ID: failed.TaskID, Name: "t", At: noon.Add(time.Minute)}})
	counts, err := b.s.CountRecent(b.Context(), app, noon.Add(-time.Hour))
	b.must(err)
	equal(b, "recent", counts, map[ax.Status]int{ax.StatusFailed: 1, ax.StatusSkipped: 1, ax.StatusSuccess: 1})
}

func alertOverdue(b *bed) {
	late, paused, off, parked := Task(app, "late", noon), Task(app, "paused", noon), Task(app, "off", noon), Task(app, "parked", noon.Add(-time.Hour))
	paused.Paused, off.Enabled, parked.Parked = true, false, "no plugin"
	b.apply(late, paused, off, parked, Task(app, "young", noon.Add(time.Minute)))
	got, err := b.s.OverdueTasks(b.Context(), app, noon.Add(time.Minute), 10)
	b.must(err)
	equal(b, "overdue", got, []ax.OverdueTask{
		{ID: parked.ID, Name: "parked", NextAt: parked.NextAt, Parked: "no plugin"}, {ID: late.ID, Name: "late", NextAt: noon},
	})
}
