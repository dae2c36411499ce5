package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// visit is a call in progress: a process that was acquired for a component.
type visit struct {
	plugin    *plugin
	proc      *process
	component Component
	want      wanted
}

// visit finds the component and acquires a process for it. The caller calls
// end when done.
func (hd handle) visit(ctx context.Context) (*visit, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p, c, err := hd.host.find(hd.kind, hd.spec.Use)
	if err != nil {
		return nil, awayError{err}
	}
	proc, err := p.acquire(ctx)
	if err != nil {
		return nil, awayError{err}
	}
	return &visit{plugin: p, proc: proc, component: c, want: hd.wanted(c.Name)}, nil
}

func (v *visit) end() { v.plugin.release(v.proc) }

// prepare makes the component ready in the process. The spec stays there until
// done is called.
func (v *visit) prepare(ctx context.Context) (done func(), err error) {
	errs, done := v.plugin.prepare(ctx, v.proc, []wanted{v.want})
	if errs[0] != nil {
		done()
		return nil, errs[0]
	}
	return done, nil
}

// prepare makes components ready in a process of the plugin; see specTable.use.
// Problems that the plugin reports name the component.
func (p *plugin) prepare(ctx context.Context, proc *process, list []wanted) (errs []error, done func()) {
	errs, done = proc.specs.use(ctx, list, func(ctx context.Context, in *pb.PrepareRequest) (*pb.PrepareReply, error) {
		// Others may wait for the same specs, so the end of ctx must not end it.
		var reply *pb.PrepareReply
		err := p.call(context.WithoutCancel(ctx), proc, "Prepare", p.policy.CallTimeout, func(ctx context.Context) (err error) {
			reply, err = proc.conn.Plugin.Prepare(ctx, in)
			return err
		})
		return reply, err
	})
	for i, err := range errs {
		if _, ok := errors.AsType[*wire.ProblemError](err); ok {
			errs[i] = fmt.Errorf("%s/%s: %w", p.name, list[i].component, err)
		}
	}
	return errs, done
}

// do makes one call on the component, with a time limit. It prepares the
// component before, and again if the process says that it does not know it.
func (hd handle) do(ctx context.Context, method string, limit func(Policy) time.Duration,
	f func(context.Context, *process, string) (*pb.Problem, error),
) error {
	v, err := hd.visit(ctx)
	if err != nil {
		return err
	}
	defer v.end()
	err = v.try(ctx, method, limit, f)
	if wire.IsUnknownSpec(err) {
		v.proc.specs.forget([]wanted{v.want})
		err = v.try(ctx, method, limit, f)
	}
	return err
}

func (v *visit) try(ctx context.Context, method string, limit func(Policy) time.Duration,
	f func(context.Context, *process, string) (*pb.Problem, error),
) error {
	done, err := v.prepare(ctx)
	if err != nil {
		return err
	}
	defer done()
	var problem *pb.Problem
	err = v.plugin.call(ctx, v.proc, method, limit(v.plugin.policy), func(ctx context.Context) (err error) {
		problem, err = f(ctx, v.proc, v.want.id)
		return err
	})
	if err == nil && problem != nil {
		err = fmt.Errorf("%s: %w", v.component.FullName(), wire.DecodeProblem(problem))
	}
	return err
}

func callTimeout(p Policy) time.Duration   { return p.CallTimeout }
func notifyTimeout(p Policy) time.Duration { return p.NotifyTimeout }

// call makes one RPC with a time limit and says what its failure means.
func (p *plugin) call(ctx context.Context, proc *process, method string, limit time.Duration,
	f func(context.Context) error,
) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := f(limited)
	if err == nil {
		proc.answered()
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("call %s of plugin %s: %w", method, p.name, context.Cause(ctx))
	}
	if limited.Err() != nil || status.Code(err) == codes.DeadlineExceeded {
		p.timedOut(proc)
		return p.unavailable(fmt.Sprintf("it did not answer %s within %v", method, limit), err)
	}
	return p.rpcError(proc, method, err)
}

// rpcError says what the failure of an RPC means.
func (p *plugin) rpcError(proc *process, method string, err error) error {
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled:
		return p.unavailable(p.lastWords(proc, method), err)
	case codes.Unimplemented:
		return &MisbehavedError{Plugin: p.name, Component: method, What: "it does not implement the call"}
	case codes.ResourceExhausted:
		return &MisbehavedError{Plugin: p.name, Component: method,
			What: fmt.Sprintf("a message is larger than the limit of %d bytes: %v", wire.MaxMessage, err)}
	}
	proc.answered()
	return fmt.Errorf("call %s of plugin %s: %w", method, p.name, err)
}

// lastWords waits a little for the end of a process whose connection broke, and
// says how it ended.
func (p *plugin) lastWords(proc *process, method string) string {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-proc.exited():
		reason, _ := proc.endReason()
		return fmt.Sprintf("its process ended during the call %s: %s", method, reason)
	case <-timer.C:
		// Alive but out of reach: it is of no use to anybody.
		proc.kill("its connection broke")
		return "its connection broke during the call " + method
	}
}

// Validate checks a spec: the component must exist, and the plugin must accept
// the settings. It starts the plugin if need be.
func (h *Host) Validate(ctx context.Context, kind pluginapi.Kind, spec Spec) error {
	v, err := h.handle(kind, spec).visit(ctx)
	if err != nil {
		return err
	}
	defer v.end()
	done, err := v.prepare(ctx)
	if err != nil {
		return err
	}
	done()
	return nil
}
