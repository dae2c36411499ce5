package pluginhost

import (
	"context"
	"errors"
	"time"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// attend looks after a process until it ends: it asks for its health, kills it
// if it does not answer, and releases the specs that nobody uses any more.
func (p *plugin) attend(proc *process) {
	ticker := time.NewTicker(p.limits.health)
	defer ticker.Stop()
	misses := 0
	for {
		select {
		case <-proc.exited():
			return
		case <-ticker.C:
		}
		err := proc.health(context.Background())
		switch {
		case err == nil:
			misses = 0
			proc.releaseStale()
		case isClosed(proc.exited()), isClosed(proc.idle):
			return // it is ending
		case isUnwell(err):
			p.replaceUnwell(proc, err.Error())
		default:
			misses++
			proc.log.Warn("plugin did not pass a health check", "reason", err, "misses", misses)
			if misses >= p.limits.healthMisses {
				proc.kill(err.Error())
			}
		}
	}
}

func isUnwell(err error) bool {
	_, ok := errors.AsType[*unwellError](err)
	return ok
}

// replaceUnwell retires a process that misbehaves but still answers. Its runs
// may end; the breaker sees to it that it is not started too often.
func (p *plugin) replaceUnwell(proc *process, reason string) {
	p.mu.Lock()
	current := p.cur == proc
	if current {
		p.noteCrash(reason)
	}
	p.mu.Unlock()
	if current {
		p.retire(proc, p.policy.DrainTimeout)
	}
}

// timedOut takes note of a call that was not answered in time. One slow call is
// no reason to end a process, many in a row are; a process that answers nothing
// at all is found by its health checks.
func (p *plugin) timedOut(proc *process) {
	proc.mu.Lock()
	proc.slow++
	slow := proc.slow
	proc.mu.Unlock()
	if slow >= p.limits.slowCalls {
		p.replaceUnwell(proc, "too many calls in a row were not answered in time")
	}
}

// answered takes note of a call that was answered.
func (p *process) answered() {
	p.mu.Lock()
	p.slow = 0
	p.mu.Unlock()
}

// releaseStale makes the plugin forget specs that were not used for long.
func (p *process) releaseStale() {
	ids := p.specs.stale(time.Now().Add(-p.limits.specTTL))
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.limits.healthCall)
	defer cancel()
	if _, err := p.conn.Plugin.Release(ctx, &pb.ReleaseRequest{SpecIds: ids}); err != nil {
		p.log.Warn("specs could not be released", "specs", len(ids), "error", err)
	}
}
