package alert_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

func TestStorm(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		for i := range 1000 {
			time.Sleep(time.Millisecond)
			w.fails(a, fmt.Sprintf("error %d", i))
		}
		w.at(5 * time.Minute)
		w.wantTaken("1ms ops: a failed x1")
		w.at(time.Hour)
		w.wantTaken("1ms ops: a failed x1", "10m0.001s ops: a failed x999")
		if msg := w.last(); msg.LastError != "error 999" || !msg.First.Equal(start.Add(2*time.Millisecond)) || !msg.Last.Equal(start.Add(time.Second)) {
			t.Errorf("message %+v", msg)
		}
	})
}

func TestStormWithinOneInstant(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		for range 1000 {
			w.fails(a, "e")
		}
		w.at(time.Hour)
		got := w.taken()
		if len(got) != 2 || got[0].msg.Count+got[1].msg.Count != 1000 || got[1].at.Sub(got[0].at) != window {
			t.Errorf("messages %v", got)
		}
	})
}

func TestOneMessageAWindow(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		for minute := range 60 {
			w.at(time.Duration(minute) * time.Minute)
			w.fails(a, "e")
		}
		w.at(3 * time.Hour)
		w.wantTaken("0s ops: a failed x1", "10m0s ops: a failed x9", "20m0s ops: a failed x10", "30m0s ops: a failed x10",
			"40m0s ops: a failed x10", "50m0s ops: a failed x10", "1h0m0s ops: a failed x10")
		w.fails(a, "e")
		w.at(4 * time.Hour)
		if got, want := w.taken()[7].String(), "3h0m0s ops: a failed x1"; got != want {
			t.Errorf("after a calm time %s, want %s", got, want)
		}
	})
}

func TestTasksAndNotifiersDoNotMix(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a, b := w.task("a", to("ops", "ops")), w.task("b", to("dev"))
		w.open()
		w.fails(a, "a1")
		w.at(time.Minute)
		w.fails(b, "b1")
		w.fails(a, "a2")
		w.at(2 * time.Minute)
		w.fails(b, "b2")
		w.at(time.Hour)
		w.wantTaken("0s ops: a failed x1", "1m0s dev: b failed x1", "10m0s ops: a failed x1", "11m0s dev: b failed x1")
		got := w.taken()
		if got[2].msg.LastError != "a2" || got[3].msg.LastError != "b2" {
			t.Errorf("errors %q and %q", got[2].msg.LastError, got[3].msg.LastError)
		}
	})
}

