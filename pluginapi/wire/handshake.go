package wire

import (
	"context"
	"errors"
	"net/rpc"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// ProtocolVersion is the wire major; 1 is ax.plugin.v1.
const ProtocolVersion = 1

// What host and plugin agree on before they speak.
const (
	// PluginName is the only name in the plugin set of go-plugin: one process
	// serves all components, which are told apart by spec ids.
	PluginName = "ax"
	// CookieKey and CookieValue tell a plugin that a host started it.
	CookieKey   = "AX_PLUGIN_COOKIE"
	CookieValue = "a4c1f0a6d1f94e55b8e6f3a1c0b7d29e"
	// LifelineEnv names the inherited file descriptor of a pipe whose other end
	// only the host holds. Its end of file means that the host is gone.
	LifelineEnv = "AX_LIFELINE_FD"
	// DescribeFlag makes a plugin print its [Manifest] as JSON and exit.
	DescribeFlag = "--ax-describe"
)

// MaxMessage is the largest gRPC message in bytes, in both directions.
const MaxMessage = 16 << 20

// Handshake is what go-plugin compares on both ends.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  ProtocolVersion,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// PluginSet is the plugin set of both ends. server is nil in the host, where
// dispensing [PluginName] gives a *[Client].
func PluginSet(server *Server) plugin.PluginSet {
	return plugin.PluginSet{PluginName: &grpcPlugin{server: server}}
}

// grpcPlugin implements plugin.GRPCPlugin. The broker is never used: results
// and logs flow back on the stream of the call.
type grpcPlugin struct {
	server *Server
}

// GRPCServer registers the services of a plugin.
func (p *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	if p.server == nil {
		return errors.New("register plugin services: this is the host's end")
	}
	p.server.Register(s)
	return nil
}

// GRPCClient makes the host's end.
func (p *grpcPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return NewClient(conn), nil
}

var errGRPCOnly = errors.New("ax plugins speak gRPC only, not net/rpc")

// Server implements plugin.Plugin, for net/rpc.
func (*grpcPlugin) Server(*plugin.MuxBroker) (any, error) { return nil, errGRPCOnly }

// Client implements plugin.Plugin, for net/rpc.
func (*grpcPlugin) Client(*plugin.MuxBroker, *rpc.Client) (any, error) { return nil, errGRPCOnly }
