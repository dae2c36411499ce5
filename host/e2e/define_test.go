package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// send sends a request with a body that is no JSON; header are pairs.
func (w *world) send(method, path, body string, header ...string) (status int, answer string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.addr+api.Base+path, strings.NewReader(body))
	w.must(err)
	req.Header.Set("Content-Type", "application/yaml")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil { // the host was killed
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

func (w *world) definition(task string) (d api.Definition) {
	w.t.Helper()
	return axJSON[api.Definition](w, "tasks", "definition", task)
}

// TestMadeTaskRuns: a task that is made while the host runs fires, is changed, is
// there after a restart, and is gone once it is deleted.
func TestMadeTaskRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config("tasks:\n- {name: filed, every: 1h, job: {use: work}}\n")
	h := w.start()
	w.write("beat.yaml", "name: beat\nevery: 1s\njob: {use: work, with: {takes: 1ms}}\n")
	w.axOK("tasks", "create", w.path("beat.yaml"))
	w.runs("beat", 2, ax.StatusSuccess)
	if r := w.axWith("name: filed\nevery: 1s\njob: {use: work}\n", "tasks", "create"); r.code != 5 || !strings.Contains(r.err, `"filed" already, defined in ax.yaml:`) {
		t.Errorf("%+v", r)
	}
	if r := w.axWith("name: odd\nevery: 1s\njob: {use: work, with: {takes: soon}}\n", "tasks", "create"); r.code != 5 || !strings.Contains(r.err, "standard input:3:") {
		t.Errorf("settings that the plugin does not take: %+v", r)
	}

	// The old schedule accounts for what it had reached, the new one goes on from there.
	w.axOK("tasks", "definition", "beat")
	edited := strings.Replace(w.definition("beat").YAML, "every: 1s", "every: 1h", 1)
	if r := w.axWith(edited, "tasks", "edit", "beat"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	w.accounted("beat", time.Second)
	h.stop()
	h = w.start()
	if v := w.tasks()["beat"]; v.Schedule.Every != "1h0m0s" || v.State != api.TaskOn {
		t.Errorf("after a restart: %+v", v)
	}
	w.axOK("run", "beat", "--wait")
	w.axOK("reload")
	w.axOK("tasks", "delete", "beat")
	if _, there := w.tasks()["beat"]; there {
		t.Error("the deleted task is still there")
	}
	h.stop()
	h = w.start()
	if _, there := w.tasks()["beat"]; there {
		t.Error("the deleted task came back with a restart")
	}
	h.stop()
}

// accounted wants a row for each due time of a task that came every so often,
// without a gap and none twice.
func (w *world) accounted(task string, every time.Duration) {
	w.t.Helper()
	all := axJSON[api.InstanceList](w, "instances", "--task", task, "--limit", "1000").Instances
	for i := 1; i < len(all); i++ {
		if gap := all[i-1].ScheduledAt.Sub(all[i].ScheduledAt); gap != every && all[i-1].Missed == 0 && all[i].Missed == 0 {
			w.t.Errorf("%s: %s and then %s", task, all[i].ScheduledAt, all[i-1].ScheduledAt)
		}
	}
}

// TestKilledDuringEdit: whenever the host dies, an edit is there whole or not at
// all, and what was answered is there.
func TestKilledDuringEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker")
	w.config("tasks:\n- {name: filed, every: 1h, job: {use: work}}\n")
	h := w.start()
	text := func(n int) string {
		return fmt.Sprintf("name: beat\ndescription: edit %d\nevery: %ds\njob: {use: work, with: {takes: 1ms}}\n", n, n+1)
	}
	if status, answer := w.send("POST", "/tasks", text(0)); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	answered := 0
	for round := range 4 {
		edits, done := make(chan struct{}, 1000), make(chan int, 1)
		go func(from int) {
			last := from
			for n := from + 1; ; n++ {
				if status, _ := w.send("PUT", "/tasks/beat", text(n), "If-Match", "*"); status != http.StatusOK {
					done <- last
					return
				}
				last = n
				edits <- struct{}{}
			}
		}(answered)
		for range 2 + 3*round {
			<-edits
		}
		h.kill() // the next one is under way
		answered = <-done
		h = w.start()
		d := w.definition("beat")
		var n, every int
		for line := range strings.Lines(d.YAML) {
			_, _ = fmt.Sscanf(line, "description: edit %d", &n)
			_, _ = fmt.Sscanf(line, "every: %ds", &every)
		}
		if n != answered && n != answered+1 {
			t.Errorf("edit %d is there, %d was the last that was answered", n, answered)
		}
		if v := w.tasks()["beat"]; v.State != api.TaskOn || v.Description != fmt.Sprintf("edit %d", n) {
			t.Errorf("%+v", v)
		}
		if n < 59 && every != n+1 {
			t.Errorf("half of edit %d:\n%s", n, d.YAML)
		}
		answered = n
	}
	h.stop()
}

