package host

import (
	"sync"
	"sync/atomic"

	"github.com/axsched/ax/host/internal/ax"
)

// submitter is the store's group-commit writer.
type submitter interface {
	Submit(ax.Change)
	SubmitAll([]ax.Change)
}

// tap stands before the writer. It adds to changes what people may have to be
// told of, and signals those who follow an instance when something of it was
// written, which costs an atomic load while nobody does.
type tap struct {
	writer  submitter
	journal func(ax.Change) ax.Change // nil: nothing is added
	// recorded is told of due times whose records were written; nil for nobody.
	recorded func(n int)
	active   atomic.Int32

	mu        sync.Mutex
	followers map[ax.InstanceID]map[chan struct{}]struct{}
}

func newTap(w submitter) *tap {
	return &tap{writer: w, followers: map[ax.InstanceID]map[chan struct{}]struct{}{}}
}

func (t *tap) Submit(c ax.Change) { t.writer.Submit(t.watch(c)) }

func (t *tap) SubmitAll(changes []ax.Change) {
	for i := range changes {
		changes[i] = t.watch(changes[i])
	}
	t.writer.SubmitAll(changes)
}

func (t *tap) watch(c ax.Change) ax.Change {
	if t.journal != nil {
		c = t.journal(c)
	}
	if n := dueRows(c.Insert); n > 0 && t.recorded != nil {
		c.Done = onceApplied(c.Done, func() { t.recorded(n) })
	}
	if t.active.Load() == 0 {
		return c
	}
	done := c.Done
	c.Done = func(applied bool, err error) {
		if done != nil {
			done(applied, err)
		}
		t.signal(&c)
	}
	return c
}

// dueRows counts the due times for which new instances stand.
func dueRows(insert []ax.Instance) (n int) {
	for i := range insert {
		if insert[i].Kind == ax.KindScheduled {
			n += max(insert[i].Missed, 1)
		}
	}
	return n
}

// onceApplied calls f after done if the change was written.
func onceApplied(done func(bool, error), f func()) func(bool, error) {
	return func(applied bool, err error) {
		if done != nil {
			done(applied, err)
		}
		if applied {
			f()
		}
	}
}

func (t *tap) signal(c *ax.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range c.Events {
		for ch := range t.followers[c.Events[i].InstanceID] {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}

// follow returns a channel that is signalled after writes, until drop is called.
func (t *tap) follow(id ax.InstanceID) (signals <-chan struct{}, drop func()) {
	ch := make(chan struct{}, 1)
	t.mu.Lock()
	if t.followers[id] == nil {
		t.followers[id] = map[chan struct{}]struct{}{}
	}
	t.followers[id][ch] = struct{}{}
	t.mu.Unlock()
	t.active.Add(1)
	return ch, func() {
		t.active.Add(-1)
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.followers[id], ch)
		if len(t.followers[id]) == 0 {
			delete(t.followers, id)
		}
	}
}
