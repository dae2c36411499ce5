package wire

import (
	"sync"
	"time"
)

// Bounds of what a run's lines may take while the host does not read, and of
// one batch on the wire.
const (
	ringLines  = 8_192
	ringBytes  = 1 << 20
	batchLines = 1_024
	batchBytes = 256 << 10
	// While lines are being dropped, warnings and errors still find a place in
	// a reserve.
	reserveLines = 512
	reserveBytes = 2 * maxLine
)

// How long a job waits when the ring is full and the host takes nothing, before
// lines are dropped.
const (
	stallLimit = 30 * time.Second
	// lastWait is for all waits together once the run's context has ended: the
	// job has to end within its grace.
	lastWait = 2 * time.Second
)

// levelOutput is the level of a line of the run's own output.
const levelOutput = "output"

// matters reports whether lines of a level may use the reserve.
func matters(level string) bool { return level == "warn" || level == "error" }

// line is one log line of a run.
type line struct {
	at    time.Time
	level string
	text  string
	after gap // what was dropped just before it
}

// gap is where lines were dropped.
type gap struct{ lines, bytes uint64 }

func (g *gap) add(l line) {
	g.lines++
	g.bytes += uint64(len(l.text))
}

// ring holds the lines that are not sent yet, in their order. When it is full,
// adding waits for the host, which slows the job down to the host's pace. It
// does not wait for ever: if the host takes nothing for the limit, lines are
// dropped until it does, and the place where they are missing is kept.
type ring struct {
	// wake has a value when there are lines again, full when a batch is complete.
	wake, full chan struct{}

	mu      sync.Mutex
	lines   queue
	bytes   int
	dropped gap           // after the last line
	room    chan struct{} // closed by the next take; nil if nobody waits
	stalled time.Time     // when a job began to wait; zero once the host has taken lines
	limit   time.Duration // of a stall
	last    bool          // limit is what is left for all stalls together
	closed  bool
}

func newRing() *ring {
	return &ring{wake: make(chan struct{}, 1), full: make(chan struct{}, 1), limit: stallLimit}
}

// add takes a line, and waits until there is room for it. If that takes too
// long the line is dropped, and if the ring is closed it vanishes.
func (r *ring) add(l line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.fits(l, 0, 0) {
		r.await(l)
	}
	switch {
	case r.closed:
	case r.fits(l, 0, 0), matters(l.level) && r.fits(l, reserveLines, reserveBytes):
		r.push(l)
	default:
		r.dropped.add(l)
	}
}

func (r *ring) fits(l line, moreLines, moreBytes int) bool {
	return r.lines.len() < ringLines+moreLines && r.bytes+len(l.text) <= ringBytes+moreBytes
}

func (r *ring) push(l line) {
	l.after, r.dropped = r.dropped, gap{}
	complete := r.batchComplete()
	r.lines.push(l)
	r.bytes += len(l.text)
	if r.lines.len() == 1 {
		signal(r.wake)
	}
	if !complete && r.batchComplete() {
		signal(r.full)
	}
}

func (r *ring) batchComplete() bool { return r.lines.len() >= batchLines || r.bytes >= batchBytes }

// await unlocks the ring until there is room for l or the wait is over.
func (r *ring) await(l line) {
	for !r.closed && !r.fits(l, 0, 0) {
		if r.stalled.IsZero() {
			r.stalled = time.Now()
		}
		left := time.Until(r.stalled.Add(r.limit))
		if left <= 0 {
			return
		}
		if r.room == nil {
			r.room = make(chan struct{})
		}
		room := r.room
		r.mu.Unlock()
		select {
		case <-room:
		case <-time.After(left):
		}
		r.mu.Lock()
	}
}

// release lets those who wait look again.
func (r *ring) release() {
	if r.room != nil {
		close(r.room)
		r.room = nil
	}
}

// hurry shortens all waits from now on: the run is to end.
func (r *ring) hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit, r.last = lastWait, true
	if !r.stalled.IsZero() {
		r.stalled = time.Now()
	}
	r.release()
}

// close makes later lines vanish, and those that wait: of goroutines that a job
// left behind, or of a run whose host is gone.
func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.release()
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // one is waiting already
	}
}

// take removes the next batch, and tells what was dropped just before it.
// Nothing is missing within a batch. It is empty if there are no lines.
func (r *ring) take() (batch []line, missing gap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.release()
	if r.last && !r.stalled.IsZero() {
		r.limit -= time.Since(r.stalled)
	}
	r.stalled = time.Time{}
	if r.lines.len() == 0 {
		missing, r.dropped = r.dropped, gap{}
		return nil, missing
	}
	missing = r.lines.first().after
	batch = make([]line, 0, min(r.lines.len(), batchLines))
	for size := 0; r.lines.len() > 0 && len(batch) < batchLines && size < batchBytes; {
		if len(batch) > 0 && r.lines.first().after != (gap{}) {
			break
		}
		l := r.lines.pop()
		r.bytes -= len(l.text)
		size += len(l.text)
		batch = append(batch, l)
	}
	return batch, missing
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
