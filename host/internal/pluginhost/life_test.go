package pluginhost

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

func TestPluginsStartWhenNeeded(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	s := th.status("alpha")
	if s.State != StateDiscovered || s.PID != 0 || s.Version != "1.0.0" || len(s.SHA256) != 64 || len(s.Components) != 6 {
		t.Errorf("status before the first use = %+v", s)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(th.use)
	}
	wg.Wait()
	if s = th.status("alpha"); s.State != StateReady || s.PID == 0 || s.InFlight != 0 || s.Restarts != 0 {
		t.Errorf("status after 20 uses at once = %+v, want one process", s)
	}
	if n := strings.Count(th.log.String(), "plugin started"); n != 1 {
		t.Errorf("%d processes were started, want 1", n)
	}
	th.Stop(t.Context())
	if err := syscall.Kill(s.PID, 0); err == nil {
		t.Errorf("process %d outlives the host", s.PID)
	}
	th.Stop(t.Context())
	_, _, err := every(th.Host).Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
	wantError[*UnavailableError](t, err, "the host is stopping")
	if err := th.Rescan(t.Context()); err == nil {
		t.Error("Rescan of a stopped host succeeded")
	}
}

func TestStopWithoutStart(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil)
	th.Stop(t.Context())
	if err := th.Start(t.Context()); err == nil {
		t.Error("a stopped host was started")
	}
}

func TestFailedStartsSayWhy(t *testing.T) {
	t.Parallel()
	th := newHost(t, map[string]Policy{"mute": {StartTimeout: 300 * time.Millisecond}})
	wants := map[string]string{
		"exits":            "it exited with status 3 before the handshake; its last output: cannot find my settings",
		"exits-well":       "it exited with status 0 before the handshake",
		"mute":             "it was not ready within 300ms",
		"panics":           "panic: before anything",
		"new-protocol":     "Plugin version: 99, Client versions: [1]",
		"changes-its-mind": "it serves changes-its-mind 0.2.0",
	}
	for name := range wants {
		th.put(filePrefix+name, "bad")
	}
	th.start()
	for name, want := range wants {
		_, _, err := th.Trigger(Spec{Use: name + "/lie"}).Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
		wantError[*UnavailableError](t, err, want)
		if pids := killMarked(th.run.owner); len(pids) > 0 {
			t.Errorf("%s: processes %v were left", name, pids)
		}
	}
}

func TestNoisyPluginsWork(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil)
	for _, name := range []string{"noisy", "bad-json", "floods", "orphans", "plain"} {
		th.put(filePrefix+name, "bad")
	}
	th.start()
	for _, s := range th.Plugins() {
		_, _, err := th.Trigger(Spec{Use: s.Name + "/lie"}).Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	log := th.log.String()
	for _, want := range []string{"loading, please wait", "1|2|3", `{\"@message\":null}`, "fine"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	begin := time.Now()
	th.Stop(t.Context())
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("Stop took %v", took)
	}
	if size := len(th.log.String()); size > 8<<20 {
		t.Errorf("the flood made a log of %d bytes", size)
	}
}

func TestCrashesLeadToQuarantineAndResetLeavesIt(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-exits", "bad", Policy{})
	th.put("ax-plugin-alpha", "good")
	ask := func() error {
		_, _, err := th.Trigger(Spec{Use: "lie"}).Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
		return err
	}
	for i := range 5 {
		wantError[*UnavailableError](t, ask(), "exited with status 3")
		if state := th.status("exits").State; i < 4 && state != StateBackoff && state != StateDiscovered {
			t.Errorf("state after crash %d = %s", i+1, state)
		}
	}
	wantError[*UnavailableError](t, ask(), "quarantine")
	if s := th.status("exits"); s.State != StateQuarantined || !strings.Contains(s.Reason, "cannot find my settings") {
		t.Errorf("status = %+v, want quarantined with the reason", s)
	}
	th.await("alpha", func(s PluginStatus) bool { return s.State == StateDiscovered })
	th.use() // another plugin is not touched
	if err := th.Reset("exits"); err != nil {
		t.Fatal(err)
	}
	if s := th.status("exits"); s.State != StateDiscovered {
		t.Errorf("state after Reset = %s", s.State)
	}
	wantError[*UnavailableError](t, ask(), "exited with status 3")
	if err := th.Reset("nobody"); err == nil {
		t.Error("Reset of an unknown plugin succeeded")
	}
}

func TestLongBackoffIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-exits", "bad", Policy{StartTimeout: time.Second}, func(l *limits) {
		l.backoffUnit = time.Hour
		l.backoffMax = time.Hour
	})
	for _, want := range []string{"could not be started", "it is started again in 1h"} {
		_, _, err := th.Trigger(Spec{Use: "lie"}).Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
		wantError[*UnavailableError](t, err, want)
	}
	if s := th.status("exits"); s.State != StateBackoff || !strings.Contains(s.Reason, "cannot find my settings") {
		t.Errorf("status = %+v, want backoff", s)
	}
}

func TestHungProcessIsKilledByItsHealthChecks(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{}, func(l *limits) {
		l.health, l.healthCall, l.healthMisses = 50*time.Millisecond, 200*time.Millisecond, 2
	})
	th.use()
	pid := th.status("alpha").PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s := th.await("alpha", func(s PluginStatus) bool { return s.Restarts == 1 })
	if s.PID == pid {
		t.Errorf("status = %+v, want the process gone", s)
	}
	th.use()
}

func TestUnwellProcessIsReplaced(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-sick", "bad", Policy{}, func(l *limits) { l.health = 20 * time.Millisecond })
	ask := func() error {
		_, _, err := th.Trigger(Spec{Use: "lie"}).Next(t.Context(), time.Unix(0, 0), time.Time{}, 1)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	pid := th.status("sick").PID
	th.await("sick", func(s PluginStatus) bool { return s.PID != pid })
	if !strings.Contains(th.log.String(), "it says that it is not well: no disk") {
		t.Error("the log does not say why")
	}
}

func TestStopIsBoundedWithAStoppedProcess(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{}, func(l *limits) {
		l.shutdown, l.health = 300*time.Millisecond, time.Hour
	})
	th.use()
	pid := th.status("alpha").PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	th.Stop(t.Context())
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("Stop took %v", took)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d outlives the host", pid)
	}
}

func TestStopWaitsForRunsAndThenEndsThem(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{DrainTimeout: 300 * time.Millisecond})
	done := make(chan ax.Outcome)
	sink := newCollector()
	go func() { done <- work(th.Host, "stubborn", "").Run(t.Context(), request(), sink.take) }()
	<-sink.begun
	begin := time.Now()
	th.Stop(context.Background())
	if took := time.Since(begin); took < 300*time.Millisecond || took > 5*time.Second {
		t.Errorf("Stop took %v, want the drain timeout of 300 ms and little more", took)
	}
	if out := <-done; out.Status != ax.StatusLost {
		t.Errorf("outcome = %+v, want LOST", out)
	}
}

func TestEnvironmentOfPlugins(t *testing.T) {
	t.Setenv("AX_TEST_SECRET", "password")
	t.Setenv("LANG", "de_DE.UTF-8")
	th := startHost(t, "ax-plugin-alpha", "good", Policy{Env: map[string]string{"COLOR": "blue"}})
	th.use()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", th.status("alpha").PID))
	if err != nil {
		t.Fatal(err)
	}
	env := "\x00" + string(raw)
	for _, want := range []string{"PATH=", "LANG=de_DE.UTF-8", "COLOR=blue", ownerEnv + "=" + th.run.owner} {
		if !strings.Contains(env, "\x00"+want) {
			t.Errorf("the environment lacks %s", want)
		}
	}
	if strings.Contains(env, "password") {
		t.Error("a secret of the host reached the plugin")
	}
}

func TestHundredRestartsLeakNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	th := startHost(t, "ax-plugin-alpha", "good", Policy{}, func(l *limits) { l.quarantine = 1000; l.backoffMax = time.Millisecond })
	restart := func() {
		th.use()
		s := th.status("alpha")
		if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		th.await("alpha", func(now PluginStatus) bool { return now.Restarts > s.Restarts })
	}
	for range 5 {
		restart()
	}
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	for range 100 {
		restart()
	}
	// What a process leaves is freed just after its end is seen.
	limit := time.Now().Add(10 * time.Second)
	for openFiles(t) > files+3 || runtime.NumGoroutine() > goroutines+10 {
		if time.Now().After(limit) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("files %d → %d, goroutines %d → %d\n%s", files, openFiles(t), goroutines, runtime.NumGoroutine(),
				stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
	if sockets, err := os.ReadDir(th.cfg.RunDir); err != nil || len(sockets) > 3 {
		t.Errorf("run directory: %v, %v, want the lock and the owner only", sockets, err)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
