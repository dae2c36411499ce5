package store

import (
	"sync"
	"time"
)

// Stats counts what the writer has done since Open.
type Stats struct {
	// Applied changes are in the database; Refused ones had a condition that
	// did not hold; Failed ones an error.
	Applied, Refused, Failed uint64
	// Batches is the number of transactions committed, LargestBatch the most
	// changes in one. Retries counts transactions that a busy, full or missing
	// database has refused.
	Batches, Retries uint64
	LargestBatch     int
	// WriteTime is the time spent in committed transactions, LongestWrite the
	// longest of them, both from BEGIN to COMMIT.
	WriteTime, LongestWrite time.Duration
	// Queued is how many changes wait at this moment.
	Queued int
}

// Stats returns the counters of the writer.
func (s *Store) Stats() Stats {
	if s.writer == nil {
		return Stats{}
	}
	st := s.writer.stats.get()
	st.Queued = len(s.writer.queue)
	return st
}

type statsCounter struct {
	mu sync.Mutex
	s  Stats
}

func (c *statsCounter) get() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.s
}

func (c *statsCounter) committed(batch []*item, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Batches++
	c.s.LargestBatch = max(c.s.LargestBatch, len(batch))
	c.s.WriteTime += took
	c.s.LongestWrite = max(c.s.LongestWrite, took)
	c.count(batch)
}

// lost counts a batch that was given up.
func (c *statsCounter) lost(batch []*item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(batch)
}

func (c *statsCounter) retried() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Retries++
}

func (c *statsCounter) count(batch []*item) {
	for _, it := range batch {
		switch {
		case it.err != nil:
			c.s.Failed++
		case it.applied:
			c.s.Applied++
		default:
			c.s.Refused++
		}
	}
}