func TestEvents(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change []func(*ax.Task)
		live   func(w *world, a *ax.Task)
		want   []string
	}{
		{"an attempt that is made again", nil, func(w *world, a *ax.Task) {
			w.attempt(a, ax.StatusFailed, "e", true)
			w.attempt(a, ax.StatusTimeout, "e", true)
			w.succeeds(a)
		}, nil},
		{"a run that a person ended", nil, func(w *world, a *ax.Task) { w.ends(a, ax.StatusCanceled, "by Ann") }, nil},
		{"a task without receivers", []func(*ax.Task){to()}, func(w *world, a *ax.Task) { w.fails(a, "e") }, nil},
		{"timeout", nil, func(w *world, a *ax.Task) { w.ends(a, ax.StatusTimeout, "e") }, []string{"0s ops: a timeout x1"}},
		{"lost", nil, func(w *world, a *ax.Task) { w.ends(a, ax.StatusLost, "e") }, []string{"0s ops: a lost x1"}},
		{"missed", nil, func(w *world, a *ax.Task) { w.drops(a, ax.StatusMissed, "late") }, []string{"0s ops: a missed x1"}},
		{"skipped", nil, func(w *world, a *ax.Task) { w.drops(a, ax.StatusSkipped, "busy") }, []string{"0s ops: a skipped x1"}},
		{"parked once", nil, func(w *world, a *ax.Task) {
			w.happens(a, ax.TaskParked, "no plugin offers the job \"x\"")
			w.at(time.Hour)
			w.happens(a, ax.TaskUnparked, "")
		}, []string{"0s ops: a parked x1"}},
		{"events that are not asked for", []func(*ax.Task){on("timeout")}, func(w *world, a *ax.Task) {
			w.fails(a, "e")
			w.drops(a, ax.StatusMissed, "late")
			w.ends(a, ax.StatusTimeout, "e")
			w.succeeds(a)
		}, []string{"200ms ops: a timeout x1"}},
		{"recovered", nil, func(w *world, a *ax.Task) {
			w.fails(a, "e")
			w.at(20 * time.Minute)
			w.succeeds(a)
			w.succeeds(a)
		}, []string{"0s ops: a failed x1", "20m0s ops: a recovered x1"}},
		{"recovered on all hosts", []func(*ax.Task){broadcast}, func(w *world, a *ax.Task) {
			w.there("n1", w.fails, a)
			w.there("n2", w.fails, a)
			w.kill() // who comes next knows
			w.open()
			w.at(20 * time.Minute)
			w.there("n1", w.succeedsOn, a)
			w.there("n3", w.succeedsOn, a)
			w.at(40 * time.Minute)
			w.there("n2", w.succeedsOn, a)
		}, []string{"0s ops: a failed x1", "10m0s ops: a failed x1", "40m0s ops: a recovered x1"}},
		{"recovered but for a host that is gone", []func(*ax.Task){broadcast}, func(w *world, a *ax.Task) {
			w.there("n1", w.fails, a)
			w.there("n2", w.fails, a)
			w.at(191 * time.Hour)
			w.there("n1", w.succeedsOn, a)
			w.at(193 * time.Hour)
			w.there("n1", w.succeedsOn, a)
		}, []string{"0s ops: a failed x1", "10m0s ops: a failed x1", "193h0m0s ops: a recovered x1"}},
		{"a success without failures", nil, func(w *world, a *ax.Task) { w.succeeds(a) }, nil},
		{"too few in a row", []func(*ax.Task){after(3)}, func(w *world, a *ax.Task) {
			w.fails(a, "e")
			w.fails(a, "e")
			w.succeeds(a)
			w.fails(a, "e")
		}, nil},
		{"three in a row", []func(*ax.Task){after(3)}, func(w *world, a *ax.Task) {
			for minute := range 4 {
				w.at(time.Duration(minute) * time.Minute)
				w.fails(a, "e")
			}
			w.at(30 * time.Minute)
			w.succeeds(a)
		}, []string{"2m0s ops: a failed x3", "12m0s ops: a failed x1", "30m0s ops: a recovered x1"}},
		{"the threshold reached by something not asked for", []func(*ax.Task){after(2), on("timeout")}, func(w *world, a *ax.Task) {
			w.ends(a, ax.StatusTimeout, "e")
			w.fails(a, "e")
			w.ends(a, ax.StatusTimeout, "e")
		}, []string{"200ms ops: a timeout x2"}},
		{"flapping", nil, func(w *world, a *ax.Task) {
			for minute := range 9 { // fails at even minutes, and once more than it recovers
				w.at(time.Duration(minute) * time.Minute)
				if minute%2 == 0 {
					w.fails(a, "e")
				} else {
					w.succeeds(a)
				}
			}
		}, []string{"0s ops: a failed x1", "10m0s ops: a failed x8"}},
		{"the newest state names the message", nil, func(w *world, a *ax.Task) {
			w.fails(a, "e")
			w.at(time.Minute)
			w.fails(a, "e")
			w.succeeds(a)
			w.drops(a, ax.StatusSkipped, "busy")
		}, []string{"0s ops: a failed x1", "10m0s ops: a recovered x3"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			story(t, func(w *world) {
				a := w.task("a", test.change...)
				w.open()
				test.live(w, a)
				w.at(3 * time.Hour)
				w.wantTaken(test.want...)
			})
		})
	}
}

