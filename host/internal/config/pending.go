package config

import (
	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
)

// What is stated and has no effect is refused, so that nobody relies on it.

// refusePending reports the keys of an object, of tasks or of the whole, that
// need other hosts where there can be none, or none that this one talks to.
func (d *decoder) refusePending(given stated) {
	switch {
	case !d.config.Store.Shared():
		for _, key := range []string{"cluster", "strategy", "nodes", "confirm_timeout"} {
			if n := given[key]; n != nil {
				d.fault(n, "%s needs a cluster database, that is store: {dsn: mysql://…}", key)
			}
		}
	case d.config.Cluster.Listen == "":
		for _, key := range []string{"strategy", "confirm_timeout"} {
			if n := given[key]; n != nil {
				d.fault(n, "%s has no effect on a host that gives no runs to others: write cluster: {listen: …, secret: …}", key)
			}
		}
	}
}

// strategy is a choice of nodes. The one that people know from other schedulers
// and that is not there is refused with what to do instead.
func strategy(to *ax.Strategy) rule {
	r := choice(to, ax.StrategyLeastTasks, ax.StrategyRoundRobin, ax.StrategyConsistentHash)
	take := r.take
	r.take = func(d *decoder, key string, n *yaml.Node) {
		if n.Value == "broadcast" {
			d.fault(n, "strategy: there is no broadcast; write a task for each host, with nodes: {LABEL: VALUE} and a label of its own in cluster: {labels: …}")
			return
		}
		take(d, key, n)
	}
	return r
}
