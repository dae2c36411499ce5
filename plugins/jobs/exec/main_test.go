package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

// patience bounds every wait of these tests; nothing should come near it.
const patience = 20 * time.Second

// The test binary stands in for the plugin's.
func TestMain(m *testing.M) {
	if os.Getenv(wire.CookieKey) == wire.CookieValue {
		main() // started by a host
	}
	if len(os.Args) == 2 && os.Args[1] == guardFlag {
		runGuard(os.Stdin)
		return
	}
	if len(os.Args) == 3 && os.Args[1] == victimFlag {
		runVictim(os.Args[2])
		return
	}
	if len(os.Args) == 3 && os.Args[1] == bareFlag {
		runBare(os.Args[2])
		return
	}
	// Files of whoever started the tests are none of a command's, as in a plugin.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	os.Exit(m.Run())
}

// recorder is the host's side of a run: its output and its log.
type recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func newRecorder() *recorder { return &recorder{news: make(chan struct{}, 1)} }

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
	return r.text.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// waitFor blocks until text has been written.
func (r *recorder) waitFor(t *testing.T, text string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(r.String(), text) {
		select {
		case <-r.news:
		case <-late:
			t.Fatalf("%q did not come, only %q", text, r.String())
		}
	}
}

// bench is one job with one run, ready to start.
type bench struct {
	job pluginapi.Job
	run *pluginapi.Run
	out *recorder
	log *recorder
}

// newBench builds the job of YAML-like settings as a host would, from JSON.
func newBench(t *testing.T, settingsJSON string) *bench {
	t.Helper()
	b := &bench{out: newRecorder(), log: newRecorder()}
	r := &runner{host: hostEnv, guard: &guard{}}
	built, err := pluginapi.JobOf("exec", "", r.newExec).Build([]byte(settingsJSON), pluginapi.Env{})
	if err != nil {
		t.Fatalf("settings %s: %v", settingsJSON, err)
	}
	b.job = built.(pluginapi.Job)
	zone := time.FixedZone("Asia/Shanghai", 8*3600)
	b.run = &pluginapi.Run{
		Fire: pluginapi.Fire{
			App: "shop", Task: "sync", Kind: "scheduled", Attempt: 2, MaxAttempts: 3, Fence: 7,
			// The name finds a run's processes, and is unlike any other test's.
			InstanceID:  fmt.Sprintf("%s-%d", t.Name(), os.Getpid()),
			ScheduledAt: time.Date(2026, 3, 1, 10, 0, 0, 0, zone),
			TraceID:     "4bf92f3577b34da6a3ce929d0e0e4736", Node: "n1",
		},
		Output: b.out, Log: slog.New(slog.NewTextHandler(b.log, nil)),
		Progress: func(int64, int64, string) {},
	}
	return b
}

// hostEnv is the environment of a plugin whose host was started with secrets.
func hostEnv(name string) string {
	return map[string]string{"HOME": "/", "AX_DSN": "root:s3cret@/ax", "TOKEN": "s3cret"}[name]
}

// must runs the job and demands success.
func (b *bench) must(t *testing.T) pluginapi.Result {
	t.Helper()
	result, err := b.job.Run(t.Context(), b.run)
	if err != nil {
		t.Fatalf("run: %v\noutput: %s", err, b.out)
	}
	return result
}

// start runs the job in the background; end waits for it, and stop ends its
// context with a cause.
func (b *bench) start(t *testing.T) (stop context.CancelCauseFunc, end func() (pluginapi.Result, error)) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	type ending struct {
		result pluginapi.Result
		err    error
	}
	done := make(chan ending, 1)
	go func() {
		result, err := b.job.Run(ctx, b.run)
		done <- ending{result, err}
	}()
	return cancel, func() (pluginapi.Result, error) {
		t.Helper()
		select {
		case e := <-done:
			return e.result, e.err
		case <-time.After(patience):
			t.Fatal("the run does not end")
			return pluginapi.Result{}, nil
		}
	}
}

// processesOf lists the living processes of an instance, found by their
// environment; zombies have none.
func processesOf(t *testing.T, instance string) []int {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, file := range entries {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte("AX_INSTANCE_ID="+instance+"\x00")) {
			continue // a process that has ended meanwhile, or a stranger
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// nobodyLeft demands that all processes of an instance end. A killed process
// needs a moment to go, and only /proc tells.
func nobodyLeft(t *testing.T, instance string) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		pids := processesOf(t, instance)
		if len(pids) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for _, pid := range pids {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			t.Fatalf("processes %v of %s are left", pids, instance)
		}
	}
}

// killAll ends what a test left behind on purpose.
func killAll(t *testing.T, instance string) {
	t.Helper()
	for _, pid := range processesOf(t, instance) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
}
