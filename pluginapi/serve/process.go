package serve

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

// How long runs get to end after they were told to, before what they
// registered with Run.OnKill is called and the process exits.
const (
	drainLimit  = 10 * time.Second       // after SIGTERM
	orphanLimit = 400 * time.Millisecond // without a host
)

// flushLimit is how long answers that were given may take to leave.
const flushLimit = 100 * time.Millisecond

// process is a plugin that a host started.
type process struct {
	logs     *logs
	server   *wire.Server
	stderr   *os.File // go-plugin replaces os.Stderr
	lifeline *os.File // nil if the host gave none
	tidy     sync.Once

	mu       sync.Mutex
	services *grpc.Server // nil until there is a listener
	asked    bool         // the host or a signal asked for the end
}

func newProcess(info pluginapi.Info, components []pluginapi.Component) (*process, error) {
	keepFiles()
	lifeline, err := openLifeline()
	if err != nil {
		return nil, err
	}
	p := &process{logs: newLogs(os.Stderr, info.Name), stderr: os.Stderr, lifeline: lifeline}
	p.server, err = wire.NewServer(wire.ServerConfig{
		Info: info, Components: components,
		Log: p.logs.slog, Level: p.logs.level, OnConfigure: p.configured,
	})
	return p, err
}

// serve returns the status to exit with: 0 if somebody asked for the end.
func (p *process) serve() (status int) {
	slog.SetDefault(p.logs.slog) // package log follows
	hclog.SetDefault(p.logs.hclog)
	p.watchSignals()
	if p.lifeline != nil {
		go p.orphaned()
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: wire.Handshake(),
		Plugins:         wire.PluginSet(p.server),
		GRPCServer:      p.newServices,
		Logger:          p.logs.hclog,
	})
	p.endRuns(orphanLimit)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.asked {
		return 1 // no listener, or it broke: go-plugin has logged why
	}
	return 0
}

// newServices makes the gRPC server, once go-plugin has a listener.
func (p *process) newServices(options []grpc.ServerOption) *grpc.Server {
	options = append(options, wire.ServerOptions()...)
	options = append(options, grpc.ChainUnaryInterceptor(p.noteShutdown))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.services = grpc.NewServer(options...)
	return p.services
}

// noteShutdown notes that the host asks for the end, by go-plugin's own call.
func (p *process) noteShutdown(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if strings.HasSuffix(info.FullMethod, ".GRPCController/Shutdown") {
		p.ask()
	}
	return handle(ctx, req)
}

func (p *process) ask() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = true
}

// configured follows each Configure call.
func (p *process) configured() {
	p.logs.levelChanged()
	p.tidy.Do(func() {
		// The handshake is over. Prints of the author go where records go, rather
		// than through a pipe of go-plugin that blocks when nobody reads it.
		os.Stdout, os.Stderr = p.stderr, p.stderr
		for _, name := range handshakeEnv() {
			_ = os.Unsetenv(name) // it is none of the business of what jobs start
		}
	})
}

// handshakeEnv names the variables by which host and plugin find each other.
func handshakeEnv() []string {
	return []string{
		wire.CookieKey, wire.LifelineEnv,
		"PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_CLIENT_CERT", "PLUGIN_MULTIPLEX_GRPC",
		"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", plugin.EnvUnixSocketDir, plugin.EnvUnixSocketGroup,
	}
}

func (p *process) watchSignals() {
	// Without a handler for SIGPIPE a log record would end this process at once
	// when the host is gone, before runs are cleaned up. Both are only swallowed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, os.Interrupt)
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	go func() {
		<-terminate
		p.ask()
		p.logs.slog.Info("draining")
		p.endRuns(drainLimit)
		p.stop()
		os.Exit(0)
	}()
}

// orphaned ends the process once the host is gone.
func (p *process) orphaned() {
	watch(p.lifeline)
	p.ask()
	p.endRuns(orphanLimit)
	p.stop()
	os.Exit(0)
}

// endRuns cancels all runs and waits for them, then ends what is left of them.
func (p *process) endRuns(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := p.server.Drain(ctx); err != nil {
		p.logs.slog.Warn("runs go on although their contexts ended; they are cut off", "waited", limit)
	}
	p.server.Kill()
}

// stop closes the listener, whose socket file is removed, and lets answers out.
func (p *process) stop() {
	p.mu.Lock()
	services := p.services
	p.mu.Unlock()
	if services == nil {
		return
	}
	// The host's stream for standard output never ends by itself, and runs that
	// were cut off may not either, so there is a limit. The process exits next.
	stopped := make(chan struct{})
	go func() {
		services.GracefulStop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(flushLimit):
	}
}
