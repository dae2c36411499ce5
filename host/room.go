package host

import (
	"context"
	"sync"
)

// room is where attempts of other hosts wait for places in the queue of this one.
// They wait in one line for each lane of the executor: only the heads of the lines
// look for a place when one may have come free, however many wait.
type room struct {
	mu   sync.Mutex
	bell chan struct{}
	head map[string]chan struct{} // by lane; what is in it is the head of the line
}

func newRoom() *room {
	return &room{bell: make(chan struct{}), head: map[string]chan struct{}{}}
}

// Ring wakes the heads of all lines.
func (r *room) Ring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.bell)
	r.bell = make(chan struct{})
}

// wait waits until look, which is called anew whenever there may be a place,
// says that it is done.
func (r *room) wait(ctx context.Context, lane string, look func() (done bool)) error {
	r.mu.Lock()
	head := r.head[lane]
	if head == nil {
		head = make(chan struct{}, 1)
		r.head[lane] = head
	}
	r.mu.Unlock()
	select {
	case head <- struct{}{}:
		defer func() { <-head }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		r.mu.Lock()
		bell := r.bell
		r.mu.Unlock()
		if look() {
			return nil
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
