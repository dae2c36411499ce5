package alert_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// merging is a story with the default settings about messages of several tasks.
func merging(t *testing.T, f func(w *world)) {
	t.Helper()
	story(t, func(w *world) {
		w.settings.Gather, w.settings.MergeFrom = 2*time.Second, 3
		f(w)
	})
}

// manyTasks makes tasks called t0, t1 …
func (w *world) manyTasks(n int) []*ax.Task {
	var tasks []*ax.Task
	for i := range n {
		tasks = append(tasks, w.task(fmt.Sprintf("t%d", i)))
	}
	return tasks
}

// titles returns the titles of all that was taken, with the time.
func (w *world) titles() []string {
	var list []string
	for _, d := range w.taken() {
		list = append(list, fmt.Sprintf("%s %s: %s x%d", d.at.Sub(start), d.notifier, d.msg.Title, d.msg.Count))
	}
	return list
}

func (w *world) wantTitles(want ...string) {
	w.t.Helper()
	if got := w.titles(); !slices.Equal(got, want) {
		w.t.Errorf("messages\n got %q\nwant %q", got, want)
	}
}

// TestOutage: one trouble that hits 200 tasks is one message, the tasks that it
// hits later are told of when it is told of again, and its end is one message.
func TestOutage(t *testing.T) {
	t.Parallel()
	merging(t, func(w *world) {
		tasks := w.manyTasks(210)
		w.open()
		for i, task := range tasks[:200] {
			w.fails(task, fmt.Sprintf("dial tcp 10.0.0.%d:5432: connection refused", i))
		}
		w.at(time.Minute)
		w.wantTitles("2s ops: same error in 200 tasks x200")
		msg := w.last()
		if msg.Task != "" || len(msg.Tasks) != 50 || msg.Count != 200 || !strings.Contains(msg.Text, "- t0 failed\n") || !strings.Contains(msg.Text, "and 150 more") ||
			!strings.HasPrefix(msg.LastError, "dial tcp 10.0.0.") {
			t.Errorf("message %+v", msg)
		}
		for i, task := range tasks[200:] {
			w.at(time.Minute + time.Duration(i)*time.Second)
			w.fails(task, "dial tcp 10.0.0.1:5432: connection refused")
		}
		w.fails(tasks[0], "dial tcp 10.0.0.1:5432: connection refused")
		w.at(9 * time.Minute)
		w.wantTitles("2s ops: same error in 200 tasks x200")
		for _, task := range tasks {
			w.succeeds(task)
		}
		w.at(time.Hour)
		// t0, and those that were held, tell of their failures as well.
		w.wantTitles("2s ops: same error in 200 tasks x200", "10m2s ops: 210 tasks: recovered x221")
		w.wantAllTold(map[string]int{"failed": 211, "recovered": 210})
	})
}

// wantAllTold counts the events that all rows which were told of tell of.
func (w *world) wantAllTold(want map[string]int) {
	w.t.Helper()
	got := map[string]int{}
	for _, row := range w.rows() {
		if row.State != ax.AlertSent && row.State != ax.AlertMerged {
			w.t.Errorf("row %d of %s is %s", row.ID, row.TaskName, row.State)
		}
		for event, n := range w.tallies(row) {
			got[event] += n
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("told %v, want %v", got, want)
	}
}

// TestSlowOutage: the first two tasks are told of one by one; then it is known.
func TestSlowOutage(t *testing.T) {
	t.Parallel()
	merging(t, func(w *world) {
		tasks := w.manyTasks(30)
		w.open()
		for i, task := range tasks {
			w.at(time.Duration(i) * 10 * time.Second)
			w.fails(task, "disk full")
		}
		w.at(time.Hour)
		w.wantTitles("2s ops: t0 failed x1", "12s ops: t1 failed x1", "22s ops: t2 failed, like 2 other tasks x1",
			"10m22s ops: same error in 27 tasks x27")
	})
}

func TestDifferentErrorsDoNotMerge(t *testing.T) {
	t.Parallel()
	merging(t, func(w *world) {
		tasks := w.manyTasks(4)
		w.open()
		for i, text := range []string{"disk full", "no route", "disk full", "no such user"} {
			w.fails(tasks[i], text)
		}
		w.at(time.Hour)
		w.wantTitles("2s ops: t0 failed x1", "2.2s ops: t1 failed x1", "2.2s ops: t2 failed x1", "2.2s ops: t3 failed x1")
	})
}

// TestMergedMessageIsTriedAgain: all of its tasks wait until it has arrived, and
// a window from then on.
func TestMergedMessageIsTriedAgain(t *testing.T) {
	t.Parallel()
	merging(t, func(w *world) {
		tasks := w.manyTasks(5)
		w.open()
		w.answers(func(_ context.Context, d delivery) error {
			if d.at.Before(start.Add(30 * time.Minute)) {
				return errBusy
			}
			return nil
		})
		for _, task := range tasks {
			w.fails(task, "disk full")
		}
		w.at(20 * time.Minute)
		w.fails(tasks[3], "disk full")
		w.kill()
		w.open()
		w.at(2 * time.Hour)
		got := w.taken()
		if len(got) != 2 || got[0].msg.Count != 5 || got[1].msg.Task != "t3" || got[1].at.Sub(got[0].at) != window {
			t.Errorf("messages %q", w.titles())
		}
		w.wantAllTold(map[string]int{"failed": 6})
	})
}
