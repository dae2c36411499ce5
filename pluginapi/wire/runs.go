package wire

import (
	"context"
	"errors"
	"sync"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// errHostGone is the cause with which a run ends whose stream broke.
var errHostGone = errors.New("the host closed the call")

// runs are the runs in flight.
type runs struct {
	mu       sync.Mutex
	byID     map[string]*running
	draining bool
	idle     chan struct{} // closed when draining and no run is left
	killed   bool
}

// running is one run in flight.
type running struct {
	cancel context.CancelCauseFunc
	kills  map[int]func() // guarded by runs.mu
	next   int            // key of the next entry in kills
}

func newRuns() *runs {
	return &runs{byID: map[string]*running{}, idle: make(chan struct{})}
}

// begin enters a run, which refuses nothing but a second run of the same id
// and all runs during a drain.
func (r *runs) begin(id string, cancel context.CancelCauseFunc) (*running, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return nil, problem(pb.Problem_RETRYABLE, "the plugin is shutting down")
	}
	if _, ok := r.byID[id]; ok {
		return nil, problem(pb.Problem_INVALID, "a run with this id is in flight")
	}
	run := &running{cancel: cancel, kills: map[int]func(){}}
	r.byID[id] = run
	return run, nil
}

func (r *runs) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
	if r.draining && len(r.byID) == 0 {
		close(r.idle)
	}
}

// cancel ends a run's context; it reports whether the run is in flight.
func (r *runs) cancel(id string, cause error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	run, ok := r.byID[id]
	if ok {
		run.cancel(cause)
	}
	return ok
}

func (r *runs) count() (inFlight int, draining bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID), r.draining
}

// drain cancels all runs and waits for them until ctx ends.
func (r *runs) drain(ctx context.Context) error {
	r.mu.Lock()
	if !r.draining {
		r.draining = true
		for _, run := range r.byID {
			run.cancel(pluginapi.ErrDrain)
		}
		if len(r.byID) == 0 {
			close(r.idle)
		}
	}
	r.mu.Unlock()
	select {
	case <-r.idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// onKill implements Run.OnKill.
func (r *runs) onKill(run *running, kill func()) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		kill() // what was started just now has to go as well
		return func() {}
	}
	key := run.next
	run.next++
	run.kills[key] = kill
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(run.kills, key)
	}
}

// kill calls what the runs in flight registered. It holds the lock, so that no
// released function is called: its process group may be another's by then.
func (r *runs) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	for _, run := range r.byID {
		for _, kill := range run.kills {
			_ = guard(func() error { kill(); return nil }) // the process ends next
		}
	}
}
