package pluginhost

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

func TestBadFilesAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	th := newHost(t, map[string]Policy{
		"pinned":   {SHA256: strings.Repeat("0", 64)},
		"disabled": {Disabled: true},
	})
	for _, name := range []string{
		"describe-hangs", "describe-fails", "describe-garbles", "describe-floods", "describe-other-name",
		"old-protocol", "pinned", "disabled", "wrong-version_v9.9.9",
	} {
		th.put(filePrefix+name, "bad")
	}
	raw, err := os.ReadFile(programs["good"])
	if err != nil {
		t.Fatal(err)
	}
	th.write("ax-plugin-half", 0o755, raw[:len(raw)/2])
	th.write("ax-plugin-text", 0o755, []byte("this is no program\n"))
	th.write("ax-plugin-arm", 0o755, []byte(foreignELF))
	th.write("ax-plugin-script", 0o755, []byte("#!/nowhere/to/be/found\n"))
	th.write("ax-plugin-noexec", 0o644, raw)
	th.write("ax-plugin-writable", 0o777, raw)
	th.write("README.md", 0o755, []byte("#!/bin/sh\ntouch /nowhere\n"))
	th.write("ax-plugin-alpha.bak", 0o755, raw)
	th.put("ax-plugin-alpha", "good")
	th.start()
	for name, want := range map[string]string{
		"describe-hangs":      "no answer to --ax-describe within",
		"describe-fails":      "exited with status 4 on --ax-describe: a library is missing",
		"describe-garbles":    `it printed "hello, I am a plugin`,
		"describe-floods":     "",
		"describe-other-name": `it calls itself "somebody-else"`,
		"old-protocol":        "it speaks protocol 0, this host speaks 1",
		"pinned":              "the configuration demands",
		"disabled":            "disabled by configuration",
		"wrong-version":       "named for 9.9.9",
		"half":                "",
		"text":                "neither a complete program nor a script",
		"arm":                 "built for EM_AARCH64",
		"script":              "its interpreter or C library loader is missing",
		"noexec":              "not executable",
		"writable":            "others than its owner may write it",
	} {
		if s := th.status(name); s.State != StateRefused || !strings.Contains(s.Reason, want) {
			t.Errorf("%s: %s, %q, want refused because %q", name, s.State, s.Reason, want)
		}
	}
	th.use() // the good one beside them
	_, err = th.Lookup(pluginapi.KindTrigger, "text/every")
	wantError[*UnavailableError](t, err, "its file was refused")
	if log := th.log.String(); strings.Count(log, "README.md") != 1 || strings.Count(log, "file=ax-plugin-alpha.bak") != 1 {
		t.Error("ignored files are not logged once each")
	}
	if n := len(th.Plugins()); n != 16 {
		t.Errorf("%d plugins are known, want 16", n)
	}
}

func TestScriptsArePlugins(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil)
	th.write("ax-plugin-script", 0o755, []byte(`#!/bin/sh
[ "$1" = --ax-describe ] && echo '{
  "name": "script", "version": "1.2.3", "protocol": 1,
  "components": [{"kind": "job", "name": "hello", "schema": {"type": "object"}}]
}'
`))
	th.start()
	c, err := th.Lookup(pluginapi.KindJob, "hello")
	if err != nil || c.Version != "1.2.3" || string(c.Schema) != `{"type": "object"}` {
		t.Errorf("Lookup = %+v, %v", c, err)
	}
}

// foreignELF is the header of a program for another machine.
const foreignELF = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00\x01\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x40\x00\x38\x00\x00\x00\x40\x00\x00\x00\x00\x00"

func TestDirectoryThatAppearsLater(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil, func(l *limits) { l.rescan = 50 * time.Millisecond })
	if err := os.Remove(th.dir); err != nil {
		t.Fatal(err)
	}
	th.start()
	if err := os.Mkdir(th.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	th.put("ax-plugin-alpha", "good")
	th.awaitState("alpha", StateDiscovered)
	th.use()
}

