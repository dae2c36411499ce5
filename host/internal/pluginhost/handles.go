package pluginhost

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// Notifier is a notifier component with its settings; see Trigger about handles.
type Notifier struct{ handle handle }

// Notifier returns a handle.
func (h *Host) Notifier(spec Spec) *Notifier {
	return &Notifier{h.handle(pluginapi.KindNotifier, spec)}
}

// Notify delivers a message and returns the receipt, see
// pluginapi.ReceiptNotifier; also with an error there may be one.
// pluginapi.IsPermanent tells of an error that trying again cannot mend.
func (n *Notifier) Notify(ctx context.Context, msg pluginapi.Message) (receipt string, err error) {
	raw, err := json.Marshal(msg)
	if err != nil {
		return "", fmt.Errorf("encode message: %w", err)
	}
	err = n.handle.do(ctx, "Notify", notifyTimeout,
		func(ctx context.Context, proc *process, spec string) (*pb.Problem, error) {
			reply, err := proc.conn.Notifier.Notify(ctx, &pb.NotifyRequest{SpecId: spec, Message: raw})
			if receipt = reply.GetReceipt(); len(receipt) > pluginapi.MaxReceipt {
				receipt = ""
			}
			return reply.GetProblem(), err
		})
	return receipt, err
}

// Params is a parameter provider with its settings; see Trigger about handles.
type Params struct{ handle handle }

// Params returns a handle.
func (h *Host) Params(spec Spec) *Params {
	return &Params{h.handle(pluginapi.KindParams, spec)}
}

// Resolve returns the parameters of a run as a JSON object, nil for none.
func (p *Params) Resolve(ctx context.Context, req ax.RunRequest) (json.RawMessage, error) {
	var params json.RawMessage
	err := p.handle.do(ctx, "Resolve", callTimeout,
		func(ctx context.Context, proc *process, spec string) (*pb.Problem, error) {
			reply, err := proc.conn.Params.Resolve(ctx, &pb.ResolveRequest{SpecId: spec, Fire: fireOf(req)})
			params = reply.GetParams()
			return reply.GetProblem(), err
		})
	if err != nil {
		return nil, err
	}
	if _, err := wire.DecodeObject(params); err != nil {
		return nil, &MisbehavedError{Plugin: p.handle.spec.Use, Component: "Resolve", What: "its parameters: " + err.Error()}
	}
	return params, nil
}

// Listener is a listener component with its settings; see Trigger about handles.
type Listener struct{ handle handle }

// Listener returns a handle.
func (h *Host) Listener(spec Spec) *Listener {
	return &Listener{h.handle(pluginapi.KindListener, spec)}
}

// Notice tells the listener of one event of a run: wire.EventBefore, EventAfter
// or EventComplete. outcome is nil before the run.
func (l *Listener) Notice(ctx context.Context, event string, req ax.RunRequest, outcome *ax.Outcome) error {
	in := &pb.NoticeRequest{Event: event, Fire: fireOf(req)}
	if outcome != nil {
		raw, err := encodeOutcome(*outcome)
		if err != nil {
			return err
		}
		in.Outcome = raw
	}
	return l.handle.do(ctx, "Notice", callTimeout,
		func(ctx context.Context, proc *process, spec string) (*pb.Problem, error) {
			in.SpecId = spec
			reply, err := proc.conn.Listener.Notice(ctx, in)
			return reply.GetProblem(), err
		})
}

// encodeOutcome writes an outcome in the form of pluginapi.Outcome.
func encodeOutcome(o ax.Outcome) ([]byte, error) {
	data, err := wire.DecodeObject(o.Data)
	if err != nil {
		return nil, fmt.Errorf("encode outcome: %w", err)
	}
	raw, err := json.Marshal(pluginapi.Outcome{
		Status: string(o.Status), Message: o.Message, Error: o.Error,
		StartedAt: o.StartedAt, EndedAt: o.EndedAt, Data: data, WillRetry: o.WillRetry,
	})
	if err != nil {
		return nil, fmt.Errorf("encode outcome: %w", err)
	}
	return raw, nil
}

// fireOf is the run as components see it.
func fireOf(req ax.RunRequest) *pb.Fire {
	return &pb.Fire{
		App: req.App, Task: req.Task, InstanceId: req.Instance.String(), Kind: string(req.Kind),
		Attempt: uint32(max(req.Attempt, 0)), MaxAttempts: uint32(max(req.MaxAttempts, 0)),
		ScheduledAt: wire.EncodeTime(req.ScheduledAt), Zone: req.Zone,
		TraceId: req.TraceID, Node: req.Node, Params: req.Params, Fence: req.Fence,
		Shard: uint32(max(req.Shard, 0)), Shards: uint32(max(req.Shards, 0)),
	}
}
