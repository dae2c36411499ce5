package notice

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// callTime is what a call needs of the time that is left: whoever waits longer
// for its turn would only fail later.
const callTime = 5 * time.Second

// BusyError says that a receiver takes nothing for a while.
type BusyError struct{ RetryAfter time.Duration }

// Error tells how long.
func (e *BusyError) Error() string {
	return fmt.Sprintf("the receiver takes no more messages for now, retry after %v", e.RetryAfter)
}

// busy is a *BusyError that tells the host of the wait too.
func busy(wait time.Duration) error { return pluginapi.RetryAfter(&BusyError{wait}, wait) }

// Pace keeps calls to one receiver below a limit: within any window at most so
// many arrive, however long each is under way.
type Pace struct {
	window time.Duration

	mu sync.Mutex
	// slots are the times from which on each slot that is not in use may be
	// used, in rising order.
	slots []time.Time
	// closed is when the receiver opens again.
	closed time.Time
}

// NewPace allows so many calls within any window.
func NewPace(calls int, window time.Duration) *Pace {
	return &Pace{window: window, slots: make([]time.Time, calls)}
}

// Wait waits for the turn of a call; done must be called when it has ended. If
// ctx leaves too little time for that, a *BusyError comes at once.
func (p *Pace) Wait(ctx context.Context) (done func(), err error) {
	now := time.Now()
	at, err := p.take(ctx, now)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return func() { p.put(time.Now().Add(p.window)) }, nil
	case <-ctx.Done():
		p.put(at)
		return nil, context.Cause(ctx)
	}
}

// take takes the slot that is free first and returns when it may be used.
func (p *Pace) take(ctx context.Context, now time.Time) (time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.slots) == 0 { // all are in use, and each stays so for a window
		return time.Time{}, busy(p.window)
	}
	at := latest(p.slots[0], p.closed, now)
	if deadline, ok := ctx.Deadline(); ok && at.After(now) && at.Add(callTime).After(deadline) {
		return time.Time{}, busy(roundUp(at.Sub(now)))
	}
	p.slots = slices.Delete(p.slots, 0, 1)
	return at, nil
}

func (p *Pace) put(free time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.slots, free, time.Time.Compare)
	p.slots = slices.Insert(p.slots, i, free)
}

// Close keeps calls back for d, since the receiver asked for it.
func (p *Pace) Close(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = latest(p.closed, time.Now().Add(d))
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// roundUp makes whole seconds, since a little too early is too early.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// Paces has a Pace for each receiver that was ever asked for, so that limits
// outlive a change of settings and hold for several notifiers together.
type Paces struct {
	calls  int
	window time.Duration

	mu    sync.Mutex
	paces map[string]*Pace
}

// NewPaces allows each receiver so many calls within any window.
func NewPaces(calls int, window time.Duration) *Paces {
	return &Paces{calls: calls, window: window, paces: map[string]*Pace{}}
}

// Of returns the pace of a receiver.
func (p *Paces) Of(receiver string) *Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paces[receiver] == nil {
		p.paces[receiver] = NewPace(p.calls, p.window)
	}
	return p.paces[receiver]
}
