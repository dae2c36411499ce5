package alert_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
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

func TestQuietHours(t *testing.T) {
	t.Parallel()
	merging(t, func(w *world) {
		w.settings.Receivers["ops"].Quiet = &alert.Quiet{Hours: []ax.Blackout{{From: 0, To: 7 * time.Hour}}}
		tasks := w.manyTasks(3)
		tasks[0].Notify.To = []string{"ops", "dev"}
		w.open()
		w.at(time.Hour)
		w.fails(tasks[0], "disk full")
		w.at(2 * time.Hour)
		w.fails(tasks[1], "no route")
		w.fails(tasks[1], "no route")
		w.drops(tasks[2], ax.StatusSkipped, "busy")
		w.stop()
		w.open()
		w.at(12 * time.Hour)
		w.wantTitles("1h0m2s dev: t0 failed x1", "7h0m0s ops: 3 tasks while it was quiet x4")
		if text := w.last().Text; !strings.Contains(text, "- t1 failed 2 times\n- t2 skipped a due time") || !strings.Contains(text, "It was held back until now.") {
			t.Errorf("text %q", text)
		}
		w.fails(tasks[0], "disk full") // outside of the hours
		w.at(24*time.Hour + time.Minute)
		w.fails(tasks[0], "disk full") // alone, it is told as ever
		w.at(36 * time.Hour)
		got := w.titles()[2:]
		slices.Sort(got) // two receivers at once
		if want := []string{"12h0m2s dev: t0 failed x1", "12h0m2s ops: t0 failed x1", "24h1m2s dev: t0 failed x1", "31h0m0s ops: t0 failed x1"}; !slices.Equal(got, want) {
			t.Errorf("later messages %q, want %q", got, want)
		}
	})
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		tm, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	}
	night := ax.Blackout{From: 22 * time.Hour, To: 6 * time.Hour}
	weekend := ax.Blackout{To: 24 * time.Hour, Weekdays: []time.Weekday{time.Sunday, time.Saturday}}
	for _, test := range []struct {
		name      string
		hours     []ax.Blackout
		at, until string
	}{
		{"never", nil, "2026-03-02 12:00", "2026-03-02 12:00"},
		{"before", []ax.Blackout{night}, "2026-03-02 21:59", "2026-03-02 21:59"},
		{"its beginning", []ax.Blackout{night}, "2026-03-02 22:00", "2026-03-03 06:00"},
		{"after midnight", []ax.Blackout{night}, "2026-03-03 05:59", "2026-03-03 06:00"},
		{"its end", []ax.Blackout{night}, "2026-03-03 06:00", "2026-03-03 06:00"},
		{"night and weekend", []ax.Blackout{night, weekend}, "2026-03-06 23:00", "2026-03-09 06:00"},
		{"the shorter night of summer time", []ax.Blackout{night}, "2026-03-28 23:00", "2026-03-29 06:00"},
		{"always", []ax.Blackout{{To: 24 * time.Hour}}, "2026-03-02 12:00", "2027-04-07 00:00"},
		{"a calendar that is gone", []ax.Blackout{{To: 24 * time.Hour, Calendar: "cn"}}, "2026-03-02 12:00", "2026-03-02 12:00"},
	} {
		q := alert.Quiet{Zone: berlin, Hours: test.hours}
		if got := q.Until(at(test.at)); !got.Equal(at(test.until)) && test.name != "always" {
			t.Errorf("%s: until %v, want %s", test.name, got, test.until)
		}
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	merging(t, func(w *world) {
		tasks := w.manyTasks(2)
		w.open()
		silence := ax.AlertSilence{ID: 5, App: "shop", Task: "t0", Until: start.Add(3 * time.Hour), At: start, By: "ann"}
		w.must(w.store.Silence(context.Background(), silence))
		w.fails(tasks[1], "no route")
		w.fails(tasks[0], "disk full")
		w.at(time.Hour)
		w.fails(tasks[0], "disk full")
		w.wantTitles("2s ops: t1 failed x1")
		w.must(w.store.EndSilence(context.Background(), "shop", silence.ID))
		w.must(w.store.AdvanceAlerts(context.Background(), "shop", time.Now(), time.Now()))
		w.manager.Wake()
		w.at(time.Hour + time.Minute)
		w.wantTitles("2s ops: t1 failed x1", "1h0m0s ops: t0 failed 2 times x2")
		w.must(w.store.Silence(context.Background(), ax.AlertSilence{ID: 6, App: "shop", Notifier: "ops", Until: start.Add(3 * time.Hour), At: start, By: "ann"}))
		w.fails(tasks[1], "no route")
		w.succeeds(tasks[1])
		w.at(4 * time.Hour)
		if got := w.titles()[2:]; !slices.Equal(got, []string{"3h0m0s ops: t1 recovered, fixed after 1h1m, 2 failures x2"}) {
			t.Errorf("after the silence %q", got)
		}
	})
}

