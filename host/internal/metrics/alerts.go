package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/axsched/ax/host/internal/ax"
)

// AlertTried counts a try to deliver a message: sent, failed (it is tried again)
// or given_up.
func (m *Metrics) AlertTried(notifier string, outcome ax.AlertState) {
	m.alerts.WithLabelValues(notifier, string(outcome)).Inc()
}

var (
	alertsWaiting = alertDesc("ax_alerts_waiting", "Messages that gather or wait to be delivered, of all hosts.")
	alertsDead    = alertDesc("ax_alerts_dead", "Dead letters, of all hosts.")
	alertsOldest  = alertDesc("ax_alerts_oldest_waiting_seconds", "For how long the oldest message should have been delivered.")
)

func alertDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"notifier"}, nil)
}

// alertQueues reads what waits for notifiers when it is asked for.
type alertQueues struct {
	read func() ([]ax.AlertQueue, error)
	now  func() time.Time
}

// Describe implements prometheus.Collector.
func (*alertQueues) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{alertsWaiting, alertsDead, alertsOldest} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. If the database does not answer these
// figures are missing; the others are not.
func (q *alertQueues) Collect(ch chan<- prometheus.Metric) {
	queues, err := q.read()
	if err != nil {
		return
	}
	now := q.now()
	gauge := func(desc *prometheus.Desc, value float64, notifier string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, notifier)
	}
	for _, queue := range queues {
		var late time.Duration
		if !queue.Since.IsZero() {
			late = max(now.Sub(queue.Since), 0)
		}
		gauge(alertsWaiting, float64(queue.Waiting), queue.Notifier)
		gauge(alertsDead, float64(queue.Dead), queue.Notifier)
		gauge(alertsOldest, late.Seconds(), queue.Notifier)
	}
}
