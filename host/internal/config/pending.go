package config

// pending are keys that are read and checked, and that nothing heeds yet: what
// is stated and has no effect is refused, so that nobody relies on it. A key
// goes from the list when what it says is done, the file with the last key.
func (d *decoder) pending() map[string]string {
	keys := map[string]string{}
	if !d.config.Store.Shared() {
		for _, key := range []string{"cluster", "strategy", "nodes", "confirm_timeout"} {
			keys[key] = "needs a cluster database, that is store: {dsn: mysql://…}"
		}
	}
	return keys
}

// refusePending reports the pending keys of an object.
func (d *decoder) refusePending(given stated) {
	for key, problem := range d.pending() {
		if n := given[key]; n != nil {
			d.fault(n, "%s %s", key, problem)
		}
	}
}
