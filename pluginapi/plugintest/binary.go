package plugintest

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// lifelineFD is the number that the first extra file gets in a child.
const lifelineFD = "3"

// Start starts a built plugin the way a host does, with an encrypted connection
// and an environment that holds only PATH. It fails the test if that does not
// work; what the plugin logs is in the test's output.
func Start(t testing.TB, path string) *Host {
	t.Helper()
	ours, theirs := lifeline(t)
	cmd := exec.Command(path)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), wire.LifelineEnv + "=" + lifelineFD}
	cmd.ExtraFiles = []*os.File{theirs}
	client := plugin.NewClient(&plugin.ClientConfig{
		Cmd:              cmd,
		HandshakeConfig:  wire.Handshake(),
		Plugins:          wire.PluginSet(nil),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
		SkipHostEnv:      true,
		GRPCDialOptions:  wire.DialOptions(),
		StartTimeout:     callLimit,
		Logger:           hclog.New(&hclog.LoggerOptions{Output: t.Output(), Level: hclog.Info}),
	})
	t.Cleanup(func() {
		client.Kill()
		_ = ours.Close()
	})
	protocol, err := client.Client()
	if err != nil {
		t.Fatalf("start plugin: %v", err)
	}
	dispensed, err := protocol.Dispense(wire.PluginName)
	if err != nil {
		t.Fatalf("start plugin: %v", err)
	}
	h := &Host{Client: dispensed.(*wire.Client), t: t}
	ctx, cancel := h.limit(context.Background())
	defer cancel()
	if _, err := h.Client.Plugin.Configure(ctx, &pb.ConfigureRequest{LogLevel: "debug", App: "app", Node: "test"}); err != nil {
		t.Fatalf("configure plugin: %v", err)
	}
	return h
}

// lifeline makes the pipe that a host keeps open as long as it lives.
func lifeline(t testing.TB) (ours, theirs *os.File) {
	t.Helper()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatalf("make lifeline: %v", err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, theirs
}
