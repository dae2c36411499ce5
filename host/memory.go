package host

import "runtime/debug"

// loadingPercent is the collector's target while a configuration is loaded,
// which makes several times as much garbage as it keeps: with ten thousand
// tasks, a hundred megabytes that the host would never need again.
const loadingPercent = 30

// thrifty makes the garbage collector work harder until the returned function
// is called.
func thrifty() (done func()) {
	percent := debug.SetGCPercent(loadingPercent)
	return func() { debug.SetGCPercent(percent) }
}

// release gives memory that is free back to the system, which the collector
// does by itself as well, but in minutes.
func release() { debug.FreeOSMemory() }
