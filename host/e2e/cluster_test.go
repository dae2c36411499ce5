package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// newCluster makes worlds whose hosts share a database.
func newCluster(t *testing.T, n int, plugins ...string) []*world {
	t.Helper()
	dsn := mysqltest.DSN(t)
	worlds := make([]*world, n)
	for i := range worlds {
		worlds[i] = newWorld(t, plugins...)
		worlds[i].dsn = dsn
		worlds[i].shared = fmt.Sprintf("store: {dsn: %q}\ncluster: {listen: \"127.77.0.1:0\", secret: \"a secret of this test\"}\n", dsn)
	}
	return worlds
}

// runs waits until a task has n runs in a state, as the API of a host shows them.
func (w *world) runs(task string, n int, state ax.Status) (found []api.InstanceView) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		found = axJSON[api.InstanceList](w, "instances", "--task", task, "--status", string(state)).Instances
		if len(found) < n {
			return fmt.Errorf("%d runs of %s are %s, want %d", len(found), task, state, n)
		}
		return nil
	})
	return found
}

// The file that was changed last is in force on all hosts, and one that restarts
// with an older file does not undo it.
func TestWhichFileWins(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	a, b := c[0], c[1]
	const job = "job: {use: work}"
	a.config("tasks:\n- {name: one, every: 1h, " + job + "}\n- {name: old, every: 1h, " + job + "}\n")
	b.config("tasks:\n- {name: one, every: 2h, " + job + "}\n- {name: two, every: 2h, " + job + "}\n")
	runs := func(w *world, want string) {
		t.Helper()
		eventually(t, patience, func() error {
			var got []string
			for _, name := range []string{"old", "one", "two"} {
				if task, ok := w.tasks()[name]; ok {
					got = append(got, name+" "+strings.TrimSuffix(task.Schedule.Every, "0m0s"))
				}
			}
			if text := strings.Join(got, ", "); text != want {
				return fmt.Errorf("%s runs %q, want %q", w.node, text, want)
			}
			return nil
		})
	}
	const first, second = "old 1h, one 1h", "one 2h, two 2h"
	ha := a.start()
	runs(a, first)
	hb := b.start()
	runs(b, second)
	runs(a, second) // the newer file

	ha.stop()
	ha = a.start() // with a file that it has applied before
	ha.logs("were replaced by those of another host", "node="+b.node)
	runs(a, second)
	a.axOK("run", "two", "--wait")

	axJSON[api.ReloadReport](a, "reload") // a person puts it in force
	runs(a, first)
	runs(b, first)
	ha.stop()
	hb.stop()
}

// What is asked of any host is done by the one that schedules the task.
func TestAnyHostWillDo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	const tasks = 6
	var body strings.Builder
	body.WriteString("tasks:\n")
	for i := range tasks {
		fmt.Fprintf(&body, "- {name: t%d, every: 1s, timeout: 1m, job: {use: work, with: {takes: 10ms}}}\n", i)
		fmt.Fprintf(&body, "- {name: long%d, every: 1h, job: {use: work, with: {takes: 60000ms}}}\n", i)
	}
	var hosts []*host
	for _, w := range c {
		w.config(body.String())
		hosts = append(hosts, w.start())
	}
	a, b := c[0], c[1]
	for i := range tasks {
		task, long := fmt.Sprintf("t%d", i), fmt.Sprintf("long%d", i)
		a.runs(task, 2, ax.StatusSuccess)
		a.axOK("run", task, "--wait", "--force") // it may run just now by its schedule
		// A pause is in force on whatever host schedules the task.
		b.axOK("pause", task)
		eventually(t, patience, func() error {
			view := a.tasks()[task]
			if view.State != api.TaskPaused {
				return fmt.Errorf("%s is %s", task, view.State)
			}
			return nil
		})
		a.axOK("run", long)
		id := a.runs(long, 1, ax.StatusRunning)[0].ID
		b.axOK("cancel", id)
		b.runs(long, 1, ax.StatusCanceled)
	}
	count := func() (n int) {
		for i := range tasks {
			n += len(axJSON[api.InstanceList](a, "instances", "--task", fmt.Sprintf("t%d", i), "-n", "500").Instances)
		}
		return n
	}
	before := count()
	time.Sleep(2100 * time.Millisecond) // two due times of each, had it not been paused
	if after := count(); after != before {
		t.Errorf("%d instances of paused tasks", after-before)
	}
	for i := range tasks {
		a.axOK("resume", fmt.Sprintf("t%d", i))
	}
	eventually(t, patience, func() error {
		if n := count(); n < before+tasks {
			return fmt.Errorf("%d instances since the pause", n-before)
		}
		return nil
	})
	for _, h := range hosts {
		h.stop()
	}
}

