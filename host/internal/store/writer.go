package store

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// writer is the group commit: one goroutine writes all submitted changes. While
// a transaction is being committed further changes gather, and go together into
// the next one; when it is idle a change is committed at once. So there is no
// wait to tune, and the busier it is the larger the transactions are.
type writer struct {
	store    *Store
	log      hclog.Logger
	queue    chan parcel
	maxBatch int
	retryFor time.Duration
	mode     mode // to begin with
	stmts    writerStmts
	mark     int64 // the id of the row in ax_witness, 0 = none yet
	stats    statsCounter
	done     chan struct{} // closed when the goroutine has ended

	mu     sync.RWMutex // held for reading while sending to queue
	closed bool
}

func newWriter(s *Store, o Options) *writer {
	how := singly
	if s.dialect.remote() {
		how = inSets
	}
	return &writer{
		store: s, log: o.Log, mode: how, queue: make(chan parcel, o.Buffer),
		maxBatch: o.MaxBatch, retryFor: o.RetryFor,
		stmts: newWriterStmts(s), done: make(chan struct{}),
	}
}

func (w *writer) start() { go w.run() }

// submit queues items that belong together; it waits while the queue is full.
func (w *writer) submit(items parcel) {
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		for it := range items.all() {
			answer(it.change, false, ErrClosed)
		}
		return
	}
	w.queue <- items
	w.mu.RUnlock()
}

// parcel is what one call hands over: a single item, or several that had best
// share a transaction.
type parcel struct {
	one  *item
	many []*item
}

func (p parcel) all() iter.Seq[*item] {
	if p.one != nil {
		return func(yield func(*item) bool) { yield(p.one) }
	}
	return slices.Values(p.many)
}

func (p parcel) appendTo(batch []*item) []*item {
	if p.one != nil {
		return append(batch, p.one)
	}
	return append(batch, p.many...)
}

// close refuses further items and waits until those queued are answered.
func (w *writer) close() {
	w.mu.Lock() // once had, no sender is inside submit
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *writer) run() {
	defer close(w.done)
	defer w.stmts.close()
	var batch []*item
	for first := range w.queue {
		batch = w.gather(first.appendTo(batch[:0]))
		w.write(batch)
		for i, it := range batch {
			answer(it.change, it.applied, it.err)
			batch[i] = nil
		}
	}
}

// gather adds what is queued already, up to about maxBatch.
func (w *writer) gather(batch []*item) []*item {
	for len(batch) < w.maxBatch {
		select {
		case items, ok := <-w.queue:
			if !ok {
				return batch
			}
			batch = items.appendTo(batch)
		default:
			return batch
		}
	}
	return batch
}

// Waits between attempts while the database is busy, full or away.
const (
	firstBackoff = 10 * time.Millisecond
	maxBackoff   = time.Second
)

// mode is how the items of a transaction are written.
type mode int

const (
	// inSets: rows of many items share statements. A condition that does not
	// hold fails the transaction.
	inSets mode = iota
	// singly: each condition is checked by a statement of its own.
	singly
	// apart: like singly, within a savepoint each, so that only the culprit of
	// an error is left out.
	apart
)

// write brings every item to its verdict: applied, or not, or err. The items
// share a transaction. If something in it fails for good they share another one,
// in a mode that costs more and tells them apart. Faults that may pass are waited
// for, each item at most retryFor since its Submit.
func (w *writer) write(batch []*item) {
	how, backoff := w.mode, firstBackoff
	for {
		started := time.Now()
		err := w.transaction(batch, how)
		w.store.observe(OpWrite, started, err)
		if lost, ok := errors.AsType[*lostCommitError](err); ok {
			err = w.settle(batch, lost)
		}
		transient := w.store.dialect.transient(err) && !errors.Is(err, ErrUncertain)
		switch {
		case err == nil:
			w.stats.committed(batch, time.Since(started))
			return
		case errors.Is(err, errRefused):
			how = singly
			continue
		case !transient && how != apart && !errors.Is(err, ErrUncertain):
			how = apart
			continue
		case w.giveUp(batch, err, transient):
			w.stats.lost(batch)
			return
		}
		w.retry(len(batch), err, backoff)
		backoff = min(2*backoff, maxBackoff)
	}
}

// retry waits before the next attempt.
func (w *writer) retry(changes int, err error, wait time.Duration) {
	w.stats.retried()
	level := hclog.Warn
	if w.store.dialect.collided(err) { // as happens among hosts that are well
		level = hclog.Debug
	}
	w.log.Log(level, "the database does not take changes, trying again", "changes", changes, "wait", wait, "error", w.store.dialect.explain(err))
	if w.store.dialect.stale(err) {
		w.store.reconnect()
	}
	time.Sleep(wait)
}

// giveUp answers the items that have waited long enough, or all of them if the
// error will not pass, and reports whether none is left to try.
func (w *writer) giveUp(batch []*item, err error, transient bool) bool {
	none := true
	for _, it := range batch {
		switch {
		case it.final:
		case transient && time.Since(it.at) < w.retryFor:
			none = false
		case errors.Is(err, ErrUncertain) && !it.applied:
			it.final = true // refused, whatever became of the others
		default:
			it.applied, it.err, it.final = false, w.store.wrap("write a change", err), true
		}
	}
	return none
}

// transaction tries to write all items whose verdict is not final. After an
// error nothing of them is written, unless it is a lostCommitError.
func (w *writer) transaction(batch []*item, how mode) error {
	ctx := context.Background() // a change is written whoever still waits for it
	if err := w.stmts.prepare(ctx); err != nil {
		return err
	}
	tx, err := w.store.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	b := batchTx{store: w.store, tx: tx, stmts: &w.stmts, mode: how}
	if err := b.apply(ctx, batch); err != nil {
		tx.Rollback() //nolint:errcheck // some faults have rolled it back already
		return err
	}
	return w.commit(ctx, tx, batch)
}
