package alert_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

var errBusy = errors.New("the mail server is busy")

// tries keeps what was handed to notifiers, taken or not.
type tries struct {
	mu   sync.Mutex
	list []delivery
}

func (tr *tries) add(d delivery) int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.list = append(tr.list, d)
	return len(tr.list)
}

func (tr *tries) all() []delivery {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.list)
}

func TestRefusedMessageIsSentAgain(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		var tr tries
		w.answers(func(_ context.Context, d delivery) error {
			if tr.add(d); d.at.Before(start.Add(20 * time.Minute)) {
				return errBusy
			}
			return nil
		})
		w.fails(a, "e1")
		w.at(time.Minute)
		w.fails(a, "e2")
		w.fails(a, "e3")
		if row := w.rows()[0]; row.State != ax.AlertFailed || row.LastError != errBusy.Error() || row.Attempts != 4 {
			t.Errorf("after a minute the row is %+v", row)
		}
		w.at(2 * time.Hour)
		var waits []time.Duration
		list := tr.all()
		for i := range list[1:] {
			waits = append(waits, list[i+1].at.Sub(list[i].at))
		}
		s, m := time.Second, time.Minute
		if want := []time.Duration{5 * s, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 5 * m, 5 * m, 5 * m, 10 * m}; !slices.Equal(waits, want) {
			t.Errorf("waits %v, want %v", waits, want)
		}
		// What came meanwhile waits for a whole window after the first message.
		w.wantTaken("20m15s ops: a failed x1", "30m15s ops: a failed x2")
		for i, d := range list {
			if first := list[0].msg; i < len(list)-1 && !reflect.DeepEqual(d.msg, first) {
				t.Errorf("try %d is another message: %+v, want %+v", i, d.msg, first)
			}
		}
		for _, row := range w.rows() {
			if row.State != ax.AlertSent || row.LastError != "" {
				t.Errorf("row %+v", row)
			}
		}
	})
}

func TestBackoffGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		var tr tries
		w.answers(func(_ context.Context, d delivery) error { tr.add(d); return errBusy })
		w.fails(a, "e1")
		w.at(time.Minute)
		w.kill()
		w.open()
		w.at(3 * time.Minute)
		var at []time.Duration
		for _, d := range tr.all() {
			at = append(at, d.at.Sub(start))
		}
		s := time.Second
		if want := []time.Duration{0, 5 * s, 15 * s, 35 * s, 75 * s, 155 * s}; !slices.Equal(at, want) {
			t.Errorf("tries at %v, want %v", at, want)
		}
	})
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		at   time.Duration // of the last try
	}{
		{"permanent", pluginapi.Permanent(errors.New("no such channel")), 0},
		{"tried for two hours", errBusy, 2*time.Hour + 15*time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			story(t, func(w *world) {
				w.settings.Expire = 2 * time.Hour
				a := w.task("a")
				w.open()
				var tr tries
				w.answers(func(_ context.Context, d delivery) error { tr.add(d); return test.err })
				w.fails(a, "e1")
				w.at(5 * time.Hour)
				list := tr.all()
				if got := list[len(list)-1].at.Sub(start); got != test.at {
					t.Errorf("tried last after %v, want %v", got, test.at)
				}
				row := w.rows()[0]
				if row.State != ax.AlertGivenUp || row.LastError != test.err.Error() || row.Attempts != len(list) {
					t.Errorf("row %+v after %d tries", row, len(list))
				}
				if log := w.log.String(); !strings.Contains(log, "[ERROR] an alert is given up") {
					t.Errorf("log:\n%s", log)
				}
				w.answers(nil)
				w.fails(a, "e2")
				w.at(6 * time.Hour)
				w.wantTaken("5h0m0s ops: a failed x1")
			})
		})
	}
}

func TestPermanentRefusalKeepsTheWindow(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		var tr tries
		w.answers(func(_ context.Context, d delivery) error {
			tr.add(d)
			return pluginapi.Permanent(errors.New("no such channel"))
		})
		for i := range 20 {
			w.at(time.Duration(i) * time.Minute)
			w.fails(a, "e")
		}
		w.at(time.Hour)
		if got := fmt.Sprint(tr.all()); got != "[0s ops: a failed x1 10m0s ops: a failed x9 20m0s ops: a failed x10]" {
			t.Errorf("tries %s", got)
		}
	})
}

func TestHangingNotifierBlocksOnlyItself(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a, b := w.task("a", to("hangs", "ops")), w.task("b", to("hangs", "ops"))
		w.open()
		var tr tries
		w.answers(func(ctx context.Context, d delivery) error {
			if d.notifier != "hangs" {
				return nil
			}
			tr.add(d)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		w.fails(a, "e")
		w.fails(b, "e")
		w.at(90 * time.Second)
		w.wantTaken("0s ops: a failed x1", "200ms ops: b failed x1")
		// One at a time, 30 s each, and a pause; the two take turns.
		var at []string
		for _, d := range tr.all() {
			at = append(at, fmt.Sprintf("%s %v", d.msg.Task, d.at.Sub(start)))
		}
		if want := []string{"a 0s", "b 35s", "a 1m15s"}; !slices.Equal(at, want) {
			t.Errorf("tries %v, want %v", at, want)
		}
		if row := w.rows()[0]; row.Notifier != "hangs" || row.LastError != "the notifier did not answer in time" {
			t.Errorf("row %+v", row)
		}
	})
}

