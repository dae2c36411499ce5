package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// host is a running "ax serve".
type host struct {
	w      *world
	cmd    *exec.Cmd
	from   int           // where its part of the log begins
	exited chan struct{} // closed once cmd.ProcessState is set
}

// launch starts a host and does not wait for it.
func (w *world) launch() *host {
	w.t.Helper()
	h := &host{w: w, from: w.log.len(), exited: make(chan struct{})}
	h.cmd = exec.Command(filepath.Join(suite.bin, "ax"), "serve", "--config", w.path("ax.yaml"))
	h.cmd.Dir, h.cmd.Env = w.dir, append(append(os.Environ(), "HOME="+w.dir), w.env...)
	h.cmd.Stdout, h.cmd.Stderr = w.log, w.log
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	suite.spawn <- func() { started <- h.cmd.Start() }
	w.must(<-started)
	go func() {
		_ = h.cmd.Wait() // how it ended is looked at in ProcessState
		close(h.exited)
	}()
	w.t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		<-h.exited
	})
	return h
}

// start starts a host and waits until it works.
func (w *world) start() *host {
	w.t.Helper()
	h := w.launch()
	h.ready()
	return h
}

func (h *host) ready() {
	h.w.t.Helper()
	eventually(h.w.t, patience, func() error {
		if strings.Contains(h.log(), "host started") {
			return nil
		}
		if h.ended() {
			h.w.t.Fatalf("the host ended while it started: %s", h.cmd.ProcessState)
		}
		return errors.New("the host has not started")
	})
}

// log returns what the host has logged.
func (h *host) log() string { return h.w.log.since(h.from) }

// logs waits for a line of the host's log with all of the texts in it.
func (h *host) logs(texts ...string) {
	h.w.t.Helper()
	eventually(h.w.t, patience, func() error {
		for line := range strings.SplitSeq(h.log(), "\n") {
			if containsAll(line, texts) {
				return nil
			}
		}
		return fmt.Errorf("no line of the log holds %q", texts)
	})
}

func containsAll(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
}

func (h *host) signal(sig os.Signal) {
	h.w.t.Helper()
	h.w.must(h.cmd.Process.Signal(sig))
}

func (h *host) ended() bool {
	select {
	case <-h.exited:
		return true
	default:
		return false
	}
}

// wait returns how the host ended.
func (h *host) wait(limit time.Duration) *os.ProcessState {
	h.w.t.Helper()
	select {
	case <-h.exited:
		return h.cmd.ProcessState
	case <-time.After(limit):
		h.w.t.Fatalf("the host still runs after %s", limit)
		return nil
	}
}

// kill ends the host without any warning.
func (h *host) kill() {
	h.w.t.Helper()
	h.signal(syscall.SIGKILL)
	h.wait(patience)
}

// stop ends the host in good order.
func (h *host) stop() {
	h.w.t.Helper()
	h.signal(syscall.SIGTERM)
	if state := h.wait(patience); state.ExitCode() != 0 {
		h.w.t.Fatalf("after SIGTERM: %s", state)
	}
}

// hostLog gathers what the hosts of a test log.
type hostLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// newHostLog makes a log that is kept, and whose end is shown, if the test fails.
func newHostLog(t *testing.T) *hostLog {
	t.Helper()
	l, dir := &hostLog{}, t.ArtifactDir() // made first, so that it is removed last
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		const shown = 8 << 10
		text := l.since(0)
		t.Logf("the end of the host's log:\n%s", text[max(0, len(text)-shown):])
		if err := os.WriteFile(filepath.Join(dir, "host.log"), []byte(text), 0o600); err != nil {
			t.Log(err)
		}
	})
	return l
}

// Write implements io.Writer.
func (l *hostLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *hostLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}

func (l *hostLog) since(from int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text.Bytes()[from:])
}
