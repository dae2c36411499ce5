package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
)

// TestBacklog fills a host of one worker and one place in its queue, step by
// step: for each task that waits "ax backlog" must say why.
func TestBacklog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	config := `
executor: {workers: 1, queue: 1}
defaults: {retry: 0, grace: 1s}
tasks:
- {name: short, at: "2099-01-01", job: {use: exec, with: {command: ["true"]}}}
- {name: wrong, at: "2099-01-01", job: {use: exec, with: {command: ["false"]}}, retry: {count: 1, delay: 1h}}
- {name: queued, at: "2099-01-01", job: {use: exec, with: {command: ["true"]}}}
- {name: orphan, every: 1s, job: {use: nowhere}}
`
	w.config(config)
	w.start()
	w.axOK("run", "short", "--wait")
	w.axOK("run", "wrong")
	w.waitsFor("wrong", api.WaitRetry)
	w.waitsFor("orphan", api.WaitParked)

	config += "- {name: hog, every: 1s, overlap: queue, job: {use: exec, with: {command: [sleep, \"600\"]}}}\n"
	w.config(config)
	w.axOK("reload")
	w.waitsFor("hog", api.WaitLimit)
	w.axOK("run", "queued")
	w.waitsFor("queued", api.WaitWorkers)

	w.config(config + "- {name: held, every: 1s, job: {use: exec, with: {command: [\"true\"]}}}\n")
	w.axOK("reload")
	w.waitsFor("held", api.WaitRoom)
	b := axJSON[api.Backlog](w, "backlog", "-n", "2")
	if b.Workers != 1 || b.Busy != 1 || b.QueueLimit != 1 || b.QueueDepth != 1 || b.Held != 1 {
		t.Errorf("load: %+v", b)
	}
	if b.TasksTotal != 5 || len(b.Tasks) != 2 || b.Tasks[0].OldestDue.IsZero() || b.Tasks[1].OldestDue.Before(b.Tasks[0].OldestDue) {
		t.Errorf("tasks: %d, the first ones are %+v", b.TasksTotal, b.Tasks)
	}
	if len(b.Slow) != 1 || b.Slow[0].Task != "short" || b.Slow[0].Runs != 1 || b.Slow[0].Failures != 0 {
		t.Errorf("slow: %+v", b.Slow)
	}
	w.axOK("pause", "held")
	w.waitsFor("held", api.WaitPaused)
}

// waitsFor waits until a task waits for this reason before all others.
func (w *world) waitsFor(task string, cause api.WaitCause) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		for _, line := range axJSON[api.Backlog](w, "backlog").Tasks {
			if line.Task == task && len(line.Why) > 0 && line.Why[0].Cause == cause {
				return nil
			}
		}
		return fmt.Errorf("%s does not wait for %s:\n%s", task, cause, strings.TrimSpace(w.axOK("backlog")))
	})
}
