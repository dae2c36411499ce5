package engine_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// accounted fails unless the scheduled rows of a task stand for every due time
// from the first of them on, once each; the due times are a period apart.
func (w *world) accounted(task string, period time.Duration) []ax.Instance {
	w.t.Helper()
	list, err := w.store.Instances(context.Background(), ax.InstanceFilter{App: "test", Task: task, Limit: 10_000})
	w.must(err)
	var due time.Time
	for _, row := range slices.Backward(list) { // they are written in the order of the due times
		if !due.IsZero() && !row.ScheduledAt.Equal(due) {
			w.t.Errorf("%s: a row for %s, want one for %s", task, row.ScheduledAt, due)
		}
		due = row.ScheduledAt.Add(period)
		if row.Status == ax.StatusMissed {
			if covers := int(row.MissedUntil.Sub(row.ScheduledAt)/period) + 1; row.Missed != covers {
				w.t.Errorf("%s: the MISSED row for %s says %d due times, it covers %d", task, row.ScheduledAt, row.Missed, covers)
			}
			due = row.MissedUntil.Add(period)
		}
	}
	return list
}

// More due times are missed than are counted in one row: still the newest one
// runs, and rows stand for all of them.
func TestMisfireOnceAfterVeryManyDueTimes(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		task := w.task("a", takes(0), func(t *ax.Task) {
			t.Schedule.Every = time.Second
			t.Misfire.Policy = ax.MisfireOnce
		})
		w.open(task)
		w.at(500 * time.Millisecond)
		w.stop()
		const away = 72 * time.Hour // 259,200 due times
		w.at(away + 500*time.Millisecond)
		w.open(task)
		w.at(away + 2500*time.Millisecond)
		var ran []time.Time
		for _, row := range w.accounted("a", time.Second) {
			if row.Status == ax.StatusSuccess {
				ran = append(ran, row.ScheduledAt)
			}
		}
		if len(ran) != 3 || !ran[2].Equal(start.Add(away)) {
			t.Errorf("ran %v, want the newest of the missed due times, %s, and two after it", ran, start.Add(away))
		}
	})
}

// A row that is there already, such as after the clock was put back, does not
// take the due times behind it out of the account.
func TestMissedBesideARowThatIsThere(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		task := w.task("a", takes(0))
		w.open(task)
		w.at(30 * time.Second)
		w.stop()
		w.at(9*time.Minute + 50*time.Second)
		w.open()
		there := ax.Instance{
			ID: 1, TaskID: task.ID, TaskName: "a", App: "test", ScheduledAt: start.Add(time.Minute),
			Kind: ax.KindScheduled, Status: ax.StatusSkipped, CreatedAt: start,
		}
		done := make(chan error, 1)
		w.store.Submit(ax.Change{Insert: []ax.Instance{there}, Done: func(_ bool, err error) { done <- err }})
		w.must(<-done)
		w.stop()
		w.open(task)
		w.at(10*time.Minute + 30*time.Second)
		w.accounted("a", time.Minute)
		w.wantRows("a", "10:01:00 SKIPPED", "10:02:00 MISSED x7", "10:09:00 SUCCESS", "10:10:00 SUCCESS")
	})
}

// What held a due time up can be read in the log of its instance.
func TestTheLogTellsOfWaitingForRoom(t *testing.T) {
	t.Parallel()
	story(t, func(t *testing.T, w *world) {
		w.workers = 1
		same := func(t *ax.Task) { t.Job.Name, t.Schedule.Every = "one lane", time.Hour }
		var tasks []ax.Task
		for _, name := range []string{"a", "b", "c", "d", "e"} { // one runs, two are queued
			tasks = append(tasks, w.task(name, takes(10*time.Second), same))
		}
		w.open(tasks...)
		w.at(time.Hour + time.Minute)
		texts := map[string]int{}
		for _, task := range tasks {
			events, err := w.store.Events(t.Context(), ax.EventFilter{Instance: w.newest(task.Name).ID, Stages: []ax.Stage{ax.StageTriggerReady}})
			w.must(err)
			for _, e := range events {
				texts[e.Text]++
			}
		}
		const due = "due 2026-03-01T11:00:00Z, noticed 0s later"
		want := map[string]int{due: 3, due + "; there was no room in the queue for 10s": 1, due + "; there was no room in the queue for 20s": 1}
		if !maps.Equal(texts, want) {
			t.Errorf("got %v, want %v", texts, want)
		}
	})
}
