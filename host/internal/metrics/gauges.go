package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Gauges are figures that are read when they are asked for. Those that are nil are
// not shown.
type Gauges struct {
	Pool        func() Pool
	Tasks       func() (all, parked int)
	Writer      func() Writer
	ClockOffset func() time.Duration
	Plugins     func() []Plugin
	// Cluster counts the hosts of the app by their states.
	Cluster func() map[string]int
	// Spool is what waits for the database on disk, and since when.
	Spool  func() (n int, oldest time.Time, err error)
	Traces func() (sent, failed, dropped uint64)
	// Alerts reads what waits for notifiers from the database, whose clock Now is.
	Alerts func() ([]ax.AlertQueue, error)
	Now    func() time.Time
}

// Pool is the executor's.
type Pool struct {
	Running, Queued, Workers, Limit int
	// Refused is how often an attempt found neither a worker nor a place so far.
	Refused uint64
}

// Writer is the group-commit writer of the store.
type Writer struct {
	Queued                            int
	Batches, Changes, Failed, Retries uint64
}

// Plugin is a plugin of this host.
type Plugin struct {
	Name, Version, State string
	Restarts, Running    int
}

func (m *Metrics) readGauges(g Gauges) {
	m.readPool(g.Pool)
	m.readTasks(g.Tasks)
	m.readWriter(g.Writer)
	m.readPlugins(g.Plugins)
	m.readFleet(g.Cluster, g.ClockOffset)
	m.readSpool(g.Spool, g.Now)
	m.readTraces(g.Traces)
	m.readAlerts(g.Alerts, g.Now)
}

func (m *Metrics) reader() *reader { return &reader{cat: &m.catalogue} }

func (m *Metrics) readPool(read func() Pool) {
	r := m.reader()
	running := r.gauge("ax_running", "Attempts that run on this host.")
	queued := r.gauge("ax_queue_depth", "Attempts that wait for a worker on this host.")
	workers := r.gauge("ax_workers", "Workers of this host.")
	limit := r.gauge("ax_queue_limit", "Places for attempts that wait.")
	refused := r.counter("ax_pool_full_total", "How often an attempt found neither a worker nor a place in the queue; it waits as due then.")
	r.register(func(tell tell) {
		p := read()
		tell(running, float64(p.Running))
		tell(queued, float64(p.Queued))
		tell(workers, float64(p.Workers))
		tell(limit, float64(p.Limit))
		tell(refused, float64(p.Refused))
	})
}

func (m *Metrics) readTasks(read func() (all, parked int)) {
	r := m.reader()
	tasks := r.gauge("ax_tasks", "Tasks of the app that this host knows.")
	parked := r.gauge("ax_tasks_parked", "Those of them that are parked at the moment.")
	r.register(func(tell tell) {
		n, p := read()
		tell(tasks, float64(n))
		tell(parked, float64(p))
	})
}

func (m *Metrics) readWriter(read func() Writer) {
	r := m.reader()
	queued := r.gauge("ax_writer_queue", "Changes that wait for the database.")
	batches := r.counter("ax_writer_batches_total", "Transactions of the group-commit writer.")
	changes := r.counter("ax_writer_changes_total", "Changes that the group-commit writer has written.")
	failed := r.counter("ax_writer_failed_total", "Changes that it could not write.")
	retries := r.counter("ax_writer_retries_total", "Transactions that it had to try again.")
	r.register(func(tell tell) {
		w := read()
		tell(queued, float64(w.Queued))
		tell(batches, float64(w.Batches))
		tell(changes, float64(w.Changes))
		tell(failed, float64(w.Failed))
		tell(retries, float64(w.Retries))
	})
}

// pluginStates are all states; one of them is 1.
var pluginStates = []string{"ready", "starting", "backoff", "quarantined", "draining", "refused", "gone"}

func (m *Metrics) readPlugins(read func() []Plugin) {
	r := m.reader()
	state := r.gauge("ax_plugin_state", "1 for the state that a plugin is in, 0 for the others.", "plugin", "state")
	info := r.gauge("ax_plugin_info", "1, with the version in service as a label.", "plugin", "version")
	restarts := r.counter("ax_plugin_restarts_total", "Unwanted ends of processes of a plugin.", "plugin")
	running := r.gauge("ax_plugin_running", "Calls and runs of a plugin that are under way.", "plugin")
	r.register(func(tell tell) {
		for _, p := range read() {
			for _, s := range pluginStates {
				value := 0.0
				if s == p.State {
					value = 1
				}
				tell(state, value, p.Name, s)
			}
			tell(info, 1, p.Name, p.Version)
			tell(restarts, float64(p.Restarts), p.Name)
			tell(running, float64(p.Running), p.Name)
		}
	})
}

func (m *Metrics) readFleet(hosts func() map[string]int, offset func() time.Duration) {
	r := m.reader()
	nodes := r.gauge("ax_cluster_hosts", "Hosts of the app as this one sees them, by state: live, draining, suspect (cannot be reached), silent or dead.", "state")
	clock := r.gauge("ax_clock_offset_seconds", "Clock of this host minus that of the database.")
	r.register(func(tell tell) {
		states := hosts()
		for _, state := range slices.Sorted(maps.Keys(states)) {
			tell(nodes, float64(states[state]), state)
		}
		tell(clock, offset().Seconds())
	})
}

func (m *Metrics) readSpool(read func() (int, time.Time, error), now func() time.Time) {
	r := m.reader()
	pending := r.gauge("ax_spool_pending", "Outcomes on disk that the database has not taken yet.")
	oldest := r.gauge("ax_spool_oldest_seconds", "For how long the oldest of them waits.")
	r.register(func(tell tell) {
		n, at, err := read()
		if err != nil {
			return
		}
		tell(pending, float64(n))
		tell(oldest, since(now(), at))
	})
}

func (m *Metrics) readTraces(read func() (sent, failed, dropped uint64)) {
	r := m.reader()
	spans := r.counter("ax_trace_spans_total", "Spans for the collector of traces, by outcome: sent, failed, or dropped since the queue was full.", "outcome")
	r.register(func(tell tell) {
		sent, failed, dropped := read()
		tell(spans, float64(sent), "sent")
		tell(spans, float64(failed), "failed")
		tell(spans, float64(dropped), "dropped")
	})
}

func (m *Metrics) readAlerts(read func() ([]ax.AlertQueue, error), now func() time.Time) {
	r := m.reader()
	waiting := r.gauge("ax_alerts_waiting", "Messages that gather or wait to be delivered, of all hosts.", "notifier")
	dead := r.gauge("ax_alerts_dead", "Dead letters, of all hosts.", "notifier")
	oldest := r.gauge("ax_alerts_oldest_waiting_seconds", "For how long the oldest message should have been delivered.", "notifier")
	r.register(func(tell tell) {
		queues, err := read()
		if err != nil {
			return
		}
		at := now()
		for _, q := range queues {
			tell(waiting, float64(q.Waiting), q.Notifier)
			tell(dead, float64(q.Dead), q.Notifier)
			tell(oldest, since(at, q.Since), q.Notifier)
		}
	})
}
