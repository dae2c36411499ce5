// Package engine decides what runs when. One goroutine owns all tasks: it wakes
// at due times, writes instances together with the task's next due time, hands
// them to the dispatcher, and follows them to their end.
package engine

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/wheel"
)

// Trigger computes due times; see package trigger.
type Trigger interface {
	// Next returns up to n due times after the given instant and not later than
	// until, rising. exhausted: none follows the last one, ever.
	Next(ctx context.Context, after, until time.Time, n int) (times []time.Time, exhausted bool, err error)
}

// Writer is the group-commit writer of the store.
type Writer interface {
	Submit(ax.Change)
	// SubmitAll is Submit for changes that had best share a transaction.
	SubmitAll([]ax.Change)
}

// Plans keeps what the engine must remember of a task between its firings.
type Plans interface {
	// SavePlan writes the state's plan if NextAt is still from.
	SavePlan(ctx context.Context, id ax.TaskID, from time.Time, state ax.TaskState) (bool, error)
	// LoadState reads what another host, or an earlier life of this one, has
	// left of a task.
	LoadState(ctx context.Context, task *ax.Task) (Taken, error)
	SetParked(ctx context.Context, id ax.TaskID, reason string) error
	// SetPaused notes who paused or resumed a task.
	SetPaused(context.Context, PauseChange) error
}

// PauseChange pauses a task or resumes it.
type PauseChange struct {
	Task   ax.TaskID
	Paused bool
	// Until ends a pause by itself, zero = never.
	Until time.Time
	// At is the instant from which it holds: due times before it are accounted for
	// as before, whenever the change gets into the database.
	At time.Time
	By string
}

// Dispatcher finds a place for an attempt and starts it there.
type Dispatcher interface {
	// Reserve promises room for an attempt that begins at a time, or now if
	// that is past.
	Reserve(task *ax.Task, at time.Time) ax.Place
	// ReserveNear is Reserve on a node if that has room, else on another one.
	ReserveNear(task *ax.Task, at time.Time, node string) ax.Place
	// ReserveOn is Reserve on one node only.
	ReserveOn(task *ax.Task, at time.Time, node string) ax.Place
	// Nodes returns the names of the nodes that can take the task, sorted.
	Nodes(*ax.Task) []string
	Release(*ax.Task, ax.Place)
	Start(ax.Attempt, ax.Place)
	// Cancel reports whether the instance runs here.
	Cancel(id ax.InstanceID, cause error) bool
	// Holds reports whether an attempt of the instance runs or waits here.
	Holds(id ax.InstanceID) bool
	// Takes reports whether an incarnation is there for attempts: what is
	// DISPATCHED to it will be claimed.
	Takes(incarnation string) bool
	// Settle writes the end of an attempt that did not end by itself.
	Settle(ax.Attempt, ax.Outcome)
}

// Config of an Engine.
type Config struct {
	App, Node string
	Log       hclog.Logger
	IDs       *ax.IDs
	Writer    Writer
	Plans     Plans
	Dispatch  Dispatcher
	// Now is the clock by which tasks are due, nil for that of this machine.
	Now func() time.Time
	// Elsewhere is told of tasks that another host schedules when it has
	// something to read anew, nil if there is no other host. It must not block.
	Elsewhere func(*ax.Task)
	// Observe is told of due times that do not run and of parked tasks. It must
	// not block.
	Observe func(ax.Happening)
}

// Entry is a task with what it takes to schedule it.
type Entry struct {
	Row     ax.TaskRow
	Trigger Trigger
	// Remote says that Trigger is slow and may fail: its times are fetched ahead
	// and kept with the task.
	Remote bool
	// Lane names the tasks that compete for the same room.
	Lane string
	// Ready tells why the task cannot run now, nil if it can. It is asked often.
	Ready func() error
	// Params renders the parameters of an instance that need no provider; bound
	// false leaves it to the executor.
	Params func(*ax.Instance) (params []byte, bound bool)
}

