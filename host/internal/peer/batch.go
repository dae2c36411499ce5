package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

const (
	// maxBatch and maxBatchBytes bound what one request carries.
	maxBatch      = 128
	maxBatchBytes = 1 << 20
	// flights is how many requests of one kind are under way to a host at once.
	flights = 4
	// patience is how long a message waits for its answer if its context has no
	// deadline.
	patience = 30 * time.Second
)

// batcher sends messages of one kind. A message goes out at once, and while
// requests are under way further messages gather for the next one: there is no
// waiting time to tune, and the busier it is the larger the batches are.
type batcher struct {
	ctx  context.Context // ends with the client
	post func(ctx context.Context, items []json.RawMessage) ([]json.RawMessage, error)

	mu     sync.Mutex
	queue  []*parcel
	flying int
}

// parcel is a message on its way.
type parcel struct {
	deadline time.Time
	text     json.RawMessage
	done     chan delivery // buffered
}

type delivery struct {
	answer json.RawMessage
	err    error
}

func newBatcher(ctx context.Context, post func(context.Context, []json.RawMessage) ([]json.RawMessage, error)) *batcher {
	return &batcher{ctx: ctx, post: post}
}

// do sends a message and waits for its answer until ctx ends. The error is
// ErrUnconfirmed if the message may have arrived.
func (b *batcher) do(ctx context.Context, message any) (json.RawMessage, error) {
	text, err := json.Marshal(message)
	switch {
	case err != nil:
		return nil, fmt.Errorf("encode a message: %w", err)
	case len(text) > maxItem:
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(text))
	}
	p := &parcel{text: text, done: make(chan delivery, 1), deadline: deadline(ctx)}
	b.add(p)
	select {
	case d := <-p.done:
		return d.answer, d.err
	case <-ctx.Done():
	}
	if b.withdraw(p) {
		return nil, fmt.Errorf("send a message: %w", ctx.Err())
	}
	select {
	case d := <-p.done:
		return d.answer, d.err
	default:
		return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, ctx.Err())
	}
}

func deadline(ctx context.Context) time.Time {
	if at, ok := ctx.Deadline(); ok {
		return at
	}
	return time.Now().Add(patience)
}

func (b *batcher) add(p *parcel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, p)
	if b.flying < flights {
		b.flying++
		go b.fly()
	}
}

// withdraw takes a message back that has not been sent.
func (b *batcher) withdraw(p *parcel) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, queued := range b.queue {
		if queued == p {
			b.queue = append(b.queue[:i], b.queue[i+1:]...)
			return true
		}
	}
	return false
}

// take returns what goes into the next request; none means that the flight is
// over.
func (b *batcher) take() []*parcel {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, size := 0, 0
	for n < min(len(b.queue), maxBatch) && (n == 0 || size+len(b.queue[n].text) <= maxBatchBytes) {
		size += len(b.queue[n].text)
		n++
	}
	if n == 0 {
		b.flying--
		return nil
	}
	batch := make([]*parcel, n)
	copy(batch, b.queue)
	rest := copy(b.queue, b.queue[n:])
	clear(b.queue[rest:])
	b.queue = b.queue[:rest]
	return batch
}

// fly sends requests one after the other while messages wait.
func (b *batcher) fly() {
	for batch := b.take(); batch != nil; batch = b.take() {
		b.send(batch)
	}
}

func (b *batcher) send(batch []*parcel) {
	items := make([]json.RawMessage, len(batch))
	var last time.Time
	for i, p := range batch {
		items[i] = p.text
		if p.deadline.After(last) {
			last = p.deadline
		}
	}
	ctx, cancel := context.WithDeadline(b.ctx, last)
	defer cancel()
	answers, err := b.post(ctx, items)
	if err == nil && len(answers) != len(batch) {
		err = fmt.Errorf("%w: %d answers to %d messages", ErrUnconfirmed, len(answers), len(batch))
	}
	for i, p := range batch {
		if err != nil {
			p.done <- delivery{err: err}
			continue
		}
		p.done <- delivery{answer: answers[i]}
	}
}