// With strategy: broadcast each host has a run of its own, which knows its part.
// TestRunByHandOnAnyHost: whatever host is asked, a run by hand is refused while the
// task runs, can be forced, and is made once for a key.
func TestRunByHandOnAnyHost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	const tasks = 4 // either host schedules some of them
	var body strings.Builder
	body.WriteString("tasks:\n")
	for i := range tasks {
		fmt.Fprintf(&body, "- {name: t%d, every: 1h, job: {use: work, with: {takes: 60000ms}}}\n", i)
	}
	var hosts []*host
	c[0].node, c[1].node = "a", "b"
	for _, w := range c {
		w.config(body.String())
		hosts = append(hosts, w.start())
	}
	for _, w := range c {
		w.states("a live", "b live")
	}
	for i := range tasks {
		task := fmt.Sprintf("t%d", i)
		c[0].axOK("run", task)
		c[0].runs(task, 1, ax.StatusRunning)
		for _, w := range c {
			if r := w.ax("run", task); r.code == 0 || !strings.Contains(r.err, "the task runs already") {
				t.Errorf("%s asked for %s, which runs: %+v", w.node, task, r)
			}
		}
		c[0].axOK("run", task, "--force")
		c[1].axOK("run", task, "--force")
		ids := map[string]bool{}
		for range 2 {
			for _, w := range c {
				status, answer := w.send(http.MethodPost, "/tasks/"+task+"/run", `{"force":true}`, "Content-Type", "application/json", "Idempotency-Key", "once "+task)
				if status != http.StatusOK && status != http.StatusAccepted && status != http.StatusCreated {
					t.Errorf("%s with a key: %d %s", w.node, status, answer)
				}
				ids[answer] = true
			}
		}
		if len(ids) != 1 {
			t.Errorf("%s: one key, answers %v", task, ids)
		}
		if n := len(c[0].runs(task, 4, ax.StatusRunning)); n != 4 {
			t.Errorf("%d runs of %s", n, task)
		}
	}
	for _, h := range hosts {
		h.kill()
	}
}

func TestEveryHostHasItsShard(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, "exec")
	var hosts []*host
	for _, w := range c {
		w.config("tasks:\n- name: all\n  every: 1h\n  strategy: broadcast\n  params: {part: '{{ .Shard }}'}\n" +
			"  job: {use: exec, with: {shell: 'echo \"$AX_SHARD of $AX_SHARDS on $AX_NODE, $AX_PARAM_PART\"'}}\n")
		hosts = append(hosts, w.start())
	}
	eventually(t, patience, func() error {
		for _, w := range c {
			if n := len(axJSON[api.NodeList](w, "nodes").Nodes); n != len(c) {
				return fmt.Errorf("%s knows %d hosts", w.node, n)
			}
		}
		return nil
	})
	c[1].axOK("run", "all")
	runs := c[0].runs("all", len(c), ax.StatusSuccess)
	nodes := map[string]bool{}
	for _, run := range runs {
		want := fmt.Sprintf("%d of 3 on %s, %d", run.Shard, run.Node, run.Shard)
		if log := c[2].axOK("logs", run.ID); !strings.Contains(log, want) {
			t.Errorf("shard %d: no %q in\n%s", run.Shard, want, log)
		}
		nodes[run.Node] = true
	}
	if len(runs) != len(c) || len(nodes) != len(c) {
		t.Errorf("%d runs on %d hosts: %+v", len(runs), len(nodes), runs)
	}
	for _, h := range hosts {
		h.stop()
	}
}
