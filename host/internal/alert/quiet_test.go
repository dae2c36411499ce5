package alert_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
)

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
		{"a calendar that is gone", []ax.Blackout{{To: 24 * time.Hour, Calendar: "cn"}}, "2026-03-02 12:00", "2026-03-02 12:00"},
	} {
		q := alert.Quiet{Zone: berlin, Hours: test.hours}
		if got := q.Until(at(test.at)); !got.Equal(at(test.until)) {
			t.Errorf("%s: until %v, want %s", test.name, got, test.until)
		}
	}
}

// TestAlwaysQuiet: a receiver that never wants messages gets them after a year,
// since hours that never end must be a mistake.
func TestAlwaysQuiet(t *testing.T) {
	t.Parallel()
	q := alert.Quiet{Hours: []ax.Blackout{{To: 24 * time.Hour}}}
	if got := q.Until(start).Sub(start); got < 365*24*time.Hour || got > 2*365*24*time.Hour {
		t.Errorf("quiet for %v", got)
	}
}

// TestSilenceOfARetry: what a notifier did not take waits as well, for as long as
// people want no messages.
func TestSilenceOfARetry(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		tasks := w.manyTasks(2)
		w.open()
		var tr tries
		w.answers(func(_ context.Context, d delivery) error {
			tr.add(d)
			if time.Since(start) < time.Minute {
				return errBusy
			}
			return nil
		})
		w.fails(tasks[0], "disk full")
		w.at(30 * time.Second)
		before := len(tr.all())
		if before < 2 {
			t.Fatalf("%d tries, want a retry", before)
		}
		silence := ax.AlertSilence{ID: 5, App: "shop", Task: "t0", Until: start.Add(3 * time.Hour), At: start, By: "ann"}
		w.must(w.store.Silence(context.Background(), silence))
		w.at(2 * time.Hour)
		if got := tr.all()[before:]; len(got) != 0 {
			t.Errorf("in the silence there were the tries %v", got)
		}
		w.at(3*time.Hour + time.Minute)
		if got := w.titles(); len(got) != 1 || !strings.HasPrefix(got[0], "3h0m") {
			t.Errorf("after the silence %q", got)
		}
	})
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
