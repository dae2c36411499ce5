package pluginhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// programs are the plugins under testdata, built once: "good" (version 1.0.0),
// "good2" (the same as version 2.0.0) and "bad".
var programs = map[string]string{}

// TestMain builds the programs. As the child of a test that kills its host, the
// test binary is that host instead.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		childHost()
		return
	}
	dir, err := os.MkdirTemp("", "axbuild")
	if err == nil {
		err = build(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) error {
	for name, args := range map[string][]string{
		"good":  {"-ldflags=-s -w", "./testdata/good"},
		"good2": {"-ldflags=-s -w -X main.version=2.0.0", "./testdata/good"},
		"bad":   {"-ldflags=-s -w", "./testdata/bad"},
	} {
		programs[name] = filepath.Join(dir, name)
		cmd := exec.Command("go", append([]string{"build", "-o", programs[name]}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

// testHost is a Host with directories of its own.
type testHost struct {
	*Host
	t       *testing.T
	dir     string // of plugins
	changes chan struct{}
	log     *logBuffer
}

// quick makes things happen soon that take their time otherwise.
func quick(l *limits) {
	l.settle = 20 * time.Millisecond
	l.describe = 2 * time.Second
	l.backoffUnit = 10 * time.Millisecond
}

// newHost makes a host that is not started. Files put before the start are
// described by it.
func newHost(t *testing.T, policies map[string]Policy, change ...func(*limits)) *testHost {
	t.Helper()
	th := &testHost{t: t, dir: t.TempDir(), changes: make(chan struct{}, 1), log: &logBuffer{}}
	h, err := New(Config{
		Dir: th.dir, RunDir: shortDir(t), App: "shop", Node: "n1", Policies: policies,
		Log: hclog.New(&hclog.LoggerOptions{Output: th.log, Level: hclog.Debug}),
		OnChange: func() {
			select {
			case th.changes <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	quick(&h.limits)
	for _, f := range change {
		f(&h.limits)
	}
	th.Host = h
	t.Cleanup(func() {
		h.Stop(context.Background())
		if h.run != nil {
			killMarked(h.run.owner) // what escaped into sessions of its own
		}
		if t.Failed() {
			t.Logf("log of the host:\n%s", th.log.tail())
		}
	})
	return th
}

// startHost makes a host with one plugin, "alpha" unless named otherwise.
func startHost(t *testing.T, file, program string, policy Policy, change ...func(*limits)) *testHost {
	t.Helper()
	th := newHost(t, map[string]Policy{strings.TrimPrefix(file, filePrefix): policy}, change...)
	th.put(file, program)
	th.start()
	return th
}

func (th *testHost) start() {
	th.t.Helper()
	if err := th.Start(th.t.Context()); err != nil {
		th.t.Fatal(err)
	}
}

// put installs a program as a plugin.
func (th *testHost) put(file, program string) {
	th.t.Helper()
	install(th.t, th.dir, file, program)
}

func (th *testHost) write(file string, mode os.FileMode, content []byte) {
	th.t.Helper()
	writeFile(th.t, filepath.Join(th.dir, file), mode, content)
}

func install(t testing.TB, dir, file, program string) {
	t.Helper()
	raw, err := os.ReadFile(programs[program])
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, file), 0o755, raw)
}

// writeFile writes a file in the way that installers should: under another
// name first, then by a rename.
func writeFile(t testing.TB, path string, mode os.FileMode, content []byte) {
	t.Helper()
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	if err := os.WriteFile(temp, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(temp, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
}

// status returns the status of a plugin, the zero value if there is none.
func (th *testHost) status(name string) PluginStatus {
	for _, s := range th.Plugins() {
		if s.Name == name {
			return s
		}
	}
	return PluginStatus{}
}

// await waits until the status of a plugin is as wanted.
func (th *testHost) await(name string, wanted func(PluginStatus) bool) PluginStatus {
	th.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		if s := th.status(name); wanted(s) {
			return s
		}
		select {
		case <-th.changes:
		case <-limit:
			th.t.Fatalf("plugin %s is still %+v", name, th.status(name))
		}
	}
}

func (th *testHost) awaitState(name string, state State) PluginStatus {
	th.t.Helper()
	return th.await(name, func(s PluginStatus) bool { return s.State == state })
}

// every is a trigger of the good plugin that works.
func every(h *Host) *Trigger {
	return h.Trigger(Spec{Use: "every", Settings: []byte(`{"seconds":10}`)})
}

// use makes a plugin run by asking a good trigger.
func (th *testHost) use() {
	th.t.Helper()
	if _, _, err := every(th.Host).Next(th.t.Context(), time.Unix(0, 0), time.Time{}, 1); err != nil {
		th.t.Fatal(err)
	}
}

// shortDir is a directory with a path short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ax")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// tail is the end of the log, with long lines cut.
func (b *logBuffer) tail() string {
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = lines[i][:min(len(lines[i]), 300)]
	}
	return strings.Join(lines[max(0, len(lines)-60):], "\n")
}

func wantError[E error](t *testing.T, err error, text string) E {
	t.Helper()
	var target E
	if !errors.As(err, &target) || !strings.Contains(err.Error(), text) {
		t.Fatalf("error = %v (%T), want a %T with %q", err, err, target, text)
	}
	return target
}
