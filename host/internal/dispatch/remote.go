package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// ConfirmTimeout is how long a node may take to confirm an attempt, unless the
// task says otherwise.
const ConfirmTimeout = 30 * time.Second

// Sender talks to another host.
type Sender interface {
	// Dispatch returns nil once the other host has the attempt in its queue.
	Dispatch(ctx context.Context, a ax.Attempt) error
	// Cancel asks an attempt to end.
	Cancel(ctx context.Context, id ax.InstanceID, fence int64, cause error) error
}

// RemoteConfig is what a Remote needs.
type RemoteConfig struct {
	Sender Sender
	// Full reports whether an error of Sender says that the queue is full.
	Full func(error) bool
	// Undelivered is told of attempts that were not confirmed, with the reason.
	// Whether the other host has them is unknown. It must not block.
	Undelivered func(ax.Attempt, error)
	// CancelFailed is told that a cancel did not arrive. It must not block.
	CancelFailed func(ax.InstanceID, error)
	// Freed is told that there may be room again after a RoomNone. It must not
	// block.
	Freed func()
	// Now is the time of the database's clock.
	Now func() time.Time
	// Settle writes the end of an attempt that nobody runs any more.
	Settle func(ax.Attempt, ax.Outcome)
}

// Remote is another host as a Node. Make one for each incarnation with NewRemote,
// and feed it with Hear and Ended.
type Remote struct {
	cfg  RemoteConfig
	ctx  context.Context
	stop context.CancelFunc
	busy sync.WaitGroup

	mu      sync.Mutex
	ledger  ledger
	denied  bool // a RoomNone was given that Freed has not followed
	stopped bool
}

// NewRemote returns a Remote with what the host tells of itself.
func NewRemote(cfg RemoteConfig, n ax.Node) *Remote {
	r := &Remote{cfg: cfg, ledger: ledger{sent: map[ax.InstanceID]sending{}}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.ledger.hear(&n)
	return r
}

// Hear takes in what the host tells of itself, with each of its heartbeats.
func (r *Remote) Hear(n ax.Node) { r.change(func(l *ledger) { l.hear(&n) }) }

// Ended notes that an attempt there has ended.
func (r *Remote) Ended(id ax.InstanceID) { r.change(func(l *ledger) { l.end(id) }) }

// Stop gives up what is not confirmed, which Undelivered is told of, and waits
// for that. What is started afterwards is undelivered, too.
func (r *Remote) Stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.stop()
	r.busy.Wait()
}

// errStopped says that the host was given up.
var errStopped = errors.New("the host is no member of the cluster any more")

// begin runs f beside, unless the Remote was stopped.
func (r *Remote) begin(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.busy.Go(f)
	}
	return !r.stopped
}

// change alters the ledger and tells if there is room again.
func (r *Remote) change(f func(*ledger)) {
	r.mu.Lock()
	f(&r.ledger)
	tell := r.denied && r.ledger.room()
	if tell {
		r.denied = false
	}
	r.mu.Unlock()
	if tell {
		r.cfg.Freed()
	}
}

// Load estimates how many attempts run or wait there.
func (r *Remote) Load() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.load()
}

// Reserve promises a place in the queue there, as far as this host can know.
func (r *Remote) Reserve(*ax.Task, time.Time) ax.Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ledger.room() {
		r.denied = true
		return ax.RoomNone
	}
	r.ledger.reserve()
	return ax.RoomQueue
}

// Release gives a place back.
func (r *Remote) Release(*ax.Task, ax.Room) { r.change((*ledger).release) }

// Held is how many places are promised that have not been confirmed.
func (r *Remote) Held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.reserved
}

// Start hands an attempt over. It does not wait for the confirmation.
func (r *Remote) Start(a ax.Attempt, _ ax.Room) {
	if !r.begin(func() { r.hand(a) }) {
		r.change((*ledger).release)
		r.cfg.Undelivered(a, errStopped)
	}
}

func (r *Remote) hand(a ax.Attempt) {
	timeout := a.Task.ConfirmTimeout
	if timeout <= 0 {
		timeout = ConfirmTimeout
	}
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	err := r.cfg.Sender.Dispatch(ctx, a)
	if err == nil {
		// The confirmation is from before now, so a heartbeat from after now
		// counts the attempt.
		at := r.cfg.Now()
		r.change(func(l *ledger) { l.confirm(a.Instance.ID, a.Instance.Fence, at) })
		return
	}
	full := r.cfg.Full(err)
	r.change(func(l *ledger) {
		l.release()
		l.refused = l.refused || full
	})
	r.cfg.Undelivered(a, err)
}

// Cancel asks an attempt there to end, if this host has sent it, and does not
// wait for that.
func (r *Remote) Cancel(id ax.InstanceID, cause error) bool {
	r.mu.Lock()
	s, ok := r.ledger.sent[id]
	r.mu.Unlock()
	if !ok {
		return false
	}
	return r.begin(func() {
		ctx, cancel := context.WithTimeout(r.ctx, ConfirmTimeout)
		defer cancel()
		if err := r.cfg.Sender.Cancel(ctx, id, s.fence, cause); err != nil {
			r.cfg.CancelFailed(id, err)
		}
	})
}

// Holds reports whether this host has sent an attempt of the instance there.
func (r *Remote) Holds(id ax.InstanceID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.ledger.sent[id]
	return ok
}

// Settle writes the end of an attempt that nobody runs any more.
func (r *Remote) Settle(a ax.Attempt, out ax.Outcome) { r.cfg.Settle(a, out) }
