package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

// startPlugin runs this plugin as a host does, in a process of its own.
func startPlugin(t *testing.T) *plugintest.Host {
	t.Helper()
	self, err := os.Executable() // see TestMain
	if err != nil {
		t.Fatal(err)
	}
	return plugintest.Start(t, self)
}

// What is within the limit arrives whole, however fast the command writes.
func TestFloodWithinTheLimitArrivesWhole(t *testing.T) {
	t.Parallel()
	const n, size = 50_000, 288_894 // of `seq 1 50000`
	job := startPlugin(t).Job("exec", map[string]any{"command": []string{"seq", "1", fmt.Sprint(n)}})
	got := job.Run(t.Context(), pluginapi.Fire{InstanceID: t.Name()})
	if got.Err != nil || got.Dropped != 0 || len(got.Lines) != n {
		t.Fatalf("%d lines, %d dropped, %v", len(got.Lines), got.Dropped, got.Err)
	}
	for i, l := range got.Lines {
		if l.Text != fmt.Sprint(i+1) {
			t.Fatalf("line %d is %q", i, l.Text)
		}
	}
	if d := got.Result.Data; d["output_bytes"] != int64(size) || d["dropped_bytes"] != int64(0) {
		t.Errorf("data %v", d)
	}
}

// A flood beyond the limit, to a slow host: kept bytes and the bytes of the
// note are all that the command wrote.
func TestFloodBeyondTheLimitIsCounted(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	job := startPlugin(t).Job("exec", map[string]any{"command": []string{"seq", "1", "1000000"}})
	seen := 0
	job.OnLine = func(plugintest.Line) {
		if seen++; seen%1000 == 0 {
			time.Sleep(time.Millisecond) // this is what makes the host slow
		}
	}
	got := job.Run(t.Context(), pluginapi.Fire{InstanceID: t.Name()})
	if got.Err != nil || got.Dropped != 0 {
		t.Fatalf("%d lines dropped on the way, %v", got.Dropped, got.Err)
	}
	kept, told, notes := 0, 0, 0
	for _, l := range got.Lines {
		var n int
		if _, err := fmt.Sscanf(l.Text, "… %d bytes dropped …", &n); err == nil {
			told, notes = told+n, notes+1
			continue
		}
		kept += len(l.Text) + 1
	}
	produced, _ := got.Result.Data["output_bytes"].(int64)
	if notes != 1 || int64(kept+told) != produced || got.Result.Data["dropped_bytes"] != int64(told) {
		t.Errorf("%d bytes kept, %d in %d notes, data %v", kept, told, notes, got.Result.Data)
	}
	if kept > limit || kept < limit-100 {
		t.Errorf("%d bytes kept of a limit of %d", kept, limit)
	}
	if last := got.Lines[len(got.Lines)-1].Text; last != "1000000" {
		t.Errorf("last line %q", last)
	}
}

// A cancel ends a command that waits because the host does not read.
func TestCancelWhileCommandWaits(t *testing.T) {
	t.Parallel()
	job := startPlugin(t).Job("exec", map[string]any{"shell": "yes & yes", "output_limit": 16 << 20})
	fire := pluginapi.Fire{InstanceID: fmt.Sprintf("%s-%d", t.Name(), os.Getpid())}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := false
	job.OnLine = func(plugintest.Line) {
		if !stopped {
			stopped = true
			cancel(pluginapi.ErrCanceled)
			nobodyLeft(t, fire.InstanceID) // although the host is in here
		}
	}
	begin := time.Now()
	got := job.Run(ctx, fire)
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("the run ended after %s", took)
	}
	if got.EndedBy != "canceled" || got.Err == nil {
		t.Errorf("ended by %q, %v", got.EndedBy, got.Err)
	}
}

// gate is an output that takes nothing until it is opened.
type gate struct {
	bytes.Buffer
	reached func() // called at the first Write
	open    chan struct{}
}

// Write implements io.Writer.
func (g *gate) Write(p []byte) (int, error) {
	g.reached()
	<-g.open
	return g.Buffer.Write(p)
}

// What a command has written is taken even if the host made the plugin wait for
// longer than it waits for strangers.
func TestSlowHostGetsTheRest(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	out := &gate{open: make(chan struct{}), reached: sync.OnceFunc(func() {
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			t.Error(err)
		}
	})}
	cmd := exec.Command("/bin/sh", "-c", "echo 1; until [ -e "+mark+" ]; do sleep 0.01; done; seq 2 5000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p, err := startProcess(cmd, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, stopped := p.wait(t.Context(), &settings{}); stopped != nil {
		t.Error(stopped)
	}
	time.AfterFunc(drainDelay+100*time.Millisecond, func() { close(out.open) })
	if p.finish() {
		t.Error("somebody is said to hold the pipe")
	}
	if lines := strings.Count(out.String(), "\n"); lines != 5000 || !strings.HasSuffix(out.String(), "\n5000\n") {
		t.Errorf("%d lines arrived, want 5000", lines)
	}
}
