// Package rig builds the program and runs hosts for the measurements of bench.
package rig

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// startLimit is how long a host may take to start.
const startLimit = time.Minute

// Rig is a directory with the built program, the plugin noop, and what hosts
// make of a configuration.
type Rig struct {
	Dir  string
	Addr string // of the API
}

// New builds the program and the plugin into a new directory. It must be called
// within the module. Close removes the directory.
func New(ctx context.Context) (*Rig, error) {
	dir, err := os.MkdirTemp("", "ax") // short, for sockets
	if err != nil {
		return nil, err
	}
	r := &Rig{Dir: dir}
	if r.Addr, err = freeAddr(ctx); err == nil {
		err = r.build(ctx, "ax", "host/cmd/ax")
	}
	if err == nil {
		err = r.build(ctx, "plugins/ax-plugin-noop", "bench/internal/noop")
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Node returns a rig for another host with the same programs, in a directory of
// its own within that of r.
func (r *Rig) Node(ctx context.Context, name string) (*Rig, error) {
	n := &Rig{Dir: r.path(name)}
	if err := os.MkdirAll(n.path("plugins"), 0o755); err != nil {
		return nil, err
	}
	for _, program := range []string{"ax", "plugins/ax-plugin-noop"} {
		if err := os.Link(r.path(program), n.path(program)); err != nil {
			return nil, err
		}
	}
	var err error
	n.Addr, err = freeAddr(ctx)
	return n, err
}

// Close removes the directory.
func (r *Rig) Close() error { return os.RemoveAll(r.Dir) }

func (r *Rig) build(ctx context.Context, name, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", r.path(name), "github.com/axsched/ax/"+pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

func (r *Rig) path(name string) string { return filepath.Join(r.Dir, name) }

// Database is the path of the database of the rig's hosts.
func (r *Rig) Database() string { return r.path("data/ax.db") }

// Configure writes the configuration: where things are, and body.
func (r *Rig) Configure(body string) error { return r.ConfigureApp("bench", body) }

// ConfigureApp is Configure for an app of a name.
func (r *Rig) ConfigureApp(app, body string) error {
	text := fmt.Sprintf("app: %s\ndata_dir: ./data\nhttp: {listen: %q}\nplugins: {dir: ./plugins}\n%s", app, r.Addr, body)
	return os.WriteFile(r.path("ax.yaml"), []byte(text), 0o600)
}

// freeAddr returns a loopback address at which nobody listens.
func freeAddr(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Host is a running host.
type Host struct {
	cmd *exec.Cmd
	// Took is how long it took from the start of the process until the host was
	// started.
	Took time.Duration
}

// Start starts a host and returns once it says that it has started.
func (r *Rig) Start(ctx context.Context) (*Host, error) {
	begin := time.Now()
	h := &Host{cmd: exec.CommandContext(ctx, r.path("ax"), "serve", "--config", r.path("ax.yaml"))}
	h.cmd.Dir = r.Dir
	stderr, err := h.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	started := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.Contains(lines.Text(), "host started") {
				h.Took = time.Since(begin)
				started <- true
				continue
			}
			if strings.Contains(lines.Text(), "[ERROR]") {
				fmt.Fprintln(os.Stderr, lines.Text())
			}
		}
		started <- false
	}()
	select {
	case ok := <-started:
		if !ok {
			return nil, fmt.Errorf("the host ended: %w", h.cmd.Wait())
		}
		return h, nil
	case <-time.After(startLimit):
		return nil, errors.Join(fmt.Errorf("the host has not started within %s", startLimit), h.cmd.Process.Kill())
	}
}

// Stop ends the host in good order.
func (h *Host) Stop() error {
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return h.cmd.Wait()
}

// Memory returns how many bytes the host uses now, and used at most.
func (h *Host) Memory() (now, most int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.cmd.Process.Pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read memory of the host: %w", err)
	}
	for line := range bytes.Lines(status) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.Atoi(fields[1]) // other lines hold other things
		switch fields[0] {
		case "VmRSS:":
			now = kib << 10
		case "VmHWM:":
			most = kib << 10
		}
	}
	return now, most, nil
}
