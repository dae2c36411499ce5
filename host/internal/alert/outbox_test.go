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

// TestSecrets: neither what failed nor what a notifier says nor a template puts a
// secret into a message or into the database.
func TestSecrets(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		text, err := alert.ParseTemplate("token hunter2: {{.Error}}")
		w.must(err)
		w.settings.Receivers["ops"].Text = text
		a := w.task("a", on("failed", "attempt", "parked"))
		w.open()
		w.answers(func(context.Context, delivery) error {
			w.answers(nil)
			return errors.New("POST https://hook/hunter2 refused")
		})
		w.fails(a, "login with hunter2 refused")
		w.attempt(a, ax.StatusFailed, "hunter2", true)
		w.happens(a, ax.TaskParked, "hunter2 is missing")
		w.at(time.Hour)
		for _, d := range w.taken() {
			if strings.Contains(fmt.Sprintf("%+v", d.msg), "hunter2") || !strings.Contains(d.msg.Text, "[secret]") {
				t.Errorf("message %+v", d.msg)
			}
		}
		if len(w.taken()) != 2 || strings.Contains(w.log.String(), "hunter2") {
			t.Errorf("%d messages; log:\n%s", len(w.taken()), w.log.String())
		}
		for _, row := range w.rows() {
			if strings.Contains(string(row.Payload)+row.LastError, "hunter2") {
				t.Errorf("row %s %s", row.Payload, row.LastError)
			}
		}
	})
}