func TestPacePerMinute(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		w.settings.Receivers["ops"].PerMinute = 5
		tasks := w.manyTasks(12)
		w.open()
		for i, task := range tasks {
			w.fails(task, fmt.Sprintf("error %c", 'a'+i))
		}
		w.at(time.Hour)
		var sent []time.Duration
		for _, d := range w.taken() {
			sent = append(sent, d.at.Sub(start).Truncate(time.Minute))
		}
		if want := slices.Concat(slices.Repeat([]time.Duration{0}, 5), slices.Repeat([]time.Duration{time.Minute}, 5), slices.Repeat([]time.Duration{2 * time.Minute}, 2)); !slices.Equal(sent, want) {
			t.Errorf("sent at %v, want %v", sent, want)
		}
	})
}

func TestNotifierThatIsDown(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		tasks := w.manyTasks(3)
		w.open()
		var tr tries
		w.answers(func(_ context.Context, d delivery) error {
			tr.add(d)
			switch n := len(tr.all()); {
			case n == 1:
				return pluginapi.RetryAfter(errors.New("slow down"), 7*time.Minute)
			case n < 4:
				return errBusy
			}
			return nil
		})
		fares := func() ax.AlertNotifier {
			t.Helper()
			list, err := w.store.AlertNotifiers(context.Background(), "shop")
			w.must(err)
			if len(list) != 1 {
				t.Fatalf("notifiers %+v", list)
			}
			return list[0]
		}
		for i, task := range tasks {
			w.fails(task, fmt.Sprintf("error %c", 'a'+i))
		}
		w.at(time.Minute)
		if n := fares(); !n.FailingSince.Equal(start) || n.Failures != 1 || n.LastError != "slow down" || !n.NextTryAt.Equal(start.Add(7*time.Minute)) {
			t.Errorf("it fares %+v", n)
		}
		w.kill() // who comes next knows
		w.open()
		w.at(time.Hour)
		var at []time.Duration
		for _, d := range tr.all() {
			at = append(at, d.at.Sub(start))
		}
		// One try for all of them, however many wait; then they leave at once.
		m, s := time.Minute, time.Second
		if want := []time.Duration{0, 7 * m, 7*m + 10*s, 7*m + 30*s, 7*m + 30*s, 7*m + 30*s}; !slices.Equal(at, want) {
			t.Errorf("tries at %v, want %v", at, want)
		}
		if n := fares(); !n.FailingSince.IsZero() || n.Failures != 0 || !n.SentAt.Equal(start.Add(7*m+30*s)) {
			t.Errorf("at the end it fares %+v", n)
		}
	})
}

func TestDeadLetterIsSentAgain(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		w.answers(func(context.Context, delivery) error { return pluginapi.Permanent(errors.New("no such channel")) })
		w.fails(a, "e1")
		w.at(time.Hour)
		w.answers(nil)
		w.must(w.store.ResendAlert(context.Background(), "shop", w.rows()[0].ID, time.Now()))
		w.manager.Wake()
		w.at(2 * time.Hour)
		w.wantTaken("1h0m0s ops: a failed x1")
	})
}

// TestReceipts: a notifier gets back what it returned last about the task, also
// when the message is sent again, and after a restart.
func TestReceipts(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a, b := w.task("a"), w.task("b")
		w.open()
		var got []string
		w.answers(func(_ context.Context, d delivery) error {
			got = append(got, d.msg.Task+"="+d.msg.Receipt)
			if len(got) == 2 {
				return errBusy
			}
			return nil
		})
		returns := func(receipt string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.receipt = receipt
		}
		returns("r1")
		w.fails(a, "e")
		w.at(20 * time.Minute)
		returns("r2")
		w.fails(a, "e")
		w.at(20*time.Minute + time.Second)
		returns("")
		w.at(time.Hour)
		w.kill()
		w.open()
		w.fails(a, "e")
		w.fails(b, "e")
		w.at(2 * time.Hour)
		want := []string{"a=", "a=r1", "a=r2", "a=", "b="}
		if !slices.Equal(got, want) {
			t.Errorf("receipts %q, want %q", got, want)
		}
	})
}
