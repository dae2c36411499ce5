package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
	goplugrun "github.com/hashicorp/go-plugin/runner"
)

// handshakeLine is core|app|network|address|grpc with optional certificate and
// multiplexing fields, as go-plugin's servers print it.
var handshakeLine = regexp.MustCompile(`^[0-9]+\|[0-9]+\|[a-z]+\|[^|]+\|[a-z]+(\|[^|]*)*$`)

// runner implements go-plugin's runner.Runner, so that starting, stopping and
// reading the program are the host's own business. go-plugin sees one line of
// stdout at most, the handshake, and nothing of stderr: it would parse that
// itself, and a malformed line could bring it down.
type runner struct {
	spawner *spawner
	stray   func(line []byte, cut bool)

	handshake *io.PipeReader // what go-plugin reads
	toLibrary *io.PipeWriter

	mu        sync.Mutex
	launch    launch
	socketDir string // where the plugin must put its socket
	stopped   bool   // by Kill, perhaps before the start
	child     *child

	seen bool // the handshake line has come; belongs to the reader until it ends
}

// newRunner makes a runner; prepare completes it.
func newRunner(s *spawner, l launch, stray func([]byte, bool)) *runner {
	r := &runner{spawner: s, launch: l, stray: stray}
	r.handshake, r.toLibrary = io.Pipe()
	r.launch.onStdout = r.stdoutLine
	return r
}

// prepare has the form of goplugin.ClientConfig.RunnerFunc. What go-plugin
// wants the program to know comes as the environment of cmd.
func (r *runner) prepare(_ hclog.Logger, cmd *exec.Cmd, socketDir string) (goplugrun.Runner, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launch.env = append(r.launch.env, cmd.Env...)
	r.socketDir = socketDir
	return r, nil
}

// stdoutLine passes the first well-formed handshake line on.
func (r *runner) stdoutLine(line []byte, cut bool) {
	if r.seen || cut || !handshakeLine.Match(line) {
		r.stray(line, cut)
		return
	}
	r.seen = true
	_, _ = r.toLibrary.Write(append(line, '\n')) // fails once go-plugin gave up
	_ = r.toLibrary.Close()
}

// Start implements runner.Runner.
func (r *runner) Start(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return errors.New("start was called off")
	}
	c, err := r.spawner.start(r.launch)
	if err != nil {
		return err
	}
	r.child = c
	go func() {
		<-c.exited
		_ = r.toLibrary.Close()
	}()
	return nil
}

// started returns the child, or nil if there is none.
func (r *runner) started() *child {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.child
}

// Wait implements runner.Runner.
func (r *runner) Wait(ctx context.Context) error {
	c := r.started()
	if c == nil {
		return nil
	}
	select {
	case <-c.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill implements runner.Runner. It is also the last step of our own ladder.
func (r *runner) Kill(ctx context.Context) error {
	r.mu.Lock()
	r.stopped = true
	c := r.child
	r.mu.Unlock()
	if c == nil {
		return nil
	}
	c.signalGroup(syscall.SIGKILL)
	return r.Wait(ctx)
}

// Stdout, Stderr, Name, ID and Diagnose implement runner.Runner.

func (r *runner) Stdout() io.ReadCloser { return r.handshake }

func (r *runner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

func (r *runner) Name() string { return r.launch.path }

func (r *runner) ID() string {
	if c := r.started(); c != nil {
		return strconv.Itoa(c.pid)
	}
	return ""
}

func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.AddrTranslator. It accepts nothing but a
// socket in the private directory that this process was given.
func (r *runner) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" {
		return "", "", fmt.Errorf("the plugin listens on %s, expected a unix socket", network)
	}
	if filepath.Dir(filepath.Clean(address)) != r.socketDir {
		return "", "", fmt.Errorf("the plugin's socket %s is not in the directory it was given", address)
	}
	return network, address, nil
}

// HostToPlugin implements runner.AddrTranslator.
func (r *runner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
