package config

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
