package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/axsched/ax/host/chaos/internal/proxy"
	"github.com/axsched/ax/host/chaos/internal/verdict"
)

// latency is what a slow network adds in each direction.
const latency = 120 * time.Millisecond

// injector carries out a plan.
type injector struct {
	w        *world
	database sync.Mutex // held while a fault strikes the database

	mu   sync.Mutex
	done []verdict.Fault
	errs []error
}

// inject carries out a plan and returns what was done and when. It returns when
// all is healed.
func (w *world) inject(ctx context.Context, plan []fault) ([]verdict.Fault, error) {
	in := &injector{w: w}
	var all sync.WaitGroup
	for _, f := range plan {
		all.Go(func() {
			if err := wait(ctx, time.Until(w.from.Add(f.at))); err != nil {
				return
			}
			if err := in.do(ctx, f); err != nil {
				in.mu.Lock()
				defer in.mu.Unlock()
				in.errs = append(in.errs, fmt.Errorf("fault %s: %w", f.kind, err))
			}
		})
	}
	all.Wait()
	return in.done, errors.Join(append(in.errs, ctx.Err())...)
}

// do carries out one fault.
func (in *injector) do(ctx context.Context, f fault) error {
	done := verdict.Fault{Kind: f.kind, Alone: f.alone}
	busy, act := &in.database, in.onDatabase
	if f.host >= 0 {
		n := in.w.nodes[f.host]
		done.Node, busy = n.name, &n.busy
		act = func(ctx context.Context, f fault) error { return in.onHost(ctx, n, f) }
	}
	busy.Lock()
	defer busy.Unlock()
	done.Begin = time.Now()
	in.w.say("%s  %s %s for %s", done.Begin.UTC().Format("15:04:05.000"), f.kind, done.Node, f.lasts.Round(time.Millisecond))
	err := act(ctx, f)
	done.End = time.Now()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.done = append(in.done, done)
	return err
}

func (in *injector) onDatabase(ctx context.Context, f fault) error {
	server := in.w.db.server
	if f.kind == verdict.KillDB {
		server.Kill()
	} else {
		server.Halt()
	}
	if err := wait(ctx, f.lasts); err != nil {
		return err
	}
	return server.Resume(ctx)
}

func (in *injector) onHost(ctx context.Context, n *node, f fault) error {
	if n.ended() {
		return fmt.Errorf("%s has ended by itself: %s", n.name, n.cmd.ProcessState)
	}
	switch f.kind {
	case verdict.Kill, verdict.Drain:
		return in.replace(ctx, n, f)
	case verdict.Stop, verdict.HangAll:
		return halt(ctx, n, f)
	}
	state := proxy.State{Cut: true}
	switch f.kind {
	case verdict.MuteDB, verdict.MutePeer, verdict.Isolate:
		state = proxy.State{Silent: true}
	case verdict.SlowDB, verdict.SlowPeer:
		state = proxy.State{Latency: latency}
	}
	var ways []*proxy.Proxy
	switch f.kind {
	case verdict.CutDB, verdict.MuteDB, verdict.SlowDB:
		ways = append(ways, n.db)
	case verdict.CutPeer, verdict.MutePeer, verdict.SlowPeer:
		ways = append(ways, n.peer)
	default:
		ways = append(ways, n.db, n.peer)
	}
	for _, p := range ways {
		p.Set(state)
		defer p.Set(proxy.State{})
	}
	return wait(ctx, f.lasts)
}

// replace ends a host and starts it again.
func (in *injector) replace(ctx context.Context, n *node, f fault) error {
	end := n.kill
	if f.kind == verdict.Drain {
		end = n.stop
	}
	if err := end(); err != nil {
		return err
	}
	if err := wait(ctx, f.lasts); err != nil {
		return err
	}
	return n.start(ctx)
}

// halt stops a host, and its plugins too if all is to hang, and lets it go on.
func halt(ctx context.Context, n *node, f fault) error {
	pids := []int{n.cmd.Process.Pid}
	if f.kind == verdict.HangAll {
		children, err := pluginsOf(n)
		if err != nil {
			return err
		}
		pids = append(pids, children...)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop %s: %w", n.name, err)
		}
		defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }() // it may have ended
	}
	return wait(ctx, f.lasts)
}

// pluginsOf returns the processes whose program is in the host's directory.
func pluginsOf(n *node) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for the plugins of %s: %w", n.name, err)
	}
	var pids []int
	for _, e := range entries {
		program, err := os.Readlink(filepath.Join("/proc", e.Name(), "exe"))
		if pid, no := strconv.Atoi(e.Name()); err == nil && no == nil && strings.HasPrefix(program, n.w.path(n.name)+"/") {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
