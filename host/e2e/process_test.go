package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a process of the machine. Its start time tells it from a later
// one with the same pid.
type process struct {
	pid     int
	started string // ticks since boot
	command string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, p.command) }

func (p process) kill() { _ = syscall.Kill(p.pid, syscall.SIGKILL) }

// processes returns those that hosts of the world have started: plugins and
// their guards, whose programs are in its directory, and commands, which are
// told the name of the node.
func (w *world) processes() []process {
	w.t.Helper()
	entries, err := os.ReadDir("/proc")
	w.must(err)
	var found []process
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && w.owns(pid) {
			if p, alive := lookAt(pid); alive {
				found = append(found, p)
			}
		}
	}
	return found
}

func (w *world) owns(pid int) bool {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err == nil && strings.HasPrefix(program, w.dir+"/") {
		return true
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(env, []byte("AX_NODE="+w.node+"\x00"))
}

// lookAt returns a process unless it has ended.
func lookAt(pid int) (process, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	// pid (name) state …, the start time being the 20th after the name.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return process{}, false
	}
	return process{pid, fields[19], strings.ReplaceAll(string(bytes.TrimRight(command, "\x00")), "\x00", " ")}, true
}

// alive returns those of the processes that still run.
func alive(processes []process) []process {
	var left []process
	for _, p := range processes {
		if now, ok := lookAt(p.pid); ok && now.started == p.started {
			left = append(left, p)
		}
	}
	return left
}

// gone waits until processes have ended.
func (w *world) gone(processes []process, limit time.Duration) {
	w.t.Helper()
	eventually(w.t, limit, func() error {
		if left := alive(processes); len(left) > 0 {
			return fmt.Errorf("still there: %v", left)
		}
		return nil
	})
}
