// Package metrics counts what happens in a host and serves it to Prometheus.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/axsched/ax/host/internal/ax"
)

// Gauges are figures that are read when they are asked for.
type Gauges struct {
	Running, Queued func() float64
	WriterQueue     func() float64
	WriterBatches   func() float64
	WriterChanges   func() float64
	ClockOffset     func() float64 // seconds
	// Alerts reads what waits for notifiers from the database, whose clock Now is.
	Alerts func() ([]ax.AlertQueue, error)
	Now    func() time.Time
}

// Metrics holds a registry of its own, so that several hosts fit into one
// process.
type Metrics struct {
	registry *prometheus.Registry
	attempts *prometheus.CounterVec
	dropped  *prometheus.CounterVec
	parked   prometheus.Counter
	alerts   *prometheus.CounterVec
	lateness prometheus.Histogram
	duration prometheus.Histogram
}

// New returns Metrics that count from zero.
func New(g Gauges) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ax_attempts_total", Help: "Attempts that ended, by outcome.",
		}, []string{"status"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ax_due_times_dropped_total", Help: "Due times that did not run, by reason: missed or skipped.",
		}, []string{"reason"}),
		parked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ax_tasks_parked_total", Help: "How often a task had to be parked.",
		}),
		alerts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ax_alerts_total", Help: "Tries of this host to deliver a message, by notifier and outcome: sent, failed or given_up.",
		}, []string{"notifier", "outcome"}),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ax_start_lateness_seconds", Help: "Start of the first attempt of a due time minus the due time.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 60, 300},
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ax_attempt_duration_seconds", Help: "Duration of attempts.",
			Buckets: []float64{.001, .01, .1, .5, 1, 5, 15, 60, 300, 900, 3600},
		}),
	}
	m.registry.MustRegister(m.attempts, m.dropped, m.parked, m.alerts, m.lateness, m.duration, &alertQueues{g.Alerts, g.Now},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gauge("ax_running", "Attempts that run on this host.", g.Running)
	m.gauge("ax_queue_depth", "Attempts that wait for a worker on this host.", g.Queued)
	m.gauge("ax_writer_queue", "Changes that wait for the database.", g.WriterQueue)
	m.gauge("ax_clock_offset_seconds", "Clock of this host minus that of the database.", g.ClockOffset)
	m.counter("ax_writer_batches_total", "Transactions of the group-commit writer.", g.WriterBatches)
	m.counter("ax_writer_changes_total", "Changes that the group-commit writer has written.", g.WriterChanges)
	return m
}

func (m *Metrics) gauge(name, help string, f func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
}

func (m *Metrics) counter(name, help string, f func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, f))
}

// Handler serves the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Observe counts a happening.
func (m *Metrics) Observe(h ax.Happening) {
	switch h.What {
	case ax.AttemptStarted:
		if h.Instance.Kind == ax.KindScheduled && h.Instance.Attempt == 1 {
			m.lateness.Observe(h.At.Sub(h.Instance.ScheduledAt).Seconds())
		}
	case ax.AttemptEnded:
		m.attempts.WithLabelValues(string(h.Outcome.Status)).Inc()
		m.duration.Observe(h.Outcome.EndedAt.Sub(h.Outcome.StartedAt).Seconds())
	case ax.DueMissed:
		m.dropped.WithLabelValues("missed").Add(float64(max(h.Instance.Missed, 1)))
	case ax.DueSkipped:
		m.dropped.WithLabelValues("skipped").Inc()
	case ax.TaskParked:
		m.parked.Inc()
	case ax.TaskUnparked:
	}
}
