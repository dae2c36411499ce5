package pluginhost

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// process is one life of a plugin's program, from its start to the end of all
// that it started. It counts the calls that use it; a process that drains
// takes no new ones.
type process struct {
	prog    *program
	log     hclog.Logger
	limits  limits
	out     *output
	child   *child
	client  *goplugin.Client
	proto   goplugin.ClientProtocol
	conn    *wire.Client
	specs   *specTable
	started time.Time
	runIDs  atomic.Int64 // the last one given

	mu       sync.Mutex
	inflight int
	stuck    int // of them, those that wait for the end of this process
	slow     int // calls in a row that were not answered in time
	draining bool
	idle     chan struct{} // closed when draining and nothing is left to wait for
	wanted   bool          // its end is the host's wish, no crash
	reason   string        // why the host killed it, if it did
	force    chan struct{} // closed when its time is over
}

// exited is closed once the process and its descendants are gone.
func (p *process) exited() <-chan struct{} { return p.child.exited }

// enter counts a call in. It fails if the process drains or has ended.
func (p *process) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draining || isClosed(p.child.exited) {
		return false
	}
	p.inflight++
	return true
}

// leave counts a call out.
func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inflight--
	p.checkIdle()
}

// markStuck notes that a run will not end before the process does.
func (p *process) markStuck() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck++
	p.checkIdle()
}

// unmarkStuck takes that back: the run ended after all.
func (p *process) unmarkStuck() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck--
}

func (p *process) checkIdle() {
	if p.draining && p.inflight <= p.stuck && !isClosed(p.idle) {
		close(p.idle)
	}
}

// drain lets no new call in. The process ends once its calls are over, at the
// latest after limit; limit 0 means that they may take as long as they like.
// A later call with a limit makes an earlier one without it shorter.
func (p *process) drain(limit time.Duration) {
	p.mu.Lock()
	first := !p.draining
	p.draining, p.wanted = true, true
	p.checkIdle()
	p.mu.Unlock()
	if limit > 0 {
		time.AfterFunc(limit, p.endNow) // does nothing to a process that ended
	}
	if first {
		go p.finish()
	}
}

// endNow ends a draining process without regard for its calls.
func (p *process) endNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !isClosed(p.force) {
		close(p.force)
	}
}

// finish waits for the end of the calls and then ends the process: politely if
// they are over, by force if not.
func (p *process) finish() {
	select {
	case <-p.child.exited:
		return
	case <-p.force:
		p.kill("its time to drain was over")
		return
	case <-p.idle:
	}
	p.mu.Lock()
	polite := p.stuck == 0
	p.mu.Unlock()
	if !polite {
		p.kill("a run did not end")
		return
	}
	go p.proto.Close() // asks it to shut down; bounded by wire.DialOptions
	if p.waitStep() {
		return
	}
	p.child.signalLeader(syscall.SIGTERM)
	if p.waitStep() {
		return
	}
	p.kill("it did not shut down when asked")
}

// waitStep gives the process one step's time and reports whether it ended.
func (p *process) waitStep() bool {
	select {
	case <-p.child.exited:
		return true
	case <-p.force:
	case <-time.After(p.limits.shutdown):
	}
	return isClosed(p.child.exited)
}

// kill ends the process and all that belongs to it at once.
func (p *process) kill(reason string) {
	p.mu.Lock()
	p.draining = true
	if p.reason == "" {
		p.reason = reason
	}
	p.mu.Unlock()
	p.log.Warn("plugin process is killed", "reason", reason)
	p.child.signalGroup(syscall.SIGKILL)
}

// endReason says how the process ended, with its last words; valid once it
// has. unwanted tells whether it was a crash.
func (p *process) endReason() (reason string, unwanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != "" {
		reason = "it was killed: " + p.reason
	} else {
		reason = "it " + p.child.status()
	}
	if words := p.out.report(); words != "" && !p.wanted {
		reason += ": " + words
	}
	return reason, !p.wanted
}

// health asks the plugin how it is. The error says why it is not well.
func (p *process) health(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.healthCall)
	defer cancel()
	reply, err := p.conn.Plugin.Health(ctx, &pb.HealthRequest{})
	switch {
	case ctx.Err() != nil, status.Code(err) == codes.DeadlineExceeded:
		return fmt.Errorf("no answer to a health check within %v", p.limits.healthCall)
	case err != nil:
		return fmt.Errorf("health check: %w", err)
	case !reply.GetOk():
		return &unwellError{reply.GetText()}
	}
	return nil
}

// unwellError is the answer of a plugin that says of itself that it is not well.
type unwellError struct{ text string }

func (e *unwellError) Error() string { return "it says that it is not well: " + e.text }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
