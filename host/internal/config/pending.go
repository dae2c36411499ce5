package config

// pending are keys that nothing heeds without a cluster: what is stated and has
// no effect is refused, so that nobody relies on it. A key goes from the list
// when a host by itself heeds it, and this file with the last of them.
func pending() []string {
	return []string{"cluster", "strategy", "nodes", "confirm_timeout"}
}

// refusePending reports the pending keys of an object.
func (d *decoder) refusePending(given stated) {
	if d.config.Store.Shared() {
		return
	}
	for _, key := range pending() {
		if n := given[key]; n != nil {
			d.fault(n, "%s needs a cluster database, that is store: {dsn: mysql://…}", key)
		}
	}
}
