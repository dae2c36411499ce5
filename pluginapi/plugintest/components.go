package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// Trigger makes a trigger from settings; its methods call the plugin.
func (h *Host) Trigger(name string, settings any, options ...Option) pluginapi.BatchTrigger {
	h.t.Helper()
	return &trigger{h, h.mustPrepare(pluginapi.KindTrigger, name, settings, options)}
}

type trigger struct {
	host *Host
	spec string
}

// endOfTime is later than any due time.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Next implements pluginapi.Trigger.
func (t *trigger) Next(ctx context.Context, after time.Time) (time.Time, error) {
	times, err := t.NextBatch(ctx, after, endOfTime, 1)
	if err != nil || len(times) == 0 {
		return time.Time{}, err
	}
	return times[0], nil
}

// NextBatch implements pluginapi.BatchTrigger.
func (t *trigger) NextBatch(ctx context.Context, after, until time.Time, n int) ([]time.Time, error) {
	ctx, cancel := t.host.limit(ctx)
	defer cancel()
	reply, err := t.host.Client.Trigger.Next(ctx, &pb.NextRequest{Items: []*pb.NextItem{{
		SpecId: t.spec, After: wire.EncodeTime(after), Until: wire.EncodeTime(until), Max: uint32(n),
	}}})
	if err != nil {
		return nil, fmt.Errorf("call Next: %w", err)
	}
	if len(reply.GetResults()) != 1 {
		return nil, fmt.Errorf("call Next: 1 item gave %d results", len(reply.GetResults()))
	}
	result := reply.GetResults()[0]
	if err := wire.DecodeProblem(result.GetProblem()); err != nil {
		return nil, err
	}
	var times []time.Time
	for _, micros := range result.GetTimes() {
		times = append(times, wire.DecodeTime(micros, after.Location()))
	}
	return times, nil
}

// Notifier makes a notifier from settings; its methods call the plugin. Keeping
// receipts and putting them into messages is up to the test.
func (h *Host) Notifier(name string, settings any, options ...Option) pluginapi.ReceiptNotifier {
	h.t.Helper()
	return &notifier{h, h.mustPrepare(pluginapi.KindNotifier, name, settings, options)}
}

type notifier struct {
	host *Host
	spec string
}

// Notify implements pluginapi.Notifier.
func (n *notifier) Notify(ctx context.Context, msg pluginapi.Message) error {
	_, err := n.NotifyReceipt(ctx, msg)
	return err
}

// NotifyReceipt implements pluginapi.ReceiptNotifier; the receipt of a plain
// Notifier is empty.
func (n *notifier) NotifyReceipt(ctx context.Context, msg pluginapi.Message) (receipt string, err error) {
	raw, err := json.Marshal(msg)
	if err != nil {
		return "", fmt.Errorf("encode message: %w", err)
	}
	ctx, cancel := n.host.limit(ctx)
	defer cancel()
	reply, err := n.host.Client.Notifier.Notify(ctx, &pb.NotifyRequest{SpecId: n.spec, Message: raw})
	if err != nil {
		return "", fmt.Errorf("call Notify: %w", err)
	}
	return reply.GetReceipt(), wire.DecodeProblem(reply.GetProblem())
}

// Params makes a parameter provider from settings; its method calls the plugin.
func (h *Host) Params(name string, settings any, options ...Option) pluginapi.ParamProvider {
	h.t.Helper()
	return &params{h, h.mustPrepare(pluginapi.KindParams, name, settings, options)}
}

type params struct {
	host *Host
	spec string
}

// Params implements pluginapi.ParamProvider.
func (p *params) Params(ctx context.Context, fire pluginapi.Fire) (map[string]any, error) {
	in, err := encodeFire(fire)
	if err != nil {
		return nil, err
	}
	ctx, cancel := p.host.limit(ctx)
	defer cancel()
	reply, err := p.host.Client.Params.Resolve(ctx, &pb.ResolveRequest{SpecId: p.spec, Fire: in})
	if err != nil {
		return nil, fmt.Errorf("call Resolve: %w", err)
	}
	if err := wire.DecodeProblem(reply.GetProblem()); err != nil {
		return nil, err
	}
	return wire.DecodeObject(reply.GetParams())
}

// Listener makes a listener from settings; its methods call the plugin.
func (h *Host) Listener(name string, settings any, options ...Option) pluginapi.Listener {
	h.t.Helper()
	return &listener{h, h.mustPrepare(pluginapi.KindListener, name, settings, options)}
}

type listener struct {
	host *Host
	spec string
}

// Before implements pluginapi.Listener.
func (l *listener) Before(ctx context.Context, fire pluginapi.Fire) error {
	return l.notice(ctx, wire.EventBefore, fire, nil)
}

// After implements pluginapi.Listener.
func (l *listener) After(ctx context.Context, fire pluginapi.Fire, outcome pluginapi.Outcome) error {
	return l.notice(ctx, wire.EventAfter, fire, &outcome)
}

// Complete implements pluginapi.Listener.
func (l *listener) Complete(ctx context.Context, fire pluginapi.Fire, outcome pluginapi.Outcome) error {
	return l.notice(ctx, wire.EventComplete, fire, &outcome)
}

func (l *listener) notice(ctx context.Context, event string, fire pluginapi.Fire, outcome *pluginapi.Outcome) error {
	in, err := encodeFire(fire)
	if err != nil {
		return err
	}
	request := &pb.NoticeRequest{SpecId: l.spec, Event: event, Fire: in}
	if outcome != nil {
		if request.Outcome, err = json.Marshal(outcome); err != nil {
			return fmt.Errorf("encode outcome: %w", err)
		}
	}
	ctx, cancel := l.host.limit(ctx)
	defer cancel()
	reply, err := l.host.Client.Listener.Notice(ctx, request)
	if err != nil {
		return fmt.Errorf("call Notice: %w", err)
	}
	return wire.DecodeProblem(reply.GetProblem())
}

// encodeFire fills in what a test left out.
func encodeFire(fire pluginapi.Fire) (*pb.Fire, error) {
	fire.App = nonEmpty(fire.App, "app")
	fire.Task = nonEmpty(fire.Task, "task")
	fire.InstanceID = nonEmpty(fire.InstanceID, "instance")
	fire.Kind = nonEmpty(fire.Kind, "scheduled")
	fire.Attempt = max(fire.Attempt, 1)
	fire.MaxAttempts = max(fire.MaxAttempts, fire.Attempt)
	if fire.ScheduledAt.IsZero() {
		fire.ScheduledAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	return wire.EncodeFire(fire)
}

func nonEmpty(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
