package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi"
)

// fault is a plugin that does something wrong, and what is to come of it.
type fault struct {
	plugin string // also the name of its task
	task   string // the rest of the task in YAML
	// parked are texts of the reason for which the task is parked.
	parked []string
	// status and texts are what the newest instance looks like.
	status ax.Status
	texts  []string
}

// trigger and job are tasks with a bad one of these and a good other one.
func badTrigger(plugin string) string {
	return fmt.Sprintf("trigger: {use: %s/trigger, with: {how: %s}}, job: {use: work}", plugin, plugin)
}

func badJob(plugin, how string) string {
	return fmt.Sprintf("every: 1s, timeout: 1s, grace: 500ms, job: {use: %s/job, with: {how: %s}}", plugin, how)
}

// faults are all that is tried, each with a plugin of its own.
func faults() []fault {
	return []fault{
		{plugin: "past", task: badTrigger("past"), parked: []string{"not after"}},
		{plugin: "same", task: badTrigger("same"), parked: []string{"not after"}},
		{plugin: "now", task: badTrigger("now"), parked: []string{"must give the same answer"}},
		{plugin: "fail", task: badTrigger("fail"), parked: []string{"failing on purpose"}},
		{plugin: "panic", task: badTrigger("panic"), parked: []string{"panic", "thrown on purpose"}},
		{plugin: "crash", task: badTrigger("crash"), parked: []string{"plugin crash", "thrown beside the call"}},
		{plugin: "exit", task: badTrigger("exit"), parked: []string{"plugin exit", "status 7"}},
		{plugin: "hang", task: badTrigger("hang"), parked: []string{"hang/trigger", "did not answer in time"}},
		{plugin: "exits", task: badTrigger("exits"), parked: []string{"plugin exits", "cannot find my settings"}},
		{plugin: "job-exits", task: badJob("job-exits", "exit"), parked: []string{"quarantine", "status 7"}, status: ax.StatusLost, texts: []string{"status 7"}},
		{plugin: "job-crashes", task: badJob("job-crashes", "crash"), parked: []string{"quarantine", "thrown beside the call"}, status: ax.StatusLost, texts: []string{"thrown beside the call"}},
		{plugin: "job-panics", task: badJob("job-panics", "panic"), status: ax.StatusFailed, texts: []string{"thrown on purpose"}},
		{plugin: "job-hangs", task: badJob("job-hangs", "hang"), status: ax.StatusTimeout, texts: []string{"its process was killed"}},
		{plugin: "job-floods", task: badJob("job-floods", "flood"), status: ax.StatusTimeout},
	}
}

// Whatever one plugin does, the tasks of others run, and run on time; its own
// are parked or fail, with a reason that people can read.
func TestBadPluginsHurtOnlyThemselves(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := newWorld(t, "worker", "webhook")
	var b strings.Builder
	fmt.Fprintf(&b, "  policies:\n    hang: {call_timeout: 500ms}\nnotifiers: {hook: {use: webhook, with: {url: %s/alerts}}}\n", s.URL)
	b.WriteString("defaults: {retry: 0, notify: {to: [hook], on: [failed, timeout, lost, parked]}}\ntasks:\n")
	b.WriteString("- {name: good, every: 1s, job: {use: work}}\n- {name: beats, trigger: {use: beat, with: {every: 1s}}, job: {use: work}}\n")
	b.WriteString("- {name: stopped, every: 1s, job: {use: stopped/job, with: {how: well}}}\n")
	for _, f := range faults() {
		w.install(f.plugin, "bad")
		fmt.Fprintf(&b, "- {name: %s, %s}\n", f.plugin, f.task)
	}
	w.install("stopped", "bad")
	w.config(b.String())
	h := w.start()
	for _, task := range []string{"good", "beats", "stopped"} {
		w.some(task, 1, ax.StatusSuccess)
	}
	from := time.Now() // their plugins have been started
	stopped := w.plugin("stopped").PID
	w.must(syscall.Kill(stopped, syscall.SIGSTOP))
	for _, f := range faults() {
		if f.parked != nil {
			w.parked(f.plugin, f.parked...)
		}
		if f.status != "" {
			w.failed(f)
		}
	}
	w.some("good", 15, ax.StatusSuccess)
	w.onTime(from, "good", "beats")
	w.told(s, faults())
	h.small("with bad plugins")
	// The stopped process is found, killed and replaced.
	eventually(t, 2*patience, func() error {
		if pid := w.plugin("stopped").PID; pid == stopped || pid == 0 {
			return fmt.Errorf("the stopped process, %d, has not been replaced", stopped)
		}
		return nil
	})
	w.onTime(from, "good", "beats")
	h.stop()
}

// failed waits for an instance as a fault describes it.
func (w *world) failed(f fault) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		rows := w.rows("task_name = ? AND status NOT IN ('RUNNING', 'DISPATCHED')", f.plugin)
		for _, r := range rows {
			if r.Status == f.status && containsAll(r.Error, f.texts) {
				return nil
			}
		}
		return fmt.Errorf("%s has no instance that is %s with %q: %+v", f.plugin, f.status, f.texts, rows)
	})
}

// onTime checks that good tasks have a row for each due time, and that those
// since an instant ran, and ran at once.
func (w *world) onTime(since time.Time, tasks ...string) {
	w.t.Helper()
	for _, task := range tasks {
		var worst time.Duration
		rows := w.of(task)
		for i, r := range rows {
			if i > 0 && r.ScheduledAt.Sub(rows[i-1].ScheduledAt) != time.Second {
				w.t.Errorf("%s: %s follows %s", task, r.ScheduledAt, rows[i-1].ScheduledAt)
			}
			if r.ScheduledAt.Before(since) {
				continue
			}
			if r.Status != ax.StatusSuccess && r.Status != ax.StatusRunning {
				w.t.Errorf("%s of %s is %s: %s %s", task, r.ScheduledAt, r.Status, r.Reason, r.Error)
			}
			worst = max(worst, r.late())
		}
		if worst > time.Second {
			w.t.Errorf("%s started up to %s late", task, worst)
		}
		w.t.Logf("%s: %d due times, at most %s late", task, len(rows), worst)
	}
}

// told waits until people were told of all faults.
func (w *world) told(s *service, faults []fault) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		events := map[string]string{}
		for _, r := range s.requests("/alerts") {
			var msg pluginapi.Message
			w.must(json.Unmarshal([]byte(r.body), &msg))
			events[msg.Task] += msg.Event + " "
		}
		for _, f := range faults {
			if events[f.plugin] == "" {
				return fmt.Errorf("nobody was told of %s; told were %v", f.plugin, events)
			}
		}
		if told := events["good"] + events["beats"]; told != "" {
			w.t.Fatalf("people were told that good tasks are %s", told)
		}
		return nil
	})
}

// memory returns how much memory the host has in use.
func (h *host) memory() int {
	h.w.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.cmd.Process.Pid))
	h.w.must(err)
	for line := range bytes.Lines(status) {
		if text, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, err := strconv.Atoi(string(bytes.Fields(text)[0]))
			h.w.must(err)
			return kib << 10
		}
	}
	h.w.t.Fatal("the system does not tell how much memory a process uses")
	return 0
}