// TestEditOnTwoHosts: what is made on one host runs on both, the two agree on it,
// and of edits of one version on both at once one wins.
func TestEditOnTwoHosts(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	a, b := c[0], c[1]
	a.config("tasks:\n- {name: filed, every: 1h, job: {use: work}}\n")
	b.config("tasks:\n- {name: filed, every: 1h, job: {use: work}}\n")
	ha, hb := a.start(), b.start()
	const tasks = 6
	for i := range tasks {
		text := fmt.Sprintf("name: made%d\nevery: 1s\njob: {use: work, with: {takes: 1ms}}\n", i)
		if status, answer := c[i%2].send("POST", "/tasks", text); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
	}
	for i := range tasks {
		c[(i+1)%2].runs(fmt.Sprintf("made%d", i), 2, ax.StatusSuccess)
	}
	var wait sync.WaitGroup
	statuses := make([]int, 2)
	for i, w := range c {
		wait.Go(func() {
			statuses[i], _ = w.send("PUT", "/tasks/made0", fmt.Sprintf("name: made0\nevery: %dh\njob: {use: work}\n", i+1), "If-Match", `"1"`)
		})
	}
	wait.Wait()
	if got := fmt.Sprint(statuses); got != "[200 412]" && got != "[412 200]" {
		t.Errorf("two edits of one version: %s", got)
	}
	eventually(t, patience, func() error {
		if x, y := a.tasks()["made0"], b.tasks()["made0"]; x.Schedule.Every != y.Schedule.Every || x.Schedule.Every == "1s" {
			return fmt.Errorf("%s and %s", x.Schedule.Every, y.Schedule.Every)
		}
		nodes := axJSON[api.NodeList](a, "nodes").Nodes
		if len(nodes) != 2 || nodes[0].ConfigHash != nodes[1].ConfigHash {
			return fmt.Errorf("the hosts run different tasks: %+v", nodes)
		}
		return nil
	})

	b.axOK("tasks", "delete", "made1")
	eventually(t, patience, func() error {
		if _, there := a.tasks()["made1"]; there {
			return fmt.Errorf("the deleted task is still on the other host")
		}
		return nil
	})
	if r := a.axWith("name: made2\nevery: 1s\njob: {use: work}\n", "tasks", "create"); r.code == 0 {
		t.Error("a name was made twice")
	}
	b.config("tasks:\n- {name: made2, every: 1h, job: {use: work}}\n")
	hb.logs("made2", "made in the console") // refused, the old one goes on
	a.runs("made2", 4, ax.StatusSuccess)
	for i := range tasks {
		a.accounted(fmt.Sprintf("made%d", i), time.Second)
	}
	ha.kill()
	b.runs("made3", 6, ax.StatusSuccess)
	hb.stop()
}

// TestSameKeySameRun: a request that is sent again, to whichever host and also at
// once, starts one run.
func TestSameKeySameRun(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, "worker")
	var hosts []*host
	for _, w := range c {
		w.config("tasks:\n- {name: order, every: 1h, overlap: allow, job: {use: work, with: {takes: 1ms}}}\n")
		hosts = append(hosts, w.start())
	}
	var mu sync.Mutex
	ids := map[string]int{}
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			status, answer := c[i%2].send("POST", "/tasks/order/run", "", "Idempotency-Key", "order 7")
			var started api.RunStarted
			if status != http.StatusAccepted || json.Unmarshal([]byte(answer), &started) != nil {
				t.Errorf("%d %s", status, answer)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[started.Instance]++
		})
	}
	wait.Wait()
	if len(ids) != 1 {
		t.Errorf("the same request started %v", ids)
	}
	c[0].runs("order", 1, ax.StatusSuccess)
	hosts[0].stop()
	hosts[0] = c[0].start()
	if _, answer := c[0].send("POST", "/tasks/order/run", "", "Idempotency-Key", "order 7"); len(ids) == 1 && !strings.Contains(answer, anyKey(ids)) {
		t.Errorf("after a restart: %s, want %v", answer, ids)
	}
	if all := axJSON[api.InstanceList](c[1], "instances", "--task", "order").Instances; len(all) != 1 {
		t.Errorf("%d runs", len(all))
	}
	for _, h := range hosts {
		h.stop()
	}
}

func anyKey(m map[string]int) string {
	for key := range m {
		return key
	}
	return ""
}
