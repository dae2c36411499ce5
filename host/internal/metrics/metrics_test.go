package metrics

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/axsched/ax/host/internal/ax"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// quiet are the figures of a host in which nothing happens.
func quiet() Gauges {
	return Gauges{
		Pool: func() Pool { return Pool{} }, Tasks: func() (int, int) { return 0, 0 }, Writer: func() Writer { return Writer{} },
		ClockOffset: func() time.Duration { return 0 }, Plugins: func() []Plugin { return nil },
		Cluster: func() map[string]int { return nil },
		Spool:   func() (int, time.Time, error) { return 0, time.Time{}, nil },
		Traces:  func() (sent, failed, dropped uint64) { return 0, 0, 0 },
		Alerts:  func() ([]ax.AlertQueue, error) { return nil, nil },
		Now:     func() time.Time { return noon },
	}
}

// lines returns the samples of the metrics whose names begin so.
func lines(t *testing.T, m *Metrics, prefix string) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	var found []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// want holds samples against what is wanted.
func want(t *testing.T, m *Metrics, prefix, want string) {
	t.Helper()
	if got := lines(t, m, prefix); got != want {
		t.Errorf("%s: got\n%swant\n%s", prefix, got, want)
	}
}

// TestAlerts: what was tried here, and what waits in the database.
func TestAlerts(t *testing.T) {
	t.Parallel()
	var down error
	g := quiet()
	g.Alerts = func() ([]ax.AlertQueue, error) {
		return []ax.AlertQueue{
			{Notifier: "dev", Waiting: 1, Since: noon.Add(time.Minute)},
			{Notifier: "old", Dead: 2},
			{Notifier: "ops", Waiting: 3, Since: noon.Add(-90 * time.Second)},
		}, down
	}
	m := New(Config{Gauges: g})
	m.Notifier("ops")
	m.AlertTried("ops", ax.AlertFailed)
	m.AlertTried("ops", ax.AlertSent)
	m.AlertTried("ops", ax.AlertSent)
	want(t, m, "ax_alerts_", `ax_alerts_dead{notifier="dev"} 0
ax_alerts_dead{notifier="old"} 2
ax_alerts_dead{notifier="ops"} 0
ax_alerts_oldest_waiting_seconds{notifier="dev"} 0
ax_alerts_oldest_waiting_seconds{notifier="old"} 0
ax_alerts_oldest_waiting_seconds{notifier="ops"} 90
ax_alerts_total{notifier="ops",outcome="failed"} 1
ax_alerts_total{notifier="ops",outcome="given_up"} 0
ax_alerts_total{notifier="ops",outcome="sent"} 2
ax_alerts_waiting{notifier="dev"} 1
ax_alerts_waiting{notifier="old"} 0
ax_alerts_waiting{notifier="ops"} 3
`)
	down = errors.New("the database is gone")
	if got := lines(t, m, "ax_"); !strings.Contains(got, "ax_alerts_total") || strings.Contains(got, "ax_alerts_waiting") || !strings.Contains(got, "ax_running 0") {
		t.Errorf("without a database got\n%s", got)
	}
}

// TestRuns: what is counted begins at zero, and each happening counts once.
func TestRuns(t *testing.T) {
	t.Parallel()
	m := New(Config{Gauges: quiet(), Version: "1.2.3", Database: "sqlite"})
	if got := lines(t, m, `ax_runs_total{status="FAILED"} `); got != "ax_runs_total{status=\"FAILED\"} 0\n" {
		t.Errorf("a new host says %q", got)
	}
	inst := ax.Instance{Kind: ax.KindScheduled, Attempt: 1, ScheduledAt: noon, TaskName: "a"}
	m.DueRecorded(1)
	m.Observe(ax.Happening{What: ax.AttemptStarted, At: noon.Add(20 * time.Millisecond), Instance: inst})
	out := ax.Outcome{Status: ax.StatusFailed, StartedAt: noon, EndedAt: noon.Add(2 * time.Second)}
	inst.Status = ax.StatusRetrying
	m.Observe(ax.Happening{What: ax.AttemptEnded, Instance: inst, Outcome: out})
	inst.Attempt, inst.Status, out.Status = 2, ax.StatusSuccess, ax.StatusSuccess
	m.Observe(ax.Happening{What: ax.AttemptStarted, At: noon.Add(time.Minute), Instance: inst})
	m.Observe(ax.Happening{What: ax.AttemptEnded, Instance: inst, Outcome: out})
	m.Observe(ax.Happening{What: ax.DueMissed, Instance: ax.Instance{Missed: 3}})
	m.Observe(ax.Happening{What: ax.DueSkipped})
	m.Observe(ax.Happening{What: ax.TaskParked})
	want(t, m, "ax_attempts_total", `ax_attempts_total{status="CANCELED"} 0
ax_attempts_total{status="FAILED"} 1
ax_attempts_total{status="LOST"} 0
ax_attempts_total{status="SUCCESS"} 1
ax_attempts_total{status="TIMEOUT"} 0
`)
	want(t, m, "ax_runs_total", `ax_runs_total{status="CANCELED"} 0
ax_runs_total{status="FAILED"} 0
ax_runs_total{status="LOST"} 0
ax_runs_total{status="MISSED"} 3
ax_runs_total{status="SKIPPED"} 1
ax_runs_total{status="SUCCESS"} 1
ax_runs_total{status="TIMEOUT"} 0
`)
	want(t, m, "ax_due_times", "ax_due_times_dropped_total{reason=\"missed\"} 3\nax_due_times_dropped_total{reason=\"skipped\"} 1\nax_due_times_total 1\n")
	want(t, m, "ax_start_lateness_seconds_bucket{le=\"0.01\"}", "ax_start_lateness_seconds_bucket{le=\"0.01\"} 0\n")
	want(t, m, "ax_start_lateness_seconds_count", "ax_start_lateness_seconds_count 1\n")
	want(t, m, "ax_attempt_duration_seconds_sum", "ax_attempt_duration_seconds_sum 4\n")
	want(t, m, "ax_tasks_parked_total", "ax_tasks_parked_total 1\n")
	if got := lines(t, m, "ax_build_info"); !strings.Contains(got, `version="1.2.3"`) || !strings.Contains(got, `database="sqlite"`) {
		t.Errorf("build: %s", got)
	}
}

