package alert_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store/storetest"
	"github.com/axsched/ax/pluginapi"
)

// begin begins a run that goes on, or one that waits.
func (w *world) begin(task *ax.Task, status ax.Status) ax.Instance {
	w.run++
	now := time.Now()
	inst := ax.Instance{
		ID: w.run, TaskID: task.ID, TaskName: task.Name, App: task.App, Kind: ax.KindScheduled, Status: status,
		ScheduledAt: now, CreatedAt: now, Node: "n1",
	}
	if status == ax.StatusRunning {
		inst.Attempt, inst.StartedAt = 1, now
	}
	w.submit(ax.Change{Insert: []ax.Instance{inst}})
	return inst
}

func TestSlowAndLateRuns(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		w.settings.WatchRuns = true
		a, b := w.task("a"), w.task("b")
		a.WarnAfter, b.StartDeadline = 10*time.Minute, 5*time.Minute
		w.open()
		slow := w.begin(a, ax.StatusRunning)
		w.begin(b, ax.StatusDispatched)
		w.at(30 * time.Minute)
		w.wantTaken("5m10s ops: b late x1", "10m10s ops: a slow x1")
		w.kill() // a new life does not tell of it again
		w.open()
		w.at(40 * time.Minute)
		ended := slow
		ended.Status, ended.EndedAt = ax.StatusSuccess, time.Now()
		w.submit(ax.Change{Move: &ax.Move{From: ax.StatusRunning, New: ended}})
		w.begin(a, ax.StatusRunning)
		w.at(2 * time.Hour)
		w.wantTaken("5m10s ops: b late x1", "10m10s ops: a slow x1", "50m10s ops: a slow x1")
		if text := w.last().Text; !strings.Contains(text, "runs since 2026-01-01 00:40:00 UTC, longer than 10m") {
			t.Errorf("text %q", text)
		}
	})
}

// handedOver returns the tasks that hosts were asked to take over.
func (w *world) handedOver() []ax.OverdueTask {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.overdue)
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		w.settings.OverdueAfter = time.Minute
		w.task("a")
		w.task("b", on("failed"))
		w.next = map[string]time.Time{"a": start.Add(10 * time.Minute), "b": start.Add(20 * time.Minute)}
		w.open()
		w.at(10*time.Minute + 50*time.Second)
		if early := w.handedOver(); len(early) > 0 {
			t.Errorf("too early: %+v", early)
		}
		w.at(15 * time.Minute)
		w.wantTaken("11m10s ops: a overdue x1")
		w.kill()
		w.open() // it was told, and is handed over all the same
		w.at(time.Hour)
		w.wantTaken("11m10s ops: a overdue x1")
		names, handed := map[string]bool{}, w.handedOver()
		for _, task := range handed {
			names[task.Name] = true
		}
		if len(names) != 2 || !handed[0].NextAt.Equal(start.Add(10*time.Minute)) {
			t.Errorf("to be taken over: %+v", handed)
		}
	})
}

// TestEachAttempt tells of attempts that are made again, if that is asked for.
func TestEachAttempt(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		a := w.task("a", on("failed", "attempt"))
		w.open()
		w.attempt(a, ax.StatusFailed, "e1", true)
		w.at(time.Minute)
		w.fails(a, "e2")
		w.at(time.Hour)
		w.wantTaken("0s ops: a attempt x1", "10m0s ops: a failed x1")
		if text := w.taken()[0].msg.Text; !strings.Contains(text, "e1") {
			t.Errorf("text %q", text)
		}
	})
}

func TestPluginThatIsDown(t *testing.T) {
	t.Parallel()
	story(t, func(w *world) {
		w.task("a")
		w.open()
		report := func(event string) {
			w.manager.Report(ax.AlertEvent{Subject: "plugin exec on n1", Event: event, At: time.Now(), Detail: "it crashed"})
		}
		report(alert.Works)
		w.at(time.Minute)
		for range 10 {
			report(alert.PluginDown)
		}
		w.at(30 * time.Minute)
		w.kill()
		w.open()
		report(alert.PluginDown) // still
		report(alert.Works)
		report(alert.Works)
		w.at(time.Hour)
		w.wantTaken("1m0s ops: plugin exec on n1 plugin x1", "30m0s ops: plugin exec on n1 recovered x1")
		if got, want := w.last().Title, "plugin exec on n1 recovered, fixed after 29m, 1 failure"; got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	})
}

// beating returns a Manager that posts to a URL, again and again.
func beating(t *testing.T, url string) *alert.Manager {
	t.Helper()
	s := storetest.Open(t)
	m := alert.New(alert.Config{
		App: "shop", Node: "n1", Incarnation: "n1-1", Sole: true, IDs: ax.NewIDs(1), Store: s, Log: hclog.NewNullLogger(),
		Settings: func() *alert.Settings {
			return &alert.Settings{Window: time.Minute, Heartbeat: alert.Heartbeat{URL: url, Every: 50 * time.Millisecond}}
		},
		Task:   func(string) *ax.Task { return nil },
		Notify: func(context.Context, string, pluginapi.Message) (string, error) { return "", nil },
	})
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHeartbeat posts figures while this host holds the lease.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	pulses := make(chan alert.Pulse, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p alert.Pulse
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&p) != nil {
			t.Errorf("%s %s", r.Method, r.Header)
		}
		pulses <- p
	}))
	defer server.Close()
	m := beating(t, server.URL)
	m.Observe(ax.Happening{What: ax.AttemptEnded, Outcome: ax.Outcome{Status: ax.StatusFailed}})
	m.Observe(ax.Happening{What: ax.AttemptEnded, Outcome: ax.Outcome{Status: ax.StatusSuccess}})
	var ended, failed int
	for range 3 {
		p := <-pulses
		if p.App != "shop" || p.Node != "n1" || p.Seconds <= 0 || p.At.IsZero() {
			t.Errorf("pulse %+v", p)
		}
		ended, failed = ended+p.Ended, failed+p.Failed
	}
	if ended != 2 || failed != 1 {
		t.Errorf("%d attempts ended and %d failed, want 2 and 1", ended, failed)
	}
	m.Stop(t.Context())
}

// TestHeartbeatThatHangs does not hold up the end of a host.
func TestHeartbeatThatHangs(t *testing.T) {
	t.Parallel()
	called, release := make(chan struct{}, 10), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		called <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	m := beating(t, server.URL)
	<-called
	begun := time.Now()
	m.Stop(t.Context())
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("Stop took %v", took)
	}
}
