package pluginhost

import (
	"context"
	"fmt"
	"time"
)

// rejection remembers a program that could not take over, so that it is not
// tried again at every look at the directory.
type rejection struct {
	sum   string
	until time.Time
	delay time.Duration
}

// Delays before a file that failed is tried again unchanged.
const (
	retryFirst = 10 * time.Second
	retryMax   = 10 * time.Minute
)

func (r *rejection) note(sum string, now time.Time) {
	if r.sum != sum {
		*r = rejection{sum: sum}
	}
	r.delay = min(max(retryFirst, 2*r.delay), retryMax)
	r.until = now.Add(r.delay)
}

// decide does what the directory says about the plugin.
func (p *plugin) decide(d decision) {
	switch {
	case d.gone:
		p.remove()
	case d.prog != nil:
		p.install(d.prog, d.problem)
	case d.problem != "":
		p.mu.Lock()
		p.refuse(d.problem)
		p.mu.Unlock()
	}
}

// install puts a program in force. If a process is running, one of the new
// program is started beside it first, and only if that is well it takes over;
// the old one then drains. A program that cannot take over changes nothing.
func (p *plugin) install(prog *program, problem string) {
	p.mu.Lock()
	switch {
	case p.closed, p.rejected.sum == prog.sum && time.Now().Before(p.rejected.until):
		p.mu.Unlock()
		return
	case p.prog != nil && p.prog.sum == prog.sum:
		p.refuse(problem)
		p.mu.Unlock()
		return
	case p.cur == nil:
		p.swap(prog)
		p.refuse(problem)
		p.mu.Unlock()
		p.changed()
		return
	}
	p.mu.Unlock()
	p.replace(prog)
}

// replace starts a process of prog beside the running one and lets it take
// over if it is well.
func (p *plugin) replace(prog *program) {
	proc, err := p.starter.start(p.life, prog, p.policy)
	p.mu.Lock()
	if err != nil {
		if p.life.Err() == nil {
			p.rejected.note(prog.sum, time.Now())
			p.refuse(fmt.Sprintf("version %s in %s could not be started, version %s stays in service: %v",
				prog.manifest.Version, prog.path, p.prog.manifest.Version, err))
		}
		p.mu.Unlock()
		return
	}
	before := p.cur
	p.swap(prog)
	p.adopt(proc)
	if before != nil {
		p.old[before] = struct{}{}
	}
	p.mu.Unlock()
	if before != nil {
		before.drain(0)
	}
	p.log.Info("plugin was replaced", "version", prog.manifest.Version, "pid", proc.child.pid)
	p.changed()
}

// swap makes prog the program in force; the lock is held.
func (p *plugin) swap(prog *program) {
	prog.retain()
	if p.prog != nil {
		p.prog.release()
	}
	p.prog, p.refusal, p.rejected = prog, "", rejection{}
	p.breaker.reset()
}

// remove takes the plugin out of service because its files are gone. Runs in
// flight may finish.
func (p *plugin) remove() {
	p.mu.Lock()
	known := p.prog != nil || p.refusal != ""
	if p.prog != nil {
		p.prog.release()
	}
	p.prog, p.refusal = nil, ""
	proc := p.cur
	p.mu.Unlock()
	if proc != nil {
		p.retire(proc, 0)
	}
	if known {
		p.log.Info("plugin was removed")
		p.changed()
	}
}

// refuse notes why a file of the plugin is not in force, "" for no such file;
// the lock is held. What is in service stays.
func (p *plugin) refuse(reason string) {
	if p.refusal == reason {
		return
	}
	p.refusal = reason
	if reason != "" {
		p.log.Error("plugin file is refused", "reason", reason, "older_one_stays", p.prog != nil)
	}
	p.changed()
}

// close lets no new call and no new process in, and breaks starts off.
func (p *plugin) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.endLife()
}

// shutdown ends all processes of a closed plugin: their calls may finish within
// the policy's DrainTimeout and ctx.
func (p *plugin) shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, p.policy.DrainTimeout+3*p.limits.shutdown)
	defer cancel()
	p.mu.Lock()
	starting := p.starting
	p.mu.Unlock()
	if starting != nil {
		<-starting.done // soon, since it was broken off
	}
	p.mu.Lock()
	if p.cur != nil {
		p.old[p.cur] = struct{}{}
		p.cur = nil
	}
	var procs []*process
	for proc := range p.old {
		procs = append(procs, proc)
	}
	if p.prog != nil {
		p.prog.release() // it stays known, but cannot be started any more
	}
	p.mu.Unlock()
	for _, proc := range procs {
		proc.drain(p.policy.DrainTimeout)
	}
	for _, proc := range procs {
		select {
		case <-proc.exited():
			continue
		case <-ctx.Done():
			proc.endNow()
		}
		select {
		case <-proc.exited():
		case <-time.After(killLimit):
			p.log.Error("process could not be killed", "pid", proc.child.pid)
		}
	}
}

// killLimit is how long the end of a killed process is awaited. Only one that
// hangs in the system itself takes longer.
const killLimit = 5 * time.Second
