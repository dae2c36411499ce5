package wire

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// Client calls a plugin.
type Client struct {
	Plugin   pb.PluginClient
	Trigger  pb.TriggerClient
	Job      pb.JobClient
	Notifier pb.NotifierClient
	Params   pb.ParamsClient
	Listener pb.ListenerClient
}

// NewClient makes a Client of a connection opened with [DialOptions].
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{
		Plugin:   pb.NewPluginClient(conn),
		Trigger:  pb.NewTriggerClient(conn),
		Job:      pb.NewJobClient(conn),
		Notifier: pb.NewNotifierClient(conn),
		Params:   pb.NewParamsClient(conn),
		Listener: pb.NewListenerClient(conn),
	}
}

// DialOptions are what every host's connection needs: message limits, no idle
// mode, which would drop a quiet connection after 30 minutes, and a refusal of
// unary calls that could wait for ever.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithIdleTimeout(0),
		grpc.WithChainUnaryInterceptor(requireDeadline),
	}
}

// libraryCallLimit bounds calls that go-plugin makes by itself, without a
// deadline: Shutdown and the health check.
const libraryCallLimit = 2 * time.Second

// requireDeadline refuses calls of our services without a deadline.
func requireDeadline(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if _, ok := ctx.Deadline(); ok {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	if strings.HasPrefix(method, "/ax.plugin.") {
		return status.Error(codes.FailedPrecondition, fmt.Sprintf("call of %s has no deadline", method))
	}
	ctx, cancel := context.WithTimeout(ctx, libraryCallLimit)
	defer cancel()
	return invoke(ctx, method, req, reply, cc, opts...)
}