// Engine schedules tasks. Make one with New.
type Engine struct {
	cfg  Config
	loop sync.WaitGroup
	bg   sync.WaitGroup // fetches of remote times
	// starts counts writes that start an attempt once they are done.
	starts sync.WaitGroup
	ctx    context.Context
	quit   context.CancelFunc

	mu     sync.Mutex // guards inbox and closed
	inbox  []func(now time.Time)
	closed bool
	signal chan struct{}

	// Owned by the loop.
	outbox []ax.Change         // what this round has decided
	early  []*task             // whose due time this round saw coming
	mine   func(*ax.Task) bool // says which tasks this host schedules
	tasks  map[ax.TaskID]*task
	names  map[string]*task
	zones  map[string]*time.Location
	wheel  *wheel.Wheel[*task]
	// held are the tasks that wait for room, by lane, oldest first; admitting is
	// the one that is looked at again just now.
	held      map[string][]*task
	admitting *task
	firing    bool // false until Start and after StopFiring
}

// New returns an Engine without tasks.
func New(cfg Config) *Engine {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Elsewhere == nil {
		cfg.Elsewhere = func(*ax.Task) {}
	}
	e := &Engine{
		cfg: cfg, signal: make(chan struct{}, 1),
		tasks: map[ax.TaskID]*task{}, names: map[string]*task{}, zones: map[string]*time.Location{},
		wheel: wheel.New[*task](cfg.Now()), held: map[string][]*task{},
	}
	e.ctx, e.quit = context.WithCancel(context.Background())
	return e
}

// Start begins to schedule those of the tasks that are mine, with the instances
// of them that were left unfinished.
func (e *Engine) Start(entries []Entry, mine func(*ax.Task) bool, unfinished []ax.Instance) {
	e.loop.Go(e.run)
	e.post(func(now time.Time) {
		e.firing, e.mine = true, mine
		e.apply(entries, now)
		e.adopt(unfinished, now)
	})
}

// StopFiring makes sure that nothing is started any more: when it returns, all
// attempts that will ever be started have been handed to the dispatcher.
func (e *Engine) StopFiring() {
	e.call(func(time.Time) { e.firing = false })
	e.starts.Wait()
}

// Stop ends the engine. What happens afterwards is found by the next start.
func (e *Engine) Stop() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.quit()
	e.loop.Wait()
	e.bg.Wait()
}

// post hands a function to the loop; it never blocks. After Stop the function
// is dropped.
func (e *Engine) post(f func(now time.Time)) {
	e.mu.Lock()
	if !e.closed {
		e.inbox = append(e.inbox, f)
	}
	e.mu.Unlock()
	select {
	case e.signal <- struct{}{}:
	default:
	}
}

// call runs a function in the loop and waits for it. It reports false if the
// engine was stopped before it came to that.
func (e *Engine) call(f func(now time.Time)) bool {
	done := make(chan struct{})
	e.post(func(now time.Time) { f(now); close(done) })
	select {
	case <-done:
		return true
	case <-e.ctx.Done():
	}
	e.loop.Wait() // the function may be running just now
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (e *Engine) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for e.ctx.Err() == nil {
		e.runOnce(e.cfg.Now())
		wait := time.Hour
		if at, ok := e.wheel.Wake(); ok {
			// Wake up now and then to notice a clock that was set.
			wait = min(max(at.Sub(e.cfg.Now()), 0), time.Second)
		}
		timer.Reset(wait)
		select {
		case <-e.signal:
		case <-timer.C:
		case <-e.ctx.Done():
		}
	}
}

// maxOutbox bounds the changes that one transaction gets at once.
const maxOutbox = 500

// submit hands a change to the writer at the end of the round, so that all that
// is due at one instant is one transaction.
func (e *Engine) submit(c ax.Change) {
	e.outbox = append(e.outbox, c)
	if len(e.outbox) >= maxOutbox {
		e.flush()
	}
}

func (e *Engine) flush() {
	switch len(e.outbox) {
	case 0:
	case 1:
		e.cfg.Writer.Submit(e.outbox[0])
	default:
		e.cfg.Writer.SubmitAll(e.outbox)
	}
	clear(e.outbox)
	e.outbox = e.outbox[:0]
}

// runOnce does everything that is due at now.
func (e *Engine) runOnce(now time.Time) {
	e.mu.Lock()
	inbox := e.inbox
	e.inbox = nil
	e.mu.Unlock()
	for _, f := range inbox {
		f(now)
	}
	e.wheel.Advance(now, func(at time.Time, t *task) {
		if at.Equal(t.armed) { // else it was armed anew meanwhile
			t.armed = time.Time{}
			e.visit(t, now)
		}
	})
	e.fireAhead(now)
	e.flush()
}
