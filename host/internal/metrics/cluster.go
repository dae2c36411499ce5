package metrics

// The ways in which an attempt is handed to another host.
const (
	Confirmed   = "confirmed"
	Full        = "full"
	Unreachable = "unreachable"
)

func (m *Metrics) countCluster() {
	m.takenOver = m.counter("ax_cluster_tasks_taken_over_total", "Tasks that this host took over from others that died, left or were cut off.").WithLabelValues()
	m.lost = m.counter("ax_cluster_attempts_given_up_total", "Attempts of hosts that died, ended as LOST by this one.").WithLabelValues()
	m.remote = m.counter("ax_cluster_dispatches_total", "Attempts that this host handed to others, by outcome: confirmed, full or unreachable.", "outcome")
	for _, outcome := range []string{Confirmed, Full, Unreachable} {
		m.remote.WithLabelValues(outcome)
	}
}

// TookOver counts tasks that this host took over.
func (m *Metrics) TookOver(tasks int) { m.takenOver.Add(float64(tasks)) }

// GaveUp counts an attempt of a dead host.
func (m *Metrics) GaveUp() { m.lost.Inc() }

// Dispatched counts an attempt handed to another host: Confirmed, Full or
// Unreachable.
func (m *Metrics) Dispatched(outcome string) { m.remote.WithLabelValues(outcome).Inc() }
