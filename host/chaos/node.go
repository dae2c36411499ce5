package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/axsched/ax/host/chaos/internal/proxy"
)

const (
	// startLimit is how long a host may take to start, or to try to, while the
	// database is away.
	startLimit = 90 * time.Second
	// stopLimit is how long a host may take to end in good order.
	stopLimit = 60 * time.Second
	poll      = 50 * time.Millisecond
)

// node is a host of the cluster: a directory, an address and one process after
// the other.
type node struct {
	w          *world
	name       string
	index      int
	api, peers string       // addresses at which it listens
	db, peer   *proxy.Proxy // on the way to the database, and to peers; may be nil
	skew       time.Duration

	busy sync.Mutex // held while a fault strikes it
	cmd  *exec.Cmd
	// exited is closed once the process has ended.
	exited chan struct{}
}

func newNode(ctx context.Context, w *world, index int) (*node, error) {
	n := &node{w: w, name: fmt.Sprintf("h%d", index), index: index, skew: skewOf(w.options, index)}
	if err := os.MkdirAll(w.path(n.name+"/plugins"), 0o755); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	if err := os.Link(w.path("worker"), w.path(n.name+"/plugins/ax-plugin-worker")); err != nil {
		return nil, fmt.Errorf("install the plugin: %w", err)
	}
	var err error
	if n.api, err = freeAddr(ctx); err != nil {
		return nil, err
	}
	if w.SQLite {
		return n, nil
	}
	if n.db, err = proxy.New(ctx, between+":0", w.db.server.Address()); err != nil {
		return nil, err
	}
	if n.peers, err = freeAddr(ctx); err == nil {
		n.peer, err = proxy.New(ctx, between+":0", n.peers)
	}
	if err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

// skewOf sets the clock of the second host ahead and that of the third back.
func skewOf(o options, index int) time.Duration {
	switch index {
	case 1:
		return o.Skew
	case 2:
		return -o.Skew
	}
	return 0
}

// configure writes the configuration of the host: where things are, and what all
// hosts share.
func (n *node) configure(shared string) error {
	text := fmt.Sprintf("app: chaos\nnode: %s\ndata_dir: ./data\nhttp: {listen: %q}\nplugins: {dir: ./plugins}\nexecutor: {workers: 64}\n", n.name, n.api)
	if n.db != nil {
		text += fmt.Sprintf("store: {dsn: \"mysql://root@%s/%s\"}\n", n.db.Addr(), schemaName)
	}
	if n.w.Hosts > 1 {
		text += fmt.Sprintf("cluster: {listen: %q, advertise: %q, secret: \"only for hosts that are killed\"}\n", n.peers, n.peer.Addr())
	}
	if err := os.WriteFile(n.w.path(n.name+"/ax.yaml"), []byte(text+shared), 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// start starts a process, again if it ends because the database is away, and
// waits until it works.
func (n *node) start(ctx context.Context) error {
	deadline := time.Now().Add(startLimit)
	for {
		if err := n.launch(); err != nil {
			return err
		}
		for {
			if n.healthy(ctx) {
				return nil
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("%s has not started within %s", n.name, startLimit)
			}
			if err := wait(ctx, poll); err != nil {
				return err
			}
			if n.ended() {
				n.w.say("%s did not start: %s", n.name, n.cmd.ProcessState)
				break
			}
		}
	}
}

func (n *node) launch() error {
	log, err := os.OpenFile(n.w.path(n.name+"/host.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", n.name, err)
	}
	defer log.Close()
	cmd := exec.Command(n.w.path("ax"), "serve", "--config", "ax.yaml")
	cmd.Dir = n.w.path(n.name)
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	if n.skew != 0 {
		cmd.Env = append(cmd.Env, "AX_CLOCK_OFFSET="+n.skew.String())
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	n.w.spawn <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(exited)
	}()
	n.cmd, n.exited = cmd, exited
	return nil
}

func (n *node) ended() bool {
	select {
	case <-n.exited:
		return true
	default:
		return false
	}
}

// healthy asks the host whether it works.
func (n *node) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.api+"/healthz", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// signal sends a signal to the host alone.
func (n *node) signal(s syscall.Signal) error {
	if err := n.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %s to %s: %w", s, n.name, err)
	}
	return nil
}

// await waits for the end of the process.
func (n *node) await(limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-n.exited:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s still runs after %s", n.name, limit)
	}
}

// stop ends the host in good order.
func (n *node) stop() error {
	if err := n.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := n.await(stopLimit); err != nil {
		return err
	}
	if !n.cmd.ProcessState.Success() {
		return fmt.Errorf("%s ended after SIGTERM with %s", n.name, n.cmd.ProcessState)
	}
	return nil
}

// kill ends the host without any warning.
func (n *node) kill() error {
	if err := n.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return n.await(stopLimit)
}

func (n *node) close() {
	if n.cmd != nil {
		_ = n.kill() // its end is all that counts
	}
	for _, p := range []*proxy.Proxy{n.db, n.peer} {
		if p != nil {
			p.Close()
		}
	}
}
