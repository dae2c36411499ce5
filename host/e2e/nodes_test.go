package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// states waits until "ax nodes" on a host shows the hosts in these states, as
// "NODE STATE" in the order of their names.
func (w *world) states(want ...string) (nodes []api.NodeView) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		nodes = axJSON[api.NodeList](w, "nodes").Nodes
		var got []string
		for _, n := range nodes {
			got = append(got, n.Name+" "+string(n.State))
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			return fmt.Errorf("%s sees %q, want %q", w.node, got, want)
		}
		return nil
	})
	return nodes
}

// A drained host schedules nothing and gets nothing to run, what it runs goes on,
// and it can take part again.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	a, b := c[0], c[1]
	a.node, b.node = "a", "b"
	const tasks = 8
	var body strings.Builder
	body.WriteString("tasks:\n")
	for i := range tasks {
		fmt.Fprintf(&body, "- {name: t%d, every: 1s, timeout: 1m, job: {use: work, with: {takes: 10ms}}}\n", i)
	}
	body.WriteString("- {name: long, every: 1h, nodes: {which: b}, job: {use: work, with: {takes: 8000ms}}}\n")
	a.shared = strings.Replace(a.shared, "cluster: {", "cluster: {labels: {which: a}, ", 1)
	b.shared = strings.Replace(b.shared, "cluster: {", "cluster: {labels: {which: b}, ", 1)
	a.config(body.String())
	b.config(body.String())
	ha, hb := a.start(), b.start()
	nodes := a.states("a live", "b live")
	if !nodes[0].Self || nodes[1].Self || nodes[1].Labels["which"] != "b" || nodes[0].Share+nodes[1].Share != 1 || nodes[0].Share == 0 || nodes[0].Share == 1 {
		t.Errorf("nodes: %+v", nodes)
	}
	eventually(t, patience, func() error {
		for _, n := range axJSON[api.NodeList](a, "nodes").Nodes {
			if n.Workers == 0 || n.ConfigHash == "" || n.ConfigHash != nodes[0].ConfigHash {
				return fmt.Errorf("%s tells %+v", n.Name, n)
			}
		}
		return nil
	})
	a.axOK("run", "long")
	long := a.runs("long", 1, ax.StatusRunning)[0]

	a.axOK("drain", "b")
	if out := a.ax("drain", "a"); !strings.Contains(out.err, "no other host") || out.code != 6 {
		t.Errorf("the last host goes: %+v", out)
	}
	b.states("a live", "b draining")
	nodes = a.states("a live", "b draining")
	if nodes[0].Share != 1 {
		t.Errorf("a schedules %v of all tasks", nodes[0].Share)
	}
	since := time.Now()
	eventually(t, patience, func() error {
		for i := range tasks {
			recent := axJSON[api.InstanceList](a, "instances", "--task", fmt.Sprintf("t%d", i), "--since", since.Format(time.RFC3339), "-n", "1").Instances
			if len(recent) == 0 || recent[0].Status != ax.StatusSuccess {
				return fmt.Errorf("t%d has not run since: %v", i, recent)
			}
		}
		return nil
	})
	for _, run := range axJSON[api.InstanceList](a, "instances", "--since", since.Add(time.Second).Format(time.RFC3339), "-n", "500").Instances {
		if run.Node == "b" {
			t.Errorf("%s of %s ran on b, which is drained", run.ScheduledAt, run.Task)
		}
	}
	if end := b.runs("long", 1, ax.StatusSuccess)[0]; end.ID != long.ID || end.Node != "b" {
		t.Errorf("what ran on b ended as %+v", end)
	}

	b.axOK("drain", "--undo")
	if out := b.ax("drain", "--undo"); out.code != 6 {
		t.Errorf("undone twice: %+v", out)
	}
	a.states("a live", "b live")
	cost := axJSON[struct{ Cost api.NodesCost }](a, "nodes", "--cost", "--seconds", "2").Cost
	if cost.Hosts != 2 || cost.ThisHost <= 0 || cost.HostsTogether <= 0 {
		t.Errorf("cost: %+v", cost)
	}

	hb.kill()
	a.states("a live", "b suspect")
	a.states("a live", "b dead")
	if out := a.ax("drain", "b"); out.code != 6 || !strings.Contains(out.err, "is dead") {
		t.Errorf("drain of a dead host: %+v", out)
	}
	ha.stop()
}

// The log of a run on another host than the one that schedules its task tells its
// whole way.
func TestLogOfARunElsewhere(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	c[0].shared = strings.Replace(c[0].shared, "cluster: {", "cluster: {labels: {which: a}, ", 1)
	c[1].shared = strings.Replace(c[1].shared, "cluster: {", "cluster: {labels: {which: b}, ", 1)
	const tasks = 6 // of which some are scheduled by either host
	var body strings.Builder
	body.WriteString("tasks:\n")
	for i := range tasks {
		fmt.Fprintf(&body, "- {name: t%d, every: 1h, nodes: {which: b}, job: {use: work}}\n", i)
	}
	var hosts []*host
	for _, w := range c {
		w.config(body.String())
		hosts = append(hosts, w.start())
	}
	eventually(t, patience, func() error {
		if n := len(axJSON[api.NodeList](c[0], "nodes").Nodes); n != 2 {
			return fmt.Errorf("%d hosts", n)
		}
		return nil
	})
	elsewhere := 0
	for i := range tasks {
		task := fmt.Sprintf("t%d", i)
		c[0].axOK("run", task, "--wait")
		run := c[0].runs(task, 1, ax.StatusSuccess)[0]
		if run.Node != c[1].node {
			t.Errorf("%s ran on %s", task, run.Node)
		}
		log := c[0].axOK("logs", run.ID)
		if strings.Contains(log, string(ax.StageReceived)) {
			elsewhere++
			at := -1
			for _, stage := range []ax.Stage{ax.StageTriggerReady, ax.StageDispatched, ax.StageReceived, ax.StageClaimed, ax.StageOutcome} {
				next := strings.Index(log, string(stage))
				if next <= at {
					t.Errorf("%s is missing or out of place in\n%s", stage, log)
				}
				at = next
			}
		}
	}
	if elsewhere == 0 {
		t.Error("no run was received by another host")
	}
	for _, h := range hosts {
		h.stop()
	}
}
