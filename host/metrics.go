package host

import (
	"context"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/cluster"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/metrics"
	"github.com/axsched/ax/host/internal/store"
)

// scrapeTimeout bounds what a scrape of the metrics asks of the database.
const scrapeTimeout = 3 * time.Second

func (h *Host) openMetrics(cfg *config.Config) {
	database := "sqlite"
	if cfg.Store.Shared() {
		database = "mysql"
	}
	h.metrics = metrics.New(metrics.Config{
		Gauges: h.gauges(), Version: h.opts.Version, Database: database, ByTask: cfg.Metrics.ByTask,
	})
}

func (h *Host) databaseWorked(op store.Operation, took time.Duration, fault store.Fault) {
	h.metrics.Database(string(op), took, string(fault))
}

func (h *Host) gauges() metrics.Gauges {
	return metrics.Gauges{
		Pool: h.poolFigures, Writer: h.writerFigures, Plugins: h.pluginFigures, Cluster: h.clusterFigures,
		Tasks:       func() (all, parked int) { return h.engine.Count() },
		ClockOffset: func() time.Duration { return h.fleet.view.Offset() },
		Spool:       h.spoolFigures, Alerts: h.alertQueues, Now: h.now,
		Traces: func() (sent, failed, dropped uint64) {
			s := h.traces.Stats()
			return s.Sent, s.Failed, s.Dropped
		},
	}
}

func (h *Host) poolFigures() metrics.Pool {
	var p metrics.Pool
	p.Running, p.Queued = h.executor.Counts()
	p.Workers, p.Limit = h.executor.Size()
	p.Refused = h.executor.Refused()
	return p
}

func (h *Host) writerFigures() metrics.Writer {
	s := h.store.Stats()
	return metrics.Writer{Queued: s.Queued, Batches: s.Batches, Changes: s.Applied, Failed: s.Failed, Retries: s.Retries}
}

func (h *Host) pluginFigures() []metrics.Plugin {
	var all []metrics.Plugin
	for _, p := range h.plugins.Plugins() {
		all = append(all, metrics.Plugin{
			Name: p.Name, Version: p.Version, State: stateText(p.State), Restarts: p.Restarts, Running: p.InFlight,
		})
	}
	return all
}

// clusterFigures counts the hosts of the app by state, as this one sees them.
func (h *Host) clusterFigures() map[string]int {
	states := map[string]int{"live": 0, "draining": 0, "suspect": 0, "silent": 0, "dead": 0}
	s := h.fleet.view.Snapshot()
	for i := range s.Members {
		switch m := &s.Members[i]; {
		case m.Standing == cluster.Dead:
			states["dead"]++
		case m.Suspect:
			states["suspect"]++
		case m.Standing != cluster.Live:
			states["silent"]++
		case m.Draining:
			states["draining"]++
		default:
			states["live"]++
		}
	}
	return states
}

// spoolFigures is what waits on disk; nothing without a spool.
func (h *Host) spoolFigures() (n int, oldest time.Time, err error) {
	if h.spool == nil {
		return 0, time.Time{}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	return h.spool.Pending(ctx)
}

// alertQueues reads what waits for notifiers: those of the configuration, and
// others that were told something earlier.
func (h *Host) alertQueues() ([]ax.AlertQueue, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	cfg := h.live.Load().cfg
	queues, err := h.store.AlertQueues(ctx, cfg.App)
	if err != nil {
		return nil, err
	}
	for name := range cfg.Receivers {
		if !slices.ContainsFunc(queues, func(q ax.AlertQueue) bool { return q.Notifier == name }) {
			queues = append(queues, ax.AlertQueue{Notifier: name})
		}
	}
	return queues, nil
}

// rescued is told of each attempt of a dead host that this one has ended.
func (h *Host) rescued(end ax.Ended) {
	h.metrics.GaveUp()
	h.ended(end)
}
