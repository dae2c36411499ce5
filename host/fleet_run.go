package host

import (
	"context"
	"errors"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/peer"
)

// runNow starts a task by hand. The host that schedules it does: only that knows
// what runs and waits. If it cannot be asked, the run waits as a row until it, or
// whoever takes over from it, finds it.
func (f *fleet) runNow(ctx context.Context, m engine.Manual) (ax.InstanceID, error) {
	client := f.scheduler(m.Task)
	if client == nil {
		return f.h.engine.RunNow(ctx, m)
	}
	own := m.Request == nil
	if own { // the answer may be lost, and the run must not be made twice
		m.Request = &ax.Request{App: f.h.live.Load().cfg.App, Key: "run-" + ax.NewTraceID(), At: f.h.now()}
	}
	id, err := client.Run(ctx, peer.Run{
		Task: m.Task, Params: m.Params, Force: m.Force, By: m.By,
		Key: m.Request.Key, Digest: m.Request.Digest, AskedAt: m.Request.At,
	})
	if refusal, ok := errors.AsType[*peer.RefusalError](err); ok {
		return 0, notRunError{refusal}
	}
	if err == nil || ctx.Err() != nil {
		return id, err
	}
	f.log.Warn("the host that schedules a task cannot be asked to run it; the run waits for it", "task", m.Task, "error", err)
	id, err = f.h.engine.RunNow(ctx, m)
	if own && errors.Is(err, ax.ErrRepeated) { // only the answer was lost
		r, err := f.h.store.Request(ctx, m.Request.App, m.Request.Key, m.Request.At)
		return r.Instance, err
	}
	return id, err
}

// scheduler returns the connection to the host that schedules a task, nil if this
// host does or there is none. A task of which each host makes a run is anybody's.
func (f *fleet) scheduler(name string) *peer.Client {
	task := f.h.taskNamed(name)
	if f.sole || f.peers == nil || task == nil || task.Strategy == ax.StrategyBroadcast {
		return nil
	}
	s := f.view.Snapshot()
	owner, ok := ownerOf(s, task)
	if !ok || owner.Incarnation == s.Self {
		return nil
	}
	return f.peers.Client(owner.Incarnation)
}

// notRunError is why another host does not run a task.
type notRunError struct{ refusal *peer.RefusalError }

func (e notRunError) Error() string { return e.refusal.Text }

func (e notRunError) Is(err error) bool {
	switch e.refusal.Code {
	case peer.Running:
		return err == engine.ErrBusy
	case peer.Repeated:
		return err == ax.ErrRepeated
	case peer.Busy, peer.Draining, peer.Unable, peer.Fenced:
	}
	return false
}

// Run starts a task by hand that another host was asked for.
func (f *fleet) Run(ctx context.Context, r peer.Run) (ax.InstanceID, error) {
	id, err := f.h.engine.RunNow(ctx, engine.Manual{
		Task: r.Task, Params: r.Params, Force: r.Force, By: r.By,
		Request: &ax.Request{App: f.h.live.Load().cfg.App, Key: r.Key, Digest: r.Digest, At: r.AskedAt},
	})
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, engine.ErrBusy):
		return 0, &peer.RefusalError{Code: peer.Running, Text: err.Error()}
	case errors.Is(err, ax.ErrRepeated):
		return 0, &peer.RefusalError{Code: peer.Repeated, Text: err.Error()}
	}
	return 0, &peer.RefusalError{Code: peer.Unable, Text: err.Error()}
}
