package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// A host's data moves from SQLite to MySQL while it is stopped, and the host goes on
// with its history, its plans and what was paused.
func TestMoveToMySQL(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	const body = "tasks:\n- {name: often, every: 1s, job: {use: work}}\n- {name: paused, every: 1s, job: {use: work}}\n"
	w.config(body)
	h := w.start()
	w.runs("often", 3, ax.StatusSuccess)
	w.axOK("pause", "paused")
	dsn := mysqltest.DSN(t)
	from := "sqlite:" + w.path("data", "ax.db")
	if out := w.ax("migrate", "--from", from, "--to", dsn); out.code != 1 || !strings.Contains(out.err, "in use by another host") {
		t.Errorf("while the host runs: %+v", out)
	}
	h.stop()
	before := len(w.rows("status = 'SUCCESS'"))

	out := w.ax("migrate", "--from", from, "--to", dsn)
	if out.code != 0 || !strings.Contains(out.out, "came just now") || !strings.Contains(out.err, " rows\n") {
		t.Fatalf("%+v", out)
	}
	if again := w.axOK("migrate", "--from", from, "--to", dsn); !strings.Contains(again, "was moved before") {
		t.Errorf("once more: %s", again)
	}
	w.shared = fmt.Sprintf("store: {dsn: %q}\n", dsn)
	w.config(body)
	h = w.start()
	if kept := len(axJSON[api.InstanceList](w, "instances", "--status", "SUCCESS", "-n", "500").Instances); kept < before {
		t.Errorf("%d runs are there, %d were", kept, before)
	}
	if state := w.tasks()["paused"].State; state != api.TaskPaused {
		t.Errorf("the paused task is %s", state)
	}
	w.runs("often", before+2, ax.StatusSuccess)
	seen := map[string]bool{}
	for _, run := range axJSON[api.InstanceList](w, "instances", "--task", "often", "-n", "500").Instances {
		at := run.ScheduledAt.String()
		if seen[at] {
			t.Errorf("%s twice", at)
		}
		seen[at] = true
	}
	h.stop()
}
