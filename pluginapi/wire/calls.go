package wire

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// with calls the author's code on a prepared component of type T.
func with[T any](s *Server, kind pluginapi.Kind, specID string, call func(T) error) *pb.Problem {
	defer s.call()()
	component, sp, err := use[T](s.specs, kind, specID)
	if err != nil {
		return EncodeProblem(err)
	}
	defer s.unuse(sp)
	return EncodeProblem(guard(func() error { return call(component) }))
}

// unuse ends the use of a spec; nobody waits for the result of closing it.
func (s *Server) unuse(sp *spec) {
	if err := s.specs.unuse(sp); err != nil {
		s.cfg.Log.Warn("releasing a component failed", "error", err)
	}
}

// notifierService implements the Notifier service.
type notifierService struct {
	pb.UnimplementedNotifierServer
	server *Server
}

// Notify delivers one message.
func (n notifierService) Notify(ctx context.Context, in *pb.NotifyRequest) (*pb.NotifyReply, error) {
	var msg pluginapi.Message
	if err := json.Unmarshal(in.GetMessage(), &msg); err != nil {
		return &pb.NotifyReply{Problem: invalid("decode message", err)}, nil
	}
	reply := &pb.NotifyReply{}
	reply.Problem = with(n.server, pluginapi.KindNotifier, in.GetSpecId(), func(to pluginapi.Notifier) (err error) {
		keeper, ok := to.(pluginapi.ReceiptNotifier)
		if !ok {
			return to.Notify(ctx, msg)
		}
		reply.Receipt, err = keeper.NotifyReceipt(ctx, msg)
		return err
	})
	if reply.Receipt = validText(reply.Receipt); len(reply.Receipt) > pluginapi.MaxReceipt {
		n.server.cfg.Log.Warn("a receipt is too long and is not kept", "bytes", len(reply.Receipt), "message", msg.ID)
		reply.Receipt = ""
	}
	return reply, nil
}

// paramsService implements the Params service.
type paramsService struct {
	pb.UnimplementedParamsServer
	server *Server
}

// Resolve makes the parameters of one run.
func (p paramsService) Resolve(ctx context.Context, in *pb.ResolveRequest) (*pb.ResolveReply, error) {
	fire, err := decodeFire(in.GetFire(), p.server.specs.zone)
	if err != nil {
		return &pb.ResolveReply{Problem: invalid("decode fire", err)}, nil
	}
	reply := &pb.ResolveReply{}
	reply.Problem = with(p.server, pluginapi.KindParams, in.GetSpecId(), func(provider pluginapi.ParamProvider) error {
		params, err := provider.Params(ctx, fire)
		if err != nil {
			return err
		}
		if reply.Params, err = EncodeObject(params); err != nil {
			return pluginapi.Permanent(fmt.Errorf("encode params: %w", err))
		}
		return nil
	})
	return reply, nil
}

// listenerService implements the Listener service.
type listenerService struct {
	pb.UnimplementedListenerServer
	server *Server
}

// Events of [pb.NoticeRequest].
const (
	EventBefore   = "before"
	EventAfter    = "after"
	EventComplete = "complete"
)

// Notice tells a listener of one event.
func (l listenerService) Notice(ctx context.Context, in *pb.NoticeRequest) (*pb.NoticeReply, error) {
	fire, err := decodeFire(in.GetFire(), l.server.specs.zone)
	if err != nil {
		return &pb.NoticeReply{Problem: invalid("decode fire", err)}, nil
	}
	var outcome pluginapi.Outcome
	if in.GetEvent() != EventBefore {
		if err := json.Unmarshal(in.GetOutcome(), &outcome); err != nil {
			return &pb.NoticeReply{Problem: invalid("decode outcome", err)}, nil
		}
	}
	return &pb.NoticeReply{Problem: with(l.server, pluginapi.KindListener, in.GetSpecId(), func(to pluginapi.Listener) error {
		switch in.GetEvent() {
		case EventBefore:
			return to.Before(ctx, fire)
		case EventAfter:
			return to.After(ctx, fire, outcome)
		case EventComplete:
			return to.Complete(ctx, fire, outcome)
		}
		return problem(pb.Problem_INVALID, fmt.Sprintf("unknown event %q", in.GetEvent()))
	})}, nil
}

// invalid is the problem of a request that the host got wrong.
func invalid(doing string, err error) *pb.Problem {
	return EncodeProblem(problem(pb.Problem_INVALID, doing+": "+err.Error()))
}
