package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

// TestBacklog fills a host of one worker and one place in its queue: for every
// task that waits "ax backlog" must say why.
func TestBacklog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config(`
executor: {workers: 1, queue: 1}
defaults: {retry: 0, grace: 1s}
tasks:
- {name: short, at: "2099-01-01", job: {use: exec, with: {command: ["true"]}}}
- {name: wrong, at: "2099-01-01", job: {use: exec, with: {command: ["false"]}}, retry: {count: 1, delay: 1h}}
- {name: hog, every: 1s, overlap: queue, job: {use: exec, with: {command: [sleep, "600"]}}}
- {name: queued, at: "2099-01-01", job: {use: exec, with: {command: ["true"]}}}
- {name: held, every: 1s, job: {use: exec, with: {command: ["true"]}}}
- {name: paused, every: 1s, job: {use: exec, with: {command: ["true"]}}}
- {name: orphan, every: 1s, job: {use: nowhere}}
`)
	w.start()
	for _, task := range []string{"held", "paused", "hog"} {
		w.axOK("pause", task)
	}
	w.axOK("run", "short", "--wait")
	if r := w.ax("run", "wrong", "--wait"); r.code != 1 {
		t.Errorf("run wrong: exit code %d", r.code)
	}
	fmt.Println(w.axOK("backlog"))
	w.axOK("resume", "hog")
	w.waitsFor("hog", api.WaitLimit)
	w.axOK("run", "queued")
	w.waitsFor("queued", api.WaitWorkers)
	w.axOK("resume", "held")
	fmt.Println(w.axOK("backlog"))
}

// waitsFor waits until a task waits for just this reason, and returns it.
func (w *world) waitsFor(task string, cause api.WaitCause) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		for _, line := range axJSON[api.Backlog](w, "backlog").Tasks {
			if line.Task == task && len(line.Why) == 1 && line.Why[0].Cause == cause {
				return nil
			}
		}
		return fmt.Errorf("%s does not wait for %s:\n%s", task, cause, strings.TrimSpace(w.axOK("backlog")))
	})
}

var _ = time.Second