func TestHalfCopiedFileIsTakenOnceComplete(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil, func(l *limits) { l.rescan = time.Hour }) // events alone
	th.put("ax-plugin-beta", "bad")
	th.start()
	raw, err := os.ReadFile(programs["good"])
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(th.dir, "ax-plugin-alpha"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(raw[:100_000]); err != nil {
		t.Fatal(err)
	}
	th.awaitState("alpha", StateRefused) // it stood still for so long
	if _, err := f.Write(raw[100_000:]); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	th.awaitState("alpha", StateDiscovered)
	th.use()
}

func TestReplacedWhileRunning(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	sink, done := newCollector(), make(chan ax.Outcome)
	go func() { done <- work(th.Host, "wait", fifo).Run(t.Context(), request(), sink.take) }()
	<-sink.begun
	old := th.status("alpha")

	th.put("ax-plugin-alpha", "good2")
	s := th.await("alpha", func(s PluginStatus) bool { return s.Version == "2.0.0" })
	if s.State != StateReady || s.PID == old.PID || s.InFlight != 1 {
		t.Errorf("status = %+v, want a new process beside the run in the old one", s)
	}
	if out := work(th.Host, "ok", "").Run(t.Context(), request(), ignore); out.Message != "done by 2.0.0" {
		t.Errorf("a new run = %+v, want it done by the new version", out)
	}
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := <-done; out.Status != ax.StatusSuccess || out.Message != "done by 1.0.0" {
		t.Errorf("the run in flight = %+v, want it done by the old version", out)
	}
	awaitGone(t, old.PID)
	if s := th.status("alpha"); s.Restarts != 0 || s.Reason != "" {
		t.Errorf("status = %+v", s)
	}
}

// awaitGone polls for the end of a process, since its end may come from outside
// of what the host tells of.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for limit := time.Now().Add(10 * time.Second); ; {
		if syscall.Kill(pid, 0) != nil || !alive(pid) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("process %d is still there", pid)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestBadReplacementLeavesTheOldOneInService(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	th.use()
	old := th.status("alpha")
	th.write("ax-plugin-alpha", 0o755, []byte("oops\n"))
	s := th.await("alpha", func(s PluginStatus) bool { return s.Reason != "" })
	if s.State != StateReady || s.PID != old.PID || s.Version != "1.0.0" || !strings.Contains(s.Reason, "neither a complete program") {
		t.Errorf("status = %+v, want the old process and the reason", s)
	}
	// Even its restart works, since its program is still open.
	if err := syscall.Kill(old.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	th.await("alpha", func(s PluginStatus) bool { return s.Restarts == 1 })
	th.use()
	th.put("ax-plugin-alpha", "good2")
	s = th.await("alpha", func(s PluginStatus) bool { return s.Version == "2.0.0" })
	if s.Reason != "" {
		t.Errorf("status = %+v, want no reason any more", s)
	}
}

func TestReplacementThatDoesNotStart(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-exits", "good", Policy{})
	th.use()
	old := th.status("exits")
	raw, err := os.ReadFile(programs["bad"])
	if err != nil {
		t.Fatal(err)
	}
	th.write("ax-plugin-exits", 0o755, raw)
	s := th.await("exits", func(s PluginStatus) bool { return s.Reason != "" })
	if s.State != StateReady || s.PID != old.PID || s.Version != "1.0.0" ||
		!strings.Contains(s.Reason, "version 0.1.0") || !strings.Contains(s.Reason, "cannot find my settings") {
		t.Errorf("status = %+v, want the old process and the reason", s)
	}
	th.use()
}

func TestRemovedWhileRunning(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	sink, done := newCollector(), make(chan ax.Outcome)
	job := work(th.Host, "wait", fifo)
	go func() { done <- job.Run(t.Context(), request(), sink.take) }()
	<-sink.begun
	if err := os.Remove(filepath.Join(th.dir, "ax-plugin-alpha")); err != nil {
		t.Fatal(err)
	}
	th.awaitState("alpha", StateDraining)
	_, err := th.Lookup(pluginapi.KindJob, "work")
	wantError[*NotFoundError](t, err, "work")
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := <-done; out.Status != ax.StatusSuccess {
		t.Errorf("the run in flight = %+v, want SUCCESS", out)
	}
	th.awaitState("alpha", StateGone)

	th.put("ax-plugin-alpha", "good2") // and back again
	th.awaitState("alpha", StateDiscovered)
	if out := work(th.Host, "ok", "").Run(t.Context(), request(), ignore); out.Message != "done by 2.0.0" {
		t.Errorf("outcome = %+v", out)
	}
}

func TestTwoFilesForOnePlugin(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil)
	th.put("ax-plugin-alpha_v1.0.0", "good")
	th.start()
	th.use()
	th.put("ax-plugin-alpha_v2.0.0", "good2")
	th.await("alpha", func(s PluginStatus) bool { return s.Version == "2.0.0" && s.State == StateReady })
	if err := os.Remove(filepath.Join(th.dir, "ax-plugin-alpha_v2.0.0")); err != nil {
		t.Fatal(err)
	}
	th.await("alpha", func(s PluginStatus) bool { return s.Version == "1.0.0" })

	raw, err := os.ReadFile(programs["good"])
	if err != nil {
		t.Fatal(err)
	}
	th.write("ax-plugin-alpha", 0o755, append(raw, 0)) // other content, same version
	s := th.await("alpha", func(s PluginStatus) bool { return s.Reason != "" })
	if s.Version != "1.0.0" || !strings.Contains(s.Reason, "both claim to be version 1.0.0") {
		t.Errorf("status = %+v, want the old one and the reason", s)
	}
	th.use()
}

