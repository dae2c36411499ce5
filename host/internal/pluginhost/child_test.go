package pluginhost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// childEnv makes the test binary a host for the plugin directory, the run
// directory and the scratch directory that it names, separated by colons.
const childEnv = "AX_TEST_CHILD_HOST"

// childHost runs plugins and a job with a child of its own, says when all of
// them are there, and then waits to be killed.
func childHost() {
	dirs := strings.Split(os.Getenv(childEnv), ":")
	err := func() error {
		h, err := New(Config{Dir: dirs[0], RunDir: dirs[1]})
		if err != nil {
			return err
		}
		quick(&h.limits)
		ctx := context.Background()
		if err := h.Start(ctx); err != nil {
			return err
		}
		for _, use := range []string{"deaf/lie", "orphans/lie"} {
			if _, _, err := h.Trigger(Spec{Use: use}).Next(ctx, time.Unix(0, 0), time.Time{}, 1); err != nil {
				return err
			}
		}
		if out := work(h, "family", filepath.Join(dirs[2], "child")).Run(ctx, request(), ignore); out.Status != ax.StatusSuccess {
			return errors.New(out.Error)
		}
		begun := newCollector()
		go work(h, "stubborn", "").Run(ctx, request(), begun.take)
		<-begun.begun
		for _, s := range h.Plugins() {
			fmt.Println(s.Name, s.PID)
		}
		return nil
	}()
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("ready")
	select {}
}

func TestKilledHostLeavesNoProcess(t *testing.T) {
	t.Parallel()
	th := newHost(t, nil) // the host that comes after
	th.put("ax-plugin-alpha", "good")
	th.put("ax-plugin-deaf", "bad")
	th.put("ax-plugin-orphans", "bad")
	scratch := t.TempDir()
	pids := killChildHost(t, th.dir+":"+th.cfg.RunDir+":"+scratch)

	// Plugins that keep the contract end by themselves, at once.
	awaitGone(t, pids["alpha"])
	awaitGone(t, pids["orphans"]) // SIGTERM is enough for it
	raw, err := os.ReadFile(filepath.Join(scratch, "child"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	// One that ignores SIGTERM, and what plugins left behind in sessions and
	// groups of their own, ends when the next host starts.
	if !alive(pids["deaf"]) || !alive(child) {
		t.Error("there is nothing left for the next host to do")
	}
	th.start()
	for _, pid := range []int{pids["deaf"], child} {
		if alive(pid) {
			t.Errorf("process %d outlives the start of the next host", pid)
		}
	}
	if left := killMarked(th.run.owner); len(left) > 0 {
		t.Errorf("processes %v with the mark of the run directory were left", left)
	}
	if !strings.Contains(th.log.String(), "processes of an earlier host were still running and were killed") {
		t.Error("the log does not tell of them")
	}
	th.use()
}

// killChildHost starts a host in a process, kills it when it is busy, and
// returns the pids of its plugins.
func killChildHost(t *testing.T, dirs string) map[string]int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self)
	host.Env = append(os.Environ(), childEnv+"="+dirs)
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	pids := make(map[string]int)
	ready := false
	lines := bufio.NewScanner(stdout)
	for !ready && lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		ready = name == "ready"
		if name == "error" {
			t.Errorf("host: %s", rest)
		}
		pids[name], _ = strconv.Atoi(rest)
	}
	if err := host.Process.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := host.Wait(); !ready {
		t.Fatalf("host ended too early: %v", err)
	}
	return pids
}

// A process that ends takes with it what it started, in whatever group that is
// and whatever pipe it holds.
func TestProcessesTakeTheirChildrenAlong(t *testing.T) {
	t.Parallel()
	th := startHost(t, "ax-plugin-alpha", "good", Policy{})
	file := filepath.Join(t.TempDir(), "child")
	if out := work(th.Host, "family", file).Run(t.Context(), request(), ignore); out.Status != ax.StatusSuccess {
		t.Fatalf("outcome = %+v", out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	pid := th.status("alpha").PID
	if session, _ := sessionOf(child); session != pid {
		t.Fatalf("child %d is in session %d, want that of its plugin, %d", child, session, pid)
	}
	begin := time.Now()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	th.await("alpha", func(s PluginStatus) bool { return s.Restarts == 1 })
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the end of the process was seen after %v", took)
	}
	if alive(child) {
		t.Errorf("child %d outlives its plugin", child)
	}
}

func TestSweepTouchesNoStrangers(t *testing.T) {
	t.Parallel()
	stranger := exec.Command("sleep", "1000")
	stranger.Env = append(os.Environ(), ownerEnv+"=SOMEBODYELSE", "X="+ownerEnv+"=MINE")
	mine := exec.Command("sleep", "1000")
	mine.Env = append(os.Environ(), ownerEnv+"=MINE")
	for _, cmd := range []*exec.Cmd{stranger, mine} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if killed := killMarked("MINE"); len(killed) != 1 || killed[0] != mine.Process.Pid {
		t.Errorf("killed %v, want %d alone", killed, mine.Process.Pid)
	}
	if !alive(stranger.Process.Pid) {
		t.Error("the stranger is dead")
	}
	if err := stranger.Process.Kill(); err != nil {
		t.Error(err)
	}
	_, _ = stranger.Wait(), mine.Wait()
}

func alive(pid int) bool {
	_, alive := sessionOf(pid)
	return alive
}
