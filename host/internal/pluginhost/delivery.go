package pluginhost

import (
	"context"
	"errors"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// deliveryPauses are the waits before a run that surely did not begin is handed
// over again. The plugin's back-off comes on top.
var deliveryPauses = []time.Duration{100 * time.Millisecond, time.Second}

func (j *Job) run(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome {
	for tries := 0; ; tries++ {
		v, err := j.handle.visit(ctx)
		if err != nil { // it has waited for the plugin itself
			return notBegun(ctx, err)
		}
		out, err := v.deliver(ctx, req, sink)
		v.end()
		switch {
		case err == nil:
			return out
		case tries == len(deliveryPauses) || !mayBegin(err):
			return notBegun(ctx, err)
		}
		v.proc.log.Warn("a run was not delivered, it is handed over again",
			"task", req.Task, "instance", req.Instance.String(), "error", err)
		if sleep(ctx, deliveryPauses[tries]) != nil {
			return notBegun(ctx, err)
		}
	}
}

// deliver makes one attempt. An error means that the job did not begin.
func (v *visit) deliver(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) (ax.Outcome, error) {
	out, err := v.attempt(ctx, req, sink)
	if wire.IsUnknownSpec(err) {
		v.proc.specs.forget([]wanted{v.want})
		out, err = v.attempt(ctx, req, sink)
	}
	if isRefusal(err) {
		if health := v.proc.health(ctx); isUnwell(health) {
			v.plugin.replaceUnwell(v.proc, health.Error()) // it drains, whoever told it to
		}
	}
	return out, err
}

// mayBegin reports whether a run that did not begin may do so at the next try:
// the process ended, or refused it for the moment.
func mayBegin(err error) bool {
	_, gone := errors.AsType[*UnavailableError](err)
	return gone || isRefusal(err)
}

func isRefusal(err error) bool {
	p, ok := errors.AsType[*wire.ProblemError](err)
	return ok && p.Kind == pb.Problem_RETRYABLE
}

// notBegun is the outcome of an attempt that could not begin.
func notBegun(ctx context.Context, err error) ax.Outcome {
	out := ax.Outcome{Status: ax.StatusLost, Error: err.Error()}
	p, reported := errors.AsType[*wire.ProblemError](err)
	switch {
	case reported && p.Kind != pb.Problem_RETRYABLE && p.Kind != pb.Problem_UNKNOWN_SPEC:
		// The plugin refuses the settings or the request: no dispatch helps.
		out.Status = ax.StatusFailed
		out.Permanent = pluginapi.IsPermanent(err)
		out.Error = withStack(err.Error(), p.Stack)
	case ctx.Err() != nil:
		out.Status = statusOf(context.Cause(ctx))
		out.NotBegun = errors.Is(context.Cause(ctx), pluginapi.ErrDrain)
	default:
		out.NotBegun = errors.Is(err, ax.ErrAway)
	}
	return out
}
