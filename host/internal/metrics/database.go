package metrics

import (
	"runtime"
	"time"
)

// The kinds of work of the database and of its faults are words of package store.
var (
	databaseWork   = []string{"write", "change", "read"}
	databaseFaults = []string{"collision", "unavailable", "other"}
)

func (m *Metrics) countDatabase() {
	m.dbTime = m.histogram("ax_database_seconds",
		"How long the database takes: write is a transaction of the group-commit writer, change another transaction, read a query until its first row.",
		databaseBuckets, "operation")
	m.dbErrors = m.counter("ax_database_errors_total",
		"What the database refused, by operation and reason: collision with another host (it is done again), unavailable, or other.",
		"operation", "reason")
	for _, work := range databaseWork {
		m.dbTime.WithLabelValues(work)
		for _, fault := range databaseFaults {
			m.dbErrors.WithLabelValues(work, fault)
		}
	}
}

// Database counts a piece of work of the database; fault is empty if it was done.
func (m *Metrics) Database(operation string, took time.Duration, fault string) {
	m.dbTime.WithLabelValues(operation).Observe(took.Seconds())
	if fault != "" {
		m.dbErrors.WithLabelValues(operation, fault).Inc()
	}
}

func goVersion() string { return runtime.Version() }
