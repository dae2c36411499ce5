package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// ServerConfig says what a [Server] offers. Log and Level are required.
type ServerConfig struct {
	Info       pluginapi.Info
	Components []pluginapi.Component
	// Log is what components get as Env.Log.
	Log *slog.Logger
	// Level is set by Configure; lines of runs below it are not sent.
	Level *slog.LevelVar
	// OnConfigure, if set, is called with each Configure.
	OnConfigure func()
}

// Server offers components over gRPC. It lives as long as the process.
type Server struct {
	manifest Manifest
	cfg      ServerConfig
	specs    *specs
	runs     *runs
	calls    atomic.Int64 // in flight, without runs
}

// NewServer fails if [NewManifest] finds something wrong.
func NewServer(cfg ServerConfig) (*Server, error) {
	manifest, err := NewManifest(cfg.Info, cfg.Components)
	if err != nil {
		return nil, err
	}
	return &Server{manifest: manifest, cfg: cfg, specs: newSpecs(cfg.Components), runs: newRuns()}, nil
}

// checkPlugin reports everything that is wrong with a plugin's declaration.
func checkPlugin(info pluginapi.Info, components []pluginapi.Component) error {
	errs := []error{info.Check()}
	if len(components) == 0 {
		errs = append(errs, fmt.Errorf("plugin %q has no components", info.Name))
	}
	seen := map[componentKey]bool{}
	for _, c := range components {
		errs = append(errs, c.Check())
		key := componentKey{c.Kind, c.Name}
		if seen[key] {
			errs = append(errs, fmt.Errorf("%s %q is there twice", c.Kind, c.Name))
		}
		seen[key] = true
	}
	return errors.Join(errs...)
}

// Register adds the services to a gRPC server made with [ServerOptions].
func (s *Server) Register(to grpc.ServiceRegistrar) {
	pb.RegisterPluginServer(to, pluginService{server: s})
	pb.RegisterTriggerServer(to, triggerService{server: s})
	pb.RegisterJobServer(to, jobService{server: s})
	pb.RegisterNotifierServer(to, notifierService{server: s})
	pb.RegisterParamsServer(to, paramsService{server: s})
	pb.RegisterListenerServer(to, listenerService{server: s})
}

// Drain refuses new runs and cancels the running ones with cause
// [pluginapi.ErrDrain]. It returns nil once all have ended and their outcomes
// were sent, or the cause of ctx if that ends first.
func (s *Server) Drain(ctx context.Context) error { return s.runs.drain(ctx) }

// Kill calls what runs registered with Run.OnKill. The process is to end next.
func (s *Server) Kill() { s.runs.kill() }

// call counts a call as in flight until the returned func is called.
func (s *Server) call() (done func()) {
	s.calls.Add(1)
	return func() { s.calls.Add(-1) }
}

// pluginService implements the Plugin service.
type pluginService struct {
	pb.UnimplementedPluginServer
	server *Server
}

// Describe returns the manifest.
func (p pluginService) Describe(context.Context, *pb.DescribeRequest) (*pb.Manifest, error) {
	return EncodeManifest(p.server.manifest), nil
}

// Configure sets the log level. The host may call it again.
func (p pluginService) Configure(_ context.Context, in *pb.ConfigureRequest) (*pb.ConfigureReply, error) {
	p.server.cfg.Level.Set(ParseLevel(in.GetLogLevel()))
	if p.server.cfg.OnConfigure != nil {
		p.server.cfg.OnConfigure()
	}
	return &pb.ConfigureReply{}, nil
}

// Health answers at once; a plugin that cannot is to be restarted.
func (p pluginService) Health(context.Context, *pb.HealthRequest) (*pb.HealthReply, error) {
	runs, draining := p.server.runs.count()
	reply := &pb.HealthReply{Ok: !draining, Text: "ok", InFlight: uint32(p.server.calls.Load()) + uint32(runs)}
	if draining {
		reply.Text = "draining"
	}
	return reply, nil
}

// Prepare makes components; see [specs.prepare].
func (p pluginService) Prepare(ctx context.Context, in *pb.PrepareRequest) (*pb.PrepareReply, error) {
	defer p.server.call()()
	var badCalendars []error
	for _, data := range in.GetCalendars() {
		if err := p.server.specs.addCalendar(data); err != nil {
			badCalendars = append(badCalendars, err)
		}
	}
	reply := &pb.PrepareReply{}
	for _, sp := range in.GetSpecs() {
		err := ctx.Err()
		if err == nil {
			err = p.server.specs.prepare(sp, p.server.cfg.Log)
		}
		if IsUnknownSpec(err) && badCalendars != nil {
			err = problem(pb.Problem_INVALID, errors.Join(badCalendars...).Error())
		}
		reply.Results = append(reply.Results, &pb.PrepareResult{SpecId: sp.GetId(), Problem: EncodeProblem(err)})
	}
	return reply, nil
}

// Release forgets specs.
func (p pluginService) Release(_ context.Context, in *pb.ReleaseRequest) (*pb.ReleaseReply, error) {
	for _, id := range in.GetSpecIds() {
		if err := p.server.specs.release(id); err != nil {
			p.server.cfg.Log.Warn("releasing a component failed", "spec", id, "error", err)
		}
	}
	return &pb.ReleaseReply{}, nil
}

// LevelTrace is the level below slog.LevelDebug.
const LevelTrace = slog.LevelDebug - 4

// ParseLevel reads the log_level of Configure; an unknown one means info.
func ParseLevel(name string) slog.Level {
	switch strings.ToLower(name) {
	case "trace":
		return LevelTrace
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// LevelName is the opposite of [ParseLevel], for levels in between too.
func LevelName(level slog.Level) string {
	switch {
	case level < slog.LevelDebug:
		return "trace"
	case level < slog.LevelInfo:
		return "debug"
	case level < slog.LevelWarn:
		return "info"
	case level < slog.LevelError:
		return "warn"
	}
	return "error"
}