func TestLookup(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil)
	for _, name := range []string{"alpha", "beta"} {
		th.put(filePrefix+name, "good")
	}
	th.put("ax-plugin-gamma", "bad")
	th.start()
	c, err := th.Lookup(pluginapi.KindJob, "beta/work")
	if err != nil || c.Plugin != "beta" || c.Version != "1.0.0" || c.Name != "work" || c.Description != "Does what its settings say." ||
		!strings.Contains(string(c.Schema), `"how"`) {
		t.Errorf("Lookup = %+v, %v", c, err)
	}
	_, err = th.Lookup(pluginapi.KindJob, "work")
	if e := wantError[*AmbiguousError](t, err, "alpha/work, beta/work"); len(e.Candidates) != 2 {
		t.Errorf("candidates = %v", e.Candidates)
	}
	if c, err = th.Lookup(pluginapi.KindTrigger, "lie"); err != nil || c.FullName() != "gamma/lie" {
		t.Errorf("Lookup = %+v, %v, want gamma/lie", c, err)
	}
	for use, want := range map[string]string{
		"naugthy": "naughty", "alpha/evry": "alpha/every", "gama/lie": "gamma/lie", "of-the-future": "", "x": "",
	} {
		_, err := th.Lookup(pluginapi.KindTrigger, use)
		if e := wantError[*NotFoundError](t, err, use); e.Suggestion != want {
			t.Errorf("suggestion for %q = %q, want %q", use, e.Suggestion, want)
		}
	}
	if n := len(th.Components()); n != 14 {
		t.Errorf("%d components, want 6 of each good one and 2 of the other", n)
	}
}

func TestRunDirectory(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{RunDir: "/tmp/" + strings.Repeat("x", 80)}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("New with a long run directory: %v", err)
	}
	th := newHost(t, nil)
	th.start()
	second, err := New(Config{RunDir: th.cfg.RunDir})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "another host is using") {
		t.Errorf("a second host in the same run directory: %v", err)
	}
	if info, err := os.Stat(th.cfg.RunDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("run directory: %v, %v, want mode 0700", info.Mode(), err)
	}
	th.Stop(t.Context())
	third, err := New(Config{RunDir: th.cfg.RunDir})
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Start(t.Context()); err != nil {
		t.Errorf("a host after the other stopped: %v", err)
	}
	third.Stop(t.Context())
}