// TestFigures are read when they are asked for.
func TestFigures(t *testing.T) {
	t.Parallel()
	g := quiet()
	g.Plugins = func() []Plugin {
		return []Plugin{{Name: "exec", Version: "1.0", State: "backoff", Restarts: 2, Running: 1}}
	}
	g.Cluster = func() map[string]int { return map[string]int{"live": 2, "dead": 1} }
	g.Spool = func() (int, time.Time, error) { return 7, noon.Add(-time.Minute), nil }
	g.Pool = func() Pool { return Pool{Running: 1, Queued: 2, Workers: 3, Limit: 4, Refused: 5} }
	g.Traces = func() (sent, failed, dropped uint64) { return 1, 2, 3 }
	m := New(Config{Gauges: g})
	m.Database("write", 3*time.Millisecond, "")
	m.Database("read", 3*time.Second, "unavailable")
	m.TookOver(4)
	m.GaveUp()
	m.Dispatched(Full)
	for prefix, text := range map[string]string{
		`ax_plugin_state{plugin="exec",state="backoff"}`:                  "1",
		`ax_plugin_state{plugin="exec",state="ready"}`:                    "0",
		`ax_plugin_restarts_total{plugin="exec"}`:                         "2",
		`ax_plugin_info{plugin="exec",version="1.0"}`:                     "1",
		`ax_plugin_running{plugin="exec"}`:                                "1",
		`ax_cluster_hosts{state="live"}`:                                  "2",
		`ax_cluster_tasks_taken_over_total`:                               "4",
		`ax_cluster_attempts_given_up_total`:                              "1",
		`ax_cluster_dispatches_total{outcome="full"}`:                     "1",
		`ax_spool_pending`:                                                "7",
		`ax_spool_oldest_seconds`:                                         "60",
		`ax_pool_full_total`:                                              "5",
		`ax_queue_limit`:                                                  "4",
		`ax_database_seconds_bucket{operation="write",le="0.0025"}`:       "0",
		`ax_database_seconds_bucket{operation="write",le="0.005"}`:        "1",
		`ax_database_errors_total{operation="read",reason="unavailable"}`: "1",
		`ax_database_errors_total{operation="change",reason="collision"}`: "0",
		`ax_trace_spans_total{outcome="dropped"}`:                         "3",
	} {
		want(t, m, prefix, prefix+" "+text+"\n")
	}
}

// TestByTask: series with names of tasks are there if asked for, and go with the
// task.
func TestByTask(t *testing.T) {
	t.Parallel()
	end := func(m *Metrics, task string) {
		m.Observe(ax.Happening{
			What: ax.AttemptEnded, Instance: ax.Instance{TaskName: task, Status: ax.StatusSuccess, EndedAt: noon},
			Outcome: ax.Outcome{Status: ax.StatusSuccess, StartedAt: noon, EndedAt: noon.Add(time.Second)},
		})
	}
	plain := New(Config{Gauges: quiet()})
	end(plain, "a")
	plain.KeepTasks(func(string) bool { return false })
	if got := lines(t, plain, "ax_task_"); got != "" {
		t.Errorf("nobody asked for\n%s", got)
	}
	m := New(Config{Gauges: quiet(), ByTask: true})
	end(m, "a")
	end(m, "b")
	m.KeepTasks(func(name string) bool { return name == "b" })
	want(t, m, "ax_task_", `ax_task_last_duration_seconds{task="b"} 1
ax_task_last_success_timestamp_seconds{task="b"} 1.7723664e+09
ax_task_runs_total{status="SUCCESS",task="b"} 1
`)
}

// TestConventions: names, units and helps are as the linter of Prometheus wants
// them.
func TestConventions(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	New(Config{Gauges: quiet(), ByTask: true}).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	problems, err := promlint.New(w.Body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "ax_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// TestOpenMetrics is served to those who ask for it.
func TestOpenMetrics(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	New(Config{Gauges: quiet()}).Handler().ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text") || !strings.HasSuffix(w.Body.String(), "# EOF\n") {
		t.Errorf("got %s: …%s", got, w.Body.String()[max(w.Body.Len()-100, 0):])
	}
}
