package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// After SIGTERM jobs that end within the grace period succeed, the others are
// stopped, all results are written, nothing is started any more, and nothing
// stays behind.
func TestTerminateLetsJobsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec", "worker")
	w.config(`
executor: {workers: 20, grace: 3s}
defaults: {grace: 2s, retry: 0}
tasks:
- {name: due, every: 1s, job: {use: work}}
- {name: quick, at: "2099-01-01", job: {use: work, with: {until: "` + w.path("quick") + `"}}}
- {name: slow, at: "2099-01-01", job: {use: work, with: {takes: 10m}}}
- {name: again, at: "2099-01-01", retry: {count: 1, delay: 1s}, job: {use: work, with: {until: "` + w.path("go") + `"}}}
- {name: shell, at: "2099-01-01", job: {use: exec, with: {shell: "sleep 600 & sleep 600"}}}
- {name: stubborn, at: "2099-01-01", job: {use: exec, with: {shell: "trap '' TERM; while :; do sleep 0.1; done", kill_after: 500ms}}}
`)
	h := w.start()
	w.some("due", 1, ax.StatusSuccess)
	ids := map[string]string{}
	for _, task := range []string{"slow", "again", "shell", "stubborn", "quick"} {
		ids[task] = w.run(task)
		w.instance(ids[task], ax.StatusRunning)
	}
	before := w.processes()
	told := time.Now()
	h.signal(syscall.SIGTERM)
	h.logs("host is stopping")
	w.write("quick", "")
	if state := h.wait(patience); state.ExitCode() != 0 {
		t.Errorf("after SIGTERM: %s", state)
	}
	if took := time.Since(told); took < 2*time.Second || took > 15*time.Second {
		t.Errorf("the host ended %s after SIGTERM, with a grace period of 3 s", took)
	}
	for task, want := range map[string]ax.Status{
		"quick": ax.StatusSuccess, "slow": ax.StatusLost, "again": ax.StatusRetrying,
		"shell": ax.StatusLost, "stubborn": ax.StatusLost,
	} {
		if got := w.rows("id = ?", ids[task])[0]; got.Status != want || got.EndedAt.Before(told) {
			t.Errorf("%s is %s, ended %s: %s; want %s", task, got.Status, got.EndedAt, got.Error, want)
		}
	}
	for _, r := range w.of("due") {
		if r.StartedAt.After(told.Add(900 * time.Millisecond)) {
			t.Errorf("the due time %s was started %s after SIGTERM", r.ScheduledAt, r.StartedAt.Sub(told))
		}
	}
	if left := alive(before); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	w.write("go", "")
	h = w.start()
	if r := w.instance(ids["again"], ax.StatusSuccess); r.Attempt != 2 {
		t.Errorf("the stopped job succeeded in attempt %d, want 2", r.Attempt)
	}
	h.stop()
}

// Who cannot wait for the grace period says it twice.
func TestSecondTerminateEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec", "worker")
	w.config(`
executor: {grace: 10m}
tasks:
- {name: slow, at: "2099-01-01", retry: 0, job: {use: work, with: {takes: 10m}}}
- {name: shell, at: "2099-01-01", retry: 1, job: {use: exec, with: {shell: "sleep 600 & sleep 600"}}}
`)
	h := w.start()
	slow, shell := w.run("slow"), w.run("shell")
	w.instance(slow, ax.StatusRunning)
	w.instance(shell, ax.StatusRunning)
	before := w.processes()
	h.signal(syscall.SIGTERM)
	h.logs("host is stopping")
	h.signal(syscall.SIGTERM)
	if state := h.wait(5 * time.Second); state.Success() {
		t.Errorf("the host ended well: %s", state)
	}
	w.gone(before, 3*time.Second)

	h = w.start()
	w.instance(slow, ax.StatusLost)
	w.instance(shell, ax.StatusRetrying)
	h.stop()
}

// A host that has nothing to do ends at once.
func TestTerminateIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config("tasks: []\n")
	h := w.start()
	told := time.Now()
	h.stop()
	if took := time.Since(told); took > 5*time.Second {
		t.Errorf("an idle host took %s to end", took)
	}
}

// SIGTERM before the host has started ends it in good order as well, and leaves
// nothing.
func TestTerminateWhileStarting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec", "worker")
	w.config(manyTasks(1000))
	h := w.launch()
	h.logs("schema migrated")
	h.signal(syscall.SIGTERM)
	if state := h.wait(patience); state.ExitCode() != 0 {
		t.Errorf("the host ended with %s", state)
	}
	h.logs("stopped")
	w.gone(w.processes(), 3*time.Second)
	h = w.start()
	w.some("due", 1, ax.StatusSuccess)
	h.stop()
}
