package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// guardFlag makes this program a guard instead of a plugin.
const guardFlag = "--guard"

// guard is a second process of this program that kills the process groups of
// all running commands when the plugin ends, however it ends: also by SIGKILL,
// a panic, or because its host is gone. The kernel's Pdeathsig reaches only a
// command itself, not what the command has started.
//
// It is told of groups over a pipe, whose end tells it of the plugin's end.
type guard struct {
	mu     sync.Mutex
	pipe   io.WriteCloser // nil until a guard runs
	groups map[int]struct{}
}

// add puts a group under guard. It starts a guard process if there is none.
func (g *guard) add(group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[int]struct{}{}
	}
	g.groups[group] = struct{}{}
	if g.pipe != nil {
		if _, err := fmt.Fprintf(g.pipe, "+%d\n", group); err == nil {
			return nil
		}
	}
	return g.start()
}

// start replaces the guard process by one that knows all groups.
func (g *guard) start() error {
	if g.pipe != nil {
		g.pipe.Close()
		g.pipe = nil
	}
	cmd := exec.Command("/proc/self/exe") // also right if the file was replaced meanwhile
	cmd.Args = []string{os.Args[0], guardFlag}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to survive the plugin's group
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("make a pipe to the guard: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the guard: %w", err)
	}
	go func() { _ = cmd.Wait() }() // its end shows at the next write
	for group := range g.groups {
		if _, err := fmt.Fprintf(pipe, "+%d\n", group); err != nil {
			return fmt.Errorf("talk to the guard: %w", err)
		}
	}
	g.pipe = pipe
	return nil
}

// remove lets go of a group that has ended.
func (g *guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, group)
	if g.pipe != nil {
		// A broken pipe is noticed by the next add, which starts a new guard.
		_, _ = fmt.Fprintf(g.pipe, "-%d\n", group)
	}
}

// runGuard is the other end: it kills the groups that are left at the end of
// the pipe.
func runGuard(pipe io.Reader) {
	groups := map[int]struct{}{}
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		number, ended := strings.CutPrefix(lines.Text(), "-")
		group, err := strconv.Atoi(strings.TrimPrefix(number, "+"))
		switch {
		case err != nil || group <= 1: // -1 would be every process
		case ended:
			delete(groups, group)
		default:
			groups[group] = struct{}{}
		}
	}
	for group := range groups {
		killGroup(group)
	}
}
