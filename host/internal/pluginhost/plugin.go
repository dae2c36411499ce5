package pluginhost

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// plugin supervises one plugin by name: the program in force, the process that
// takes new calls, and older ones that drain.
type plugin struct {
	name    string
	policy  Policy
	starter *starter
	limits  limits
	log     hclog.Logger
	changed func()        // tells the host's owner that something changed
	slots   chan struct{} // nil: no limit of calls

	mu       sync.Mutex
	prog     *program // nil: gone or never good
	refusal  string   // why the newest file is not in force, if it is not
	breaker  breaker
	cur      *process
	old      map[*process]struct{}
	starting *attempt
	rejected rejection
	restarts int
	closed   bool // the host stops
	life     context.Context
	endLife  context.CancelFunc
}

// attempt is a start in progress, awaited by all who need the plugin.
type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

func newPlugin(name string, policy Policy, s *starter, log hclog.Logger, changed func()) *plugin {
	p := &plugin{
		name: name, policy: policy.withDefaults(), starter: s, limits: s.limits,
		log: log.With("plugin", name), changed: changed,
		breaker: newBreaker(s.limits), old: make(map[*process]struct{}),
	}
	if p.policy.MaxInflight > 0 {
		p.slots = make(chan struct{}, p.policy.MaxInflight)
	}
	p.life, p.endLife = context.WithCancel(context.Background())
	return p
}

// acquire returns the process for a new call, counted in, and starts one if
// there is none. It waits for a start and for a short back-off, within ctx and
// the policy's StartTimeout. The caller calls p.release when done.
func (p *plugin) acquire(ctx context.Context) (*process, error) {
	if err := p.takeSlot(ctx); err != nil {
		return nil, err
	}
	proc, err := p.await(ctx)
	if err != nil {
		p.freeSlot()
	}
	return proc, err
}

func (p *plugin) release(proc *process) {
	proc.leave()
	p.freeSlot()
}

func (p *plugin) takeSlot(ctx context.Context) error {
	if p.slots == nil {
		return nil
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return p.unavailable(fmt.Sprintf("%d calls and runs are in progress, the most that are allowed",
			cap(p.slots)), context.Cause(ctx))
	}
}

func (p *plugin) freeSlot() {
	if p.slots != nil {
		<-p.slots
	}
}

func (p *plugin) await(ctx context.Context) (*process, error) {
	patience := time.Now().Add(p.policy.StartTimeout)
	for {
		proc, a, wait, err := p.next()
		switch {
		case proc != nil || err != nil:
			return proc, err
		case wait > 0 && time.Now().Add(wait).After(patience):
			return nil, p.unavailable(fmt.Sprintf("it is started again in %v; %s",
				wait.Round(time.Second), p.lastCrash()), nil)
		case wait > 0:
			if err := sleep(ctx, wait); err != nil {
				return nil, p.unavailable("it waits to be started again; "+p.lastCrash(), err)
			}
			continue
		}
		select {
		case <-a.done:
			if a.err != nil {
				return nil, a.err
			}
		case <-ctx.Done():
			return nil, p.unavailable("it is still starting", context.Cause(ctx))
		}
	}
}

// next returns the current process, or the start to wait for, or how long the
// back-off still lasts, or why there will be none of these.
func (p *plugin) next() (*process, *attempt, time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reason := p.blocked(); reason != "" {
		return nil, nil, 0, p.unavailable(reason, nil)
	}
	if p.cur != nil && p.cur.enter() {
		return p.cur, nil, 0, nil
	}
	if p.starting != nil {
		return nil, p.starting, 0, nil
	}
	if wait := p.breaker.wait(time.Now()); wait > 0 {
		return nil, nil, wait, nil
	}
	p.starting = &attempt{done: make(chan struct{})}
	p.prog.retain()
	go p.start(p.starting, p.prog)
	return nil, p.starting, 0, nil
}

// blocked says why no call can go to the plugin; the lock is held.
func (p *plugin) blocked() string {
	switch {
	case p.closed:
		return "the host is stopping"
	case p.prog == nil && p.refusal != "":
		return "its file was refused: " + p.refusal
	case p.prog == nil:
		return "its file is gone"
	case p.breaker.quarantined:
		return "it is in quarantine after too many crashes, until it is reset or replaced; the last one: " + p.breaker.reason
	}
	return ""
}

// start makes a process of prog the current one.
func (p *plugin) start(a *attempt, prog *program) {
	defer prog.release()
	p.changed()
	begin := time.Now()
	proc, err := p.starter.start(p.life, prog, p.policy)
	p.mu.Lock()
	p.starting = nil
	switch {
	case err != nil && p.life.Err() != nil:
		a.err = p.unavailable("the host is stopping", err)
	case err != nil:
		a.err = p.unavailable("it could not be started: "+err.Error(), err)
		p.noteCrash("it could not be started: " + err.Error())
	default:
		p.adopt(proc)
	}
	p.mu.Unlock()
	close(a.done)
	p.changed()
	if err == nil {
		p.log.Info("plugin started", "version", prog.manifest.Version, "pid", proc.child.pid, "took", time.Since(begin))
	}
}

// adopt puts a process in service; the lock is held. Should the program have
// been replaced or the host be stopping meanwhile, it only drains.
func (p *plugin) adopt(proc *process) {
	p.breaker.started(time.Now())
	go p.watch(proc)
	if p.closed || p.prog != proc.prog {
		p.old[proc] = struct{}{}
		proc.drain(p.policy.DrainTimeout)
		return
	}
	p.cur = proc
	go p.attend(proc)
}

// watch takes note of the end of a process.
func (p *plugin) watch(proc *process) {
	<-proc.exited()
	reason, unwanted := proc.endReason()
	p.mu.Lock()
	if p.cur == proc {
		p.cur = nil
	}
	delete(p.old, proc)
	if unwanted && !p.closed {
		p.restarts++
		p.noteCrash(reason)
	}
	p.mu.Unlock()
	if !unwanted {
		proc.log.Info("plugin process ended", "how", reason)
	}
	p.changed()
}

// noteCrash tells the breaker of a crash or of a start that failed; the lock
// is held.
func (p *plugin) noteCrash(reason string) {
	now := time.Now()
	if p.breaker.crashed(now, reason) {
		p.log.Error("plugin is put in quarantine after too many crashes", "reason", reason)
		return
	}
	wait := p.breaker.wait(now)
	p.log.Error("plugin failed", "reason", reason, "next_start_after", wait.Round(time.Millisecond))
	time.AfterFunc(wait, p.changed) // its state is no longer back-off
}

// retire takes a process out of service. It ends once its calls are over, at
// the latest after limit unless that is 0; the next call gets a new process.
func (p *plugin) retire(proc *process, limit time.Duration) {
	p.mu.Lock()
	if p.cur == proc {
		p.cur = nil
		p.old[proc] = struct{}{}
	}
	p.mu.Unlock()
	proc.drain(limit)
	p.changed()
}

// reset leaves back-off and quarantine.
func (p *plugin) reset() {
	p.mu.Lock()
	p.breaker.reset()
	p.mu.Unlock()
	p.changed()
}

func (p *plugin) lastCrash() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.breaker.reason
}

func (p *plugin) unavailable(reason string, err error) error {
	return &UnavailableError{Plugin: p.name, Reason: reason, Err: err}
}

// sleep waits for d or for the end of ctx, whose cause it then returns.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
