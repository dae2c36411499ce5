package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// loopback is where hosts and proxies listen. It is not 127.0.0.1, whose ports
// outgoing connections use up.
const (
	loopback = "127.79.0.1"
	// between is where proxies listen: they must not get a port that was free a
	// moment ago and that a host is about to open.
	between = "127.79.0.2"
)

// world is a directory with programs, hosts and what they leave behind, and their
// database.
type world struct {
	options
	say   func(format string, args ...any)
	dir   string
	db    *database
	nodes []*node
	tasks []task
	// from and until bound the due times.
	from, until time.Time
	spawn       chan func()
}

// newWorld builds the programs and starts the database. Close ends all of it.
func newWorld(ctx context.Context, o options, say func(string, ...any)) (*world, error) {
	dir, err := os.MkdirTemp("", "axc") // short, for sockets
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	w := &world{options: o, say: say, dir: dir, spawn: make(chan func())}
	go w.spawner()
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// spawner runs what starts hosts. They are to die with this process, however it
// ends. The system ties that to the thread that starts them, so this one is kept.
func (w *world) spawner() {
	runtime.LockOSThread()
	for f := range w.spawn {
		f()
	}
}

func (w *world) open(ctx context.Context) (err error) {
	for program, pkg := range map[string]string{"ax": "host/cmd/ax", "worker": "host/chaos/testdata/worker"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", w.path(program), "github.com/axsched/ax/"+pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	if w.db, err = openDatabase(ctx, w.options, w.dir); err != nil {
		return err
	}
	if w.tasks, err = makeTasks(w.random(streamTasks), w.options); err != nil {
		return err
	}
	for i := range w.Hosts {
		n, err := newNode(ctx, w, i)
		if err != nil {
			return err
		}
		w.nodes = append(w.nodes, n)
	}
	return nil
}

// close ends what still runs and removes the directory.
func (w *world) close() error {
	for _, n := range w.nodes {
		n.close()
	}
	close(w.spawn)
	var err error
	if w.db != nil {
		err = w.db.close()
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// keep copies logs, configurations and the journal to where people look at them.
func (w *world) keep() error {
	if w.Keep == "" {
		return nil
	}
	if w.db != nil && w.db.server != nil {
		w.say("the end of the log of the database:\n%s", w.db.server.Log())
	}
	files := []string{"journal"}
	for _, n := range w.nodes {
		files = append(files, n.name+"/host.log", n.name+"/ax.yaml")
	}
	for _, name := range files {
		to := filepath.Join(w.Keep, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
		text, err := os.ReadFile(w.path(name))
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	return nil
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// start brings up all hosts, and waits until the tasks begin to be due. The first
// host makes the tables, with a clock that is right.
func (w *world) start(ctx context.Context) error {
	const perHost = 3 * time.Second // on a slow machine
	w.from = time.Now().Truncate(time.Second).Add(5*time.Second + time.Duration(len(w.nodes))*perHost)
	w.until = w.from.Add(w.Load)
	shared := configured(w.tasks, w.from, w.until, w.path("journal"))
	for _, n := range w.nodes {
		if err := n.configure(shared); err != nil {
			return err
		}
	}
	for _, n := range w.nodes {
		if err := n.start(ctx); err != nil {
			return err
		}
	}
	if late := time.Since(w.from); late > 0 {
		w.say("the hosts took %s longer to start than expected", late.Round(time.Millisecond))
	}
	return wait(ctx, time.Until(w.from))
}

// wait waits for some time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// freeAddr returns an address at which nobody listens.
func freeAddr(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", loopback+":0")
	if err != nil {
		return "", fmt.Errorf("look for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
