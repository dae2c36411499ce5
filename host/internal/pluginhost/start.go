package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// lastWords is how long the end of a process is awaited whose start failed or
// whose connection broke, so that the report can say how it ended.
const lastWords = 2 * time.Second

// starter starts processes of plugins. It has no state of its own.
type starter struct {
	spawner *spawner
	limits  limits
	owner   string // value of ownerEnv
	runDir  string
	app     string
	node    string
	log     hclog.Logger // its level is sent to the plugins
}

// start starts the program and returns once it has answered and is configured.
// If it fails nothing of the process is left. All of it takes no longer than
// the policy's StartTimeout, apart from the killing.
func (s *starter) start(ctx context.Context, prog *program, policy Policy) (*process, error) {
	if err := prog.verify(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, policy.StartTimeout)
	defer cancel()
	log := s.log.With("plugin", prog.manifest.Name, "version", prog.manifest.Version)
	p := &process{
		prog: prog, limits: s.limits, log: log, out: newOutput(log, s.limits), specs: newSpecTable(),
		idle: make(chan struct{}), force: make(chan struct{}), started: time.Now(),
	}
	run := newRunner(s.spawner, launch{
		path: prog.path, program: prog.file, args: policy.Args,
		env:      append(policy.environ(), ownerEnv+"="+s.owner),
		onStderr: p.out.stderrLine, bytesPerSec: s.limits.outputPerSec,
	}, p.out.strayLine)
	p.client = goplugin.NewClient(s.clientConfig(p, run, policy))
	err := p.connect(ctx, run)
	if p.child = run.started(); p.child != nil {
		p.log = log.With("pid", p.child.pid)
		p.out.identify(p.child.pid)
		go p.cleanUp(run)
	} else {
		_ = os.RemoveAll(run.socketDir)
	}
	if err == nil {
		err = s.introduce(ctx, p)
	}
	if err == nil {
		return p, nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it was not ready within %v: %w", policy.StartTimeout, err)
		return nil, p.abort(err)
	}
	return nil, p.abort(p.whyEnded(run, err))
}

func (s *starter) clientConfig(p *process, run *runner, policy Policy) *goplugin.ClientConfig {
	return &goplugin.ClientConfig{
		HandshakeConfig:  wire.Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{wire.ProtocolVersion: wire.PluginSet(nil)},
		RunnerFunc:       run.prepare,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		AutoMTLS:         !p.prog.plain(),
		SkipHostEnv:      true,
		StartTimeout:     policy.StartTimeout,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: s.runDir},
		GRPCDialOptions:  dialOptions(),
		SyncStdout:       &lineWriter{fn: p.out.strayLine, pace: newPace(s.limits.outputPerSec)},
		SyncStderr:       &lineWriter{fn: p.out.strayLine, pace: newPace(s.limits.outputPerSec)},
		// What go-plugin has to say, this package says better.
		Logger: hclog.NewNullLogger(),
	}
}

// connect makes go-plugin start the program and connect to it.
func (p *process) connect(ctx context.Context, run *runner) error {
	connected := make(chan error, 1)
	go func() {
		proto, err := p.client.Client()
		if err == nil {
			p.proto = proto
		}
		connected <- err
	}()
	select {
	case err := <-connected:
		return err
	case <-ctx.Done():
		// The kill makes go-plugin give up; it listens to nothing else.
		_ = run.Kill(context.Background())
		<-connected //nolint:errcheck // it says the same
		return errors.New("no handshake")
	}
}

// introduce makes sure that the process is what its file was described as, and
// tells it about this host.
func (s *starter) introduce(ctx context.Context, p *process) error {
	dispensed, err := p.proto.Dispense(wire.PluginName)
	if err != nil {
		return fmt.Errorf("dispense client: %w", err)
	}
	p.conn = dispensed.(*wire.Client)
	described, err := p.conn.Plugin.Describe(ctx, &pb.DescribeRequest{})
	if err != nil {
		return fmt.Errorf("call Describe: %w", err)
	}
	m, want := wire.DecodeManifest(described), p.prog.manifest
	if m.Name != want.Name || m.Version != want.Version || len(m.Components) != len(want.Components) {
		return fmt.Errorf("it serves %s %s with %d components, but %s said %s %s with %d",
			m.Name, m.Version, len(m.Components), wire.DescribeFlag, want.Name, want.Version, len(want.Components))
	}
	_, err = p.conn.Plugin.Configure(ctx, &pb.ConfigureRequest{
		LogLevel: logLevel(s.log), App: s.app, Node: s.node,
	})
	if err != nil {
		return fmt.Errorf("call Configure: %w", err)
	}
	return nil
}

// logLevel is the level that a plugin should log at.
func logLevel(log hclog.Logger) string {
	if level := log.GetLevel(); level >= hclog.Trace && level <= hclog.Error {
		return level.String()
	}
	return "info"
}

// whyEnded replaces the error of a start by the end of the process, if that was
// the cause.
func (p *process) whyEnded(run *runner, err error) error {
	if p.child == nil {
		return err
	}
	select {
	case <-p.child.exited:
	case <-time.After(lastWords / 10): // it may be on its way out
		return err
	}
	if !run.seen { // what go-plugin says about this is misleading
		return fmt.Errorf("it %s before the handshake", p.child.status())
	}
	return fmt.Errorf("%w; it %s", err, p.child.status())
}

// abort ends a process whose start failed and adds its last words to the error.
func (p *process) abort(err error) error {
	if p.child == nil {
		return err
	}
	p.child.signalGroup(syscall.SIGKILL)
	<-p.child.exited
	if words := p.out.report(); words != "" {
		err = fmt.Errorf("%w; its last output: %s", err, words)
	}
	return err
}

// cleanUp frees, after the end of the process, what go-plugin holds of it.
func (p *process) cleanUp(run *runner) {
	<-p.child.exited
	p.out.close()
	p.client.Kill() // cannot block: the process and its pipes are gone
	_ = os.RemoveAll(run.socketDir)
}
