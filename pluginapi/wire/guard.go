package wire

import (
	"context"
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// guard calls the author's code and turns a panic into an INTERNAL problem
// with its stack, so that one bad call does not end the process.
func guard(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &ProblemError{
				Kind:    pb.Problem_INTERNAL,
				Message: fmt.Sprintf("panic: %v", r),
				Stack:   string(debug.Stack()),
			}
		}
	}()
	return call()
}

// ServerOptions are what a plugin's gRPC server needs: message limits of
// [MaxMessage], and panics of the adapters answered as gRPC errors.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.MaxSendMsgSize(MaxMessage),
		grpc.ChainUnaryInterceptor(guardUnary),
		grpc.ChainStreamInterceptor(guardStream),
	}
}

func guardUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (reply any, err error) {
	panicked := guard(func() error {
		reply, err = handle(ctx, req)
		return nil
	})
	if panicked != nil {
		return nil, internalStatus(panicked)
	}
	return reply, err
}

func guardStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	panicked := guard(func() error {
		err = handle(srv, stream)
		return nil
	})
	if panicked != nil {
		return internalStatus(panicked)
	}
	return err
}

func internalStatus(err error) error { return status.Error(codes.Internal, validText(err.Error())) }
