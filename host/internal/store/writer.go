package store

import (
	"context"
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
	stmts    writerStmts
	stats    statsCounter
	done     chan struct{} // closed when the goroutine has ended

	mu     sync.RWMutex // held for reading while sending to queue
	closed bool
}

func newWriter(s *Store, o Options) *writer {
	return &writer{
		store: s, log: o.Log, queue: make(chan parcel, o.Buffer),
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

// write brings every item to its verdict: applied, or not, or err. The items
// first share a transaction. If a statement fails for good they share another
// one in which each has a savepoint, so that only the culprit is left out.
// Faults that may pass are waited for, each item at most retryFor since its
// Submit.
func (w *writer) write(batch []*item) {
	apart, backoff := false, firstBackoff
	for {
		started := time.Now()
		err := w.transaction(batch, apart)
		transient := w.store.dialect.transient(err)
		switch {
		case err == nil:
			w.stats.committed(batch, time.Since(started))
			return
		case !transient && !apart:
			apart = true
			continue
		case w.giveUp(batch, err, transient):
			w.stats.lost(batch)
			return
		}
		w.stats.retried()
		w.log.Warn("the database does not take changes, trying again", "changes", len(batch), "wait", backoff, "error", err)
		time.Sleep(backoff)
		backoff = min(2*backoff, maxBackoff)
	}
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
		default:
			it.applied, it.err, it.final = false, w.store.wrap("write a change", err), true
		}
	}
	return none
}

// transaction tries to write all items whose verdict is not final. After an
// error nothing of them is written.
func (w *writer) transaction(batch []*item, apart bool) error {
	ctx := context.Background() // a change is written whoever still waits for it
	if err := w.stmts.prepare(ctx); err != nil {
		return err
	}
	tx, err := w.store.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	b := batchTx{store: w.store, tx: tx, stmts: &w.stmts}
	if err := b.apply(ctx, batch, apart); err != nil {
		tx.Rollback() //nolint:errcheck // some faults have rolled it back already
		return err
	}
	return tx.Commit()
}
