// Package metrics counts what happens in a host and serves it to Prometheus.
//
// Names and units follow the conventions of Prometheus. Labels are words of ax
// itself and names of plugins, notifiers and states, of which there are few; names
// of tasks are labels only where that was asked for.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/axsched/ax/host/internal/ax"
)

// Config says what is counted.
type Config struct {
	Gauges
	// Version is that of the program, Database the kind: sqlite or mysql.
	Version, Database string
	// ByTask asks for metrics with a label task.
	ByTask bool
}

// Metrics holds a registry of its own, so that several hosts fit into one
// process.
type Metrics struct {
	catalogue

	due, started, parked prometheus.Counter
	takenOver, lost      prometheus.Counter
	lateness, duration   prometheus.Observer

	attempts, runs, dropped  *prometheus.CounterVec
	alerts, dbErrors, remote *prometheus.CounterVec
	dbTime                   *prometheus.HistogramVec

	tasks *byTask // nil unless asked for
}

// Buckets of histograms, in seconds.
var (
	latenessBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 60, 300}
	durationBuckets = []float64{.001, .01, .1, .5, 1, 5, 15, 60, 300, 900, 3600}
	databaseBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
)

// New returns Metrics that count from zero. What can be counted by a few words is
// there from the start, so that the first failure is a rise and not a beginning.
func New(cfg Config) *Metrics {
	m := &Metrics{catalogue: catalogue{registry: prometheus.NewRegistry()}}
	m.countRuns()
	m.countDatabase()
	m.countCluster()
	m.alerts = m.counter("ax_alerts_total", "Tries of this host to deliver a message, by outcome: sent, failed (it is tried again) or given_up.", "notifier", "outcome")
	m.gauge("ax_build_info", "1, with the version of the program, that of Go and the kind of database as labels.", "version", "goversion", "database").
		WithLabelValues(cfg.Version, goVersion(), cfg.Database).Set(1)
	if cfg.ByTask {
		m.tasks = newByTask(&m.catalogue)
	}
	m.readGauges(cfg.Gauges)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *Metrics) countRuns() {
	m.due = m.counter("ax_due_times_total", "Due times of which this host wrote the record, whatever became of them.").WithLabelValues()
	m.started = m.counter("ax_attempts_started_total", "Attempts that this host began.").WithLabelValues()
	m.attempts = m.counter("ax_attempts_total", "Attempts that ended, by outcome.", "status")
	m.runs = m.counter("ax_runs_total", "Runs that are over, by their last outcome; also due times that did not run.", "status")
	m.dropped = m.counter("ax_due_times_dropped_total", "Due times that did not run, by reason: missed or skipped.", "reason")
	m.parked = m.counter("ax_tasks_parked_total", "How often a task had to be parked.").WithLabelValues()
	m.lateness = m.histogram("ax_start_lateness_seconds", "Start of the first attempt of a due time minus the due time.", latenessBuckets).WithLabelValues()
	m.duration = m.histogram("ax_attempt_duration_seconds", "Duration of attempts.", durationBuckets).WithLabelValues()
	for _, s := range ax.Statuses() {
		if s.Final() && s != ax.StatusMissed && s != ax.StatusSkipped {
			m.attempts.WithLabelValues(string(s))
		}
		if s.Final() {
			m.runs.WithLabelValues(string(s))
		}
	}
	m.dropped.WithLabelValues("missed")
	m.dropped.WithLabelValues("skipped")
}

// Handler serves the formats of Prometheus and OpenMetrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// DueRecorded counts due times of which a record was written.
func (m *Metrics) DueRecorded(n int) { m.due.Add(float64(n)) }

// Observe counts a happening.
func (m *Metrics) Observe(h ax.Happening) {
	switch h.What {
	case ax.AttemptStarted:
		m.started.Inc()
		if h.Instance.Kind == ax.KindScheduled && h.Instance.Attempt == 1 {
			m.lateness.Observe(h.At.Sub(h.Instance.ScheduledAt).Seconds())
		}
	case ax.AttemptEnded:
		m.ended(&h)
	case ax.DueMissed:
		n := float64(max(h.Instance.Missed, 1))
		m.dropped.WithLabelValues("missed").Add(n)
		m.runs.WithLabelValues(string(ax.StatusMissed)).Add(n)
	case ax.DueSkipped:
		m.dropped.WithLabelValues("skipped").Inc()
		m.runs.WithLabelValues(string(ax.StatusSkipped)).Inc()
	case ax.TaskParked:
		m.parked.Inc()
	case ax.TaskUnparked:
	}
}

func (m *Metrics) ended(h *ax.Happening) {
	took := h.Outcome.EndedAt.Sub(h.Outcome.StartedAt)
	m.attempts.WithLabelValues(string(h.Outcome.Status)).Inc()
	m.duration.Observe(took.Seconds())
	if !h.Instance.Status.Final() {
		return
	}
	m.runs.WithLabelValues(string(h.Instance.Status)).Inc()
	if m.tasks != nil {
		m.tasks.ended(&h.Instance, took)
	}
}

// AlertTried counts a try to deliver a message: sent, failed (it is tried again)
// or given_up.
func (m *Metrics) AlertTried(notifier string, outcome ax.AlertState) {
	m.alerts.WithLabelValues(notifier, string(outcome)).Inc()
}

// Notifier begins to count for a notifier.
func (m *Metrics) Notifier(name string) {
	for _, outcome := range []ax.AlertState{ax.AlertSent, ax.AlertFailed, ax.AlertGivenUp} {
		m.alerts.WithLabelValues(name, string(outcome))
	}
}

// KeepTasks drops what is counted by task of those that are not there any more.
func (m *Metrics) KeepTasks(there func(name string) bool) {
	if m.tasks != nil {
		m.tasks.keep(there)
	}
}

// since is how long ago something was, in seconds; zero if it never was.
func since(now, at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return max(now.Sub(at), 0).Seconds()
}
