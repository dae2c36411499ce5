package pluginhost

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// Limits in bytes of what a plugin says in words. It goes into errors, logs,
// the database and messages, and is kept for as long as it is the newest.
const (
	maxText  = 2 << 10 // of an error, a message or a reason
	maxStack = 8 << 10 // of a stack, or of the last words of a process
)

// bounded cuts a text to a limit and says how much is missing.
func bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end]) + fmt.Sprintf("… [%d bytes cut]", len(text)-end)
}

// dialOptions are those of every connection to a plugin. All answers pass here,
// so that no text of a plugin is longer than its limit, wherever it is used.
func dialOptions() []grpc.DialOption {
	return append(wire.DialOptions(),
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
			invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			err := invoke(ctx, method, req, reply, cc, opts...)
			boundTexts(reply)
			return boundedError(err)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
			streamer grpc.Streamer, opts ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			stream, err := streamer(ctx, desc, cc, method, opts...)
			if err != nil {
				return nil, boundedError(err)
			}
			return boundedStream{stream}, nil
		}))
}

type boundedStream struct{ grpc.ClientStream }

func (s boundedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	boundTexts(m)
	return boundedError(err)
}

// boundedError bounds the words of an error that a plugin may have chosen itself.
func boundedError(err error) error {
	if s, ok := status.FromError(err); ok && len(s.Message()) > maxText {
		return status.Error(s.Code(), bounded(s.Message(), maxText))
	}
	return err
}

// boundTexts bounds what an answer says in words. Lines of output have limits of
// their own, see readLines and package executor.
func boundTexts(answer any) {
	switch a := answer.(type) {
	case *pb.PrepareReply:
		for _, r := range a.GetResults() {
			boundProblem(r.GetProblem())
		}
	case *pb.NextReply:
		for _, r := range a.GetResults() {
			boundProblem(r.GetProblem())
		}
	case *pb.HealthReply:
		a.Text = bounded(a.Text, maxText)
	case *pb.RunEvent:
		if p := a.GetProgress(); p != nil {
			p.Message = bounded(p.Message, maxText)
		}
		if o := a.GetOutcome(); o != nil {
			o.Message = bounded(o.Message, maxText)
			boundProblem(o.GetProblem())
		}
	case interface{ GetProblem() *pb.Problem }: // the others have nothing else to say
		boundProblem(a.GetProblem())
	}
}

func boundProblem(p *pb.Problem) {
	if p != nil {
		p.Message, p.Stack = bounded(p.Message, maxText), bounded(p.Stack, maxStack)
	}
}

// boundManifest bounds the descriptions that a program prints of itself, and what
// is wrong with them.
func boundManifest(m wire.Manifest, err error) (wire.Manifest, error) {
	m.Description = bounded(m.Description, maxText)
	for i := range m.Components {
		m.Components[i].Description = bounded(m.Components[i].Description, maxText)
	}
	if err != nil && len(err.Error()) > maxText {
		err = fmt.Errorf("%s", bounded(err.Error(), maxText))
	}
	return m, err
}
