package wire

import (
	"sync"
	"time"
)

// Bounds of what a run's lines may take while the host does not read, and of
// one batch on the wire.
const (
	ringLines  = 16_384
	ringBytes  = 4 << 20
	batchLines = 128
	batchBytes = 1 << 20
)

// rank orders lines by how much they matter; the lowest are dropped first.
type rank int

const (
	rankTrace rank = iota
	rankDebug
	rankOutput
	rankInfo
	rankWarn
	rankError
	rankCount
)

// levelOutput is the level of a line of the run's own output.
const levelOutput = "output"

func rankOf(level string) rank {
	switch level {
	case "trace":
		return rankTrace
	case "debug":
		return rankDebug
	case levelOutput:
		return rankOutput
	case "warn":
		return rankWarn
	case "error":
		return rankError
	}
	return rankInfo
}

// line is one log line of a run.
type line struct {
	at    time.Time
	level string
	text  string
	seq   uint64
}

// ring holds the lines that are not sent yet. Adding never waits: when the ring
// is full it drops the oldest line of the lowest rank, and counts it.
type ring struct {
	// wake has a value when lines were added, full when a batch is complete.
	wake, full chan struct{}

	mu      sync.Mutex
	ranks   [rankCount]queue
	lines   int
	bytes   int
	seq     uint64
	dropped uint64 // since the last batch
	closed  bool
}

func newRing() *ring {
	return &ring{wake: make(chan struct{}, 1), full: make(chan struct{}, 1)}
}

// add takes a line, unless the ring is closed.
func (r *ring) add(l line) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	l.seq = r.seq
	r.seq++
	r.ranks[rankOf(l.level)].push(l)
	r.lines++
	r.bytes += len(l.text)
	for r.lines > ringLines || r.bytes > ringBytes {
		r.drop()
	}
	full := r.lines >= batchLines
	r.mu.Unlock()
	signal(r.wake)
	if full {
		signal(r.full)
	}
}

// close makes later lines vanish: those of goroutines that a job left behind.
func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // one is waiting already
	}
}

func (r *ring) drop() {
	for i := range r.ranks {
		if r.ranks[i].len() > 0 {
			r.removed(r.ranks[i].pop())
			r.dropped++
			return
		}
	}
}

func (r *ring) removed(l line) {
	r.lines--
	r.bytes -= len(l.text)
}

// take removes the next batch, in the order in which its lines were added, and
// returns how many lines were dropped since the batch before.
func (r *ring) take() (batch []line, dropped uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := 0
	for r.lines > 0 && len(batch) < batchLines && size < batchBytes {
		l := r.oldest().pop()
		r.removed(l)
		size += len(l.text)
		batch = append(batch, l)
	}
	dropped, r.dropped = r.dropped, 0
	return batch, dropped
}

// oldest returns the rank whose first line was added first.
func (r *ring) oldest() *queue {
	var first *queue
	for i := range r.ranks {
		q := &r.ranks[i]
		if q.len() > 0 && (first == nil || q.first().seq < first.first().seq) {
			first = q
		}
	}
	return first
}

// queue is a first-in first-out list of lines.
type queue struct {
	items []line
	head  int
}

func (q *queue) len() int     { return len(q.items) - q.head }
func (q *queue) first() *line { return &q.items[q.head] }
func (q *queue) push(l line)  { q.items = append(q.items, l) }

func (q *queue) pop() line {
	l := q.items[q.head]
	q.items[q.head] = line{} // free its text
	q.head++
	if q.head*2 >= len(q.items) { // moving is paid for by the pops before
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	return l
}