func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	hangs := map[string]func(ctx context.Context) error{
		"until it is told": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"whatever it is told": func(context.Context) error {
			time.Sleep(time.Minute)
			return errBusy
		},
	}
	for name, hang := range hangs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, func(w *world) {
				a := w.task("a", to("hangs", "ops"))
				w.open()
				w.answers(func(ctx context.Context, d delivery) error {
					if d.notifier == "hangs" {
						return hang(ctx)
					}
					return nil
				})
				w.fails(a, "e1")
				w.fails(a, "e2")
				before := time.Now()
				kept := make(chan []ax.AlertRow, 1)
				time.AfterFunc(time.Second, func() {
					rows, _ := w.store.Alerts(context.Background(), ax.AlertFilter{App: "shop"})
					kept <- rows
				})
				w.stop()
				if n := len(<-kept); n != 4 {
					t.Errorf("%d rows are kept before the notifiers have answered, want 4", n)
				}
				took := time.Since(before)
				if took < 10*time.Second || took > 13*time.Second {
					t.Errorf("Stop took %v, its bound is 10 s", took)
				}
				w.wantTaken("0s ops: a failed x1")
				time.Sleep(2 * time.Minute)
				w.answers(nil)
				w.open()
				w.at(time.Hour)
				if row := w.rows()[0]; row.Notifier != "hangs" || row.Attempts != 1 {
					t.Errorf("%d tries are kept of %s, the one that was cut off is none", row.Attempts, row.Notifier)
				}
				w.wantTaken("0s ops: a failed x1", fmt.Sprint(2*time.Minute+took, " hangs: a failed x1"),
					"10m0s ops: a failed x1", fmt.Sprint(12*time.Minute+took, " hangs: a failed x1"))
			})
		})
	}
}

func TestStopDeliversWhatIsDue(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		w.open()
		w.answers(func(context.Context, delivery) error {
			time.Sleep(time.Second)
			return nil
		})
		for _, name := range []string{"a", "b", "c"} {
			task := w.task(name)
			w.fails(task, "e1")
			w.fails(task, "e2") // of a it waits for the end of the window
		}
		w.stop()
		w.wantTaken("0s ops: a failed x1", "1s ops: b failed x2", "2s ops: c failed x2")
		w.open()
		states := map[ax.AlertState]int{}
		for _, row := range w.rows() {
			states[row.State]++
		}
		if states[ax.AlertSent] != 3 || states[ax.AlertOpen] != 1 {
			t.Errorf("rows by state: %v", states)
		}
	})
}

func TestNothingIsSentThatIsNotKept(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		w.store.down.Store(true)
		w.fails(a, "e1")
		w.at(2 * time.Minute)
		w.fails(a, "e2")
		w.wantTaken()
		if n := strings.Count(w.log.String(), "cannot keep alerts"); n < 3 || n > 10 {
			t.Errorf("the log tells %d times that the database is away", n)
		}
		w.store.down.Store(false)
		w.at(time.Hour)
		w.wantTaken("2m1s ops: a failed x2")
	})
}

func TestEventDuringAWrite(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		w.fails(a, "e1")
		w.at(time.Second)
		var once sync.Once
		w.store.during = func() { once.Do(func() { w.nested.Store(true); w.fails(a, "e3"); w.nested.Store(false) }) }
		w.fails(a, "e2")
		w.at(2 * time.Second)
		w.kill()
		w.open()
		w.at(time.Hour)
		w.wantTaken("0s ops: a failed x1", "10m0s ops: a failed x2")
		if got := w.last().LastError; got != "e3" {
			t.Errorf("newest error %q, want e3", got)
		}
	})
}

func TestDeadDuringADelivery(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		var tr tries
		w.answers(func(ctx context.Context, d delivery) error {
			if tr.add(d) == 1 {
				<-ctx.Done() // taken perhaps, and perhaps not
				return ctx.Err()
			}
			return nil
		})
		w.fails(a, "e1")
		w.at(time.Second)
		w.kill()
		w.open()
		w.fails(a, "e2") // must not slip into a message that may have arrived
		w.at(time.Hour)
		list := tr.all()
		if len(list) != 3 || list[0].msg.ID != list[1].msg.ID || list[0].msg.Text != list[1].msg.Text || list[2].at.Sub(list[1].at) != window || list[2].msg.Count != 1 {
			t.Errorf("tries %v", list)
		}
	})
}

func TestUnreadableRowIsLeftOut(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		w.fails(a, "e1")
		w.at(time.Second)
		w.stop()
		w.sql("UPDATE ax_alert SET state = 'failed', payload = '\"no message\"', next_try_at = 1")
		w.open()
		w.at(time.Hour)
		w.fails(a, "e2")
		w.at(2 * time.Hour)
		w.wantTaken("0s ops: a failed x1", "1h0m0s ops: a failed x1")
		if log := w.log.String(); !strings.Contains(log, "an alert cannot be read, it is given up") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// TestStopGathersEverything: also more events than one round takes in.
func TestStopGathersEverything(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a")
		w.open()
		w.fails(a, "e")
		w.at(time.Second)
		w.kill()
		w.sql("INSERT INTO ax_alert_event WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000) SELECT i, 'shop', ?, 'a', '', 'failed', 1, ?, 0, 1, 'n1', 'e' FROM n",
			int64(a.ID), start.Add(time.Second).UnixMicro())
		w.open()
		begun := time.Now()
		w.stop()
		if took := time.Since(begun); took > time.Second {
			t.Errorf("Stop took %v", took)
		}
		w.open()
		told := 0
		for _, row := range w.rows() {
			told += row.Count
		}
		if told != 25_001 {
			t.Errorf("%d events are in messages, want 25001", told)
		}
	})
}