func TestFailuresInARowAreKept(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a", after(3))
		w.open()
		want := func(n int) {
			t.Helper()
			time.Sleep(time.Second)
			row, err := w.store.Task(context.Background(), "shop", "a")
			w.must(err)
			if row.Failures != n {
				t.Errorf("%d failures in a row are kept, want %d", row.Failures, n)
			}
		}
		w.fails(a, "e1")
		want(1)
		w.stop()
		w.open()
		w.at(time.Minute)
		w.ends(a, ax.StatusTimeout, "e2")
		want(2)
		w.fails(a, "e3")
		want(3)
		w.wantTaken("1m1s ops: a failed x3")
		if got, want := w.last().Title, "a failed 2 times, and 1 other event"; got != want {
			t.Errorf("title %q, want %q", got, want)
		}
		w.kill()
		w.open()
		w.at(time.Hour)
		w.succeeds(a)
		want(0)
		w.wantTaken("1m1s ops: a failed x3", "1h0m0s ops: a recovered x1")
		if got, want := w.last().Title, "a recovered, fixed after 1h, 3 failures"; got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	})
}

func broadcast(t *ax.Task) { t.Strategy = ax.StrategyBroadcast }

// there ends a run on a host.
func (w *world) there(node string, end func(*ax.Task, string), task *ax.Task) {
	w.runsOn = node
	end(task, "e")
	w.runsOn = ""
}

func (w *world) succeedsOn(task *ax.Task, _ string) { w.succeeds(task) }

func TestRestartWithinAWindow(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*world){"stopped": (*world).stop, "killed": (*world).kill}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, func(w *world) {
				a := w.task("a")
				w.open()
				w.fails(a, "e1")
				w.at(2 * time.Minute)
				w.fails(a, "e2")
				w.at(3 * time.Minute)
				end(w)
				w.open()
				w.at(4 * time.Minute)
				w.fails(a, "e3")
				w.at(5 * time.Minute)
				end(w)
				w.at(12 * time.Minute) // the window ends while no host runs
				w.open()
				w.at(13 * time.Minute)
				w.fails(a, "e4")
				w.at(14 * time.Minute)
				end(w)
				w.open()
				w.at(time.Hour)
				w.wantTaken("0s ops: a failed x1", "12m0s ops: a failed x2", "22m0s ops: a failed x1")
				if text := w.taken()[1].msg.Text; !strings.Contains(text, "That makes 3 failures in a row.") {
					t.Errorf("text %q", text)
				}
			})
		})
	}
}

func TestWindowRemembersWhatWasSent(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		w.fails(a, "e1")
		w.at(time.Minute)
		w.stop()
		w.open()
		w.at(2 * time.Minute)
		w.fails(a, "e2") // nothing waited, but the first message is not old enough
		w.at(time.Hour)
		w.wantTaken("0s ops: a failed x1", "10m0s ops: a failed x1")
	})
}

func TestClockThatWasWrong(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		b := w.task("b")
		w.fails(a, "e1")
		w.fails(b, "e1")
		w.at(500 * time.Millisecond)
		w.fails(b, "e2")
		w.at(time.Second)
		w.kill()
		w.sql("UPDATE ax_alert SET window_end = ? WHERE task_id = ?", start.AddDate(5, 0, 0).UnixMicro(), int64(a.ID))
		w.sql("UPDATE ax_alert SET next_try_at = ? WHERE task_id = ? AND state = 'open'", start.AddDate(5, 0, 0).UnixMicro(), int64(b.ID))
		w.open()
		w.at(time.Minute)
		w.fails(a, "e2")
		w.at(time.Hour)
		w.wantTaken("0s ops: a failed x1", "200ms ops: b failed x1", "1m0s ops: a failed x1", "10m0.2s ops: b failed x1")
	})
}
