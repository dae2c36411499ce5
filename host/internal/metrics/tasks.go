package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/axsched/ax/host/internal/ax"
)

// byTask counts with the name of the task as a label: as many series as there are
// tasks, which is why somebody has to ask for it.
type byTask struct {
	runs     *prometheus.CounterVec
	duration *prometheus.GaugeVec
	success  *prometheus.GaugeVec

	mu    sync.Mutex
	names map[string]bool
}

func newByTask(c *catalogue) *byTask {
	return &byTask{
		runs:     c.counter("ax_task_runs_total", "Runs of a task that are over, by their last outcome.", "task", "status"),
		duration: c.gauge("ax_task_last_duration_seconds", "Duration of the newest attempt of a task that ended a run.", "task"),
		success:  c.gauge("ax_task_last_success_timestamp_seconds", "When a run of the task was last a success on this host, as Unix time.", "task"),
		names:    map[string]bool{},
	}
}

func (b *byTask) ended(inst *ax.Instance, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names[inst.TaskName] = true
	b.runs.WithLabelValues(inst.TaskName, string(inst.Status)).Inc()
	b.duration.WithLabelValues(inst.TaskName).Set(took.Seconds())
	if inst.Status == ax.StatusSuccess {
		b.success.WithLabelValues(inst.TaskName).Set(float64(inst.EndedAt.UnixMilli()) / 1000)
	}
}

func (b *byTask) keep(there func(name string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.names {
		if there(name) {
			continue
		}
		delete(b.names, name)
		of := prometheus.Labels{"task": name}
		b.runs.DeletePartialMatch(of)
		b.duration.DeletePartialMatch(of)
		b.success.DeletePartialMatch(of)
	}
}
