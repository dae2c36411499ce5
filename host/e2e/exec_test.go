package e2e

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

func TestExecOutcomes(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := newWorld(t, "exec", "webhook")
	w.config(`
notifiers: {hook: {use: webhook, with: {url: ` + s.URL + `/alerts}}}
defaults: {notify: [hook]}
tasks:
- name: good
  at: "2099-01-01"
  job: {use: exec, with: {shell: "echo working; echo '::ax-result {\"rows\": 1204}'"}}
- name: third-time
  at: "2099-01-01"
  retry: {count: 2, delay: 100ms}
  job: {use: exec, with: {shell: "echo attempt $AX_ATTEMPT; [ $AX_ATTEMPT -ge 3 ]"}}
- name: never
  at: "2099-01-01"
  retry: {count: 1, delay: 100ms}
  job: {use: exec, with: {shell: "echo no such table >&2; exit 4"}}
- name: forever
  at: "2099-01-01"
  timeout: 1s
  retry: 0
  job: {use: exec, with: {shell: "sleep 600 & (trap '' TERM; sleep 600; :) & sleep 600", kill_after: 200ms}}
- name: absent
  at: "2099-01-01"
  retry: 5
  job: {use: exec, with: {command: [no-such-program]}}
`)
	h := w.start()
	defer h.stop()

	good := w.instance(w.run("good"), ax.StatusSuccess, ax.StatusFailed)
	if good.Status != ax.StatusSuccess || !strings.Contains(good.Data, `"rows":1204`) || !strings.Contains(good.Data, `"exit_code":0`) {
		t.Errorf("good: %+v", good)
	}
	id := w.run("third-time")
	if r := w.instance(id, ax.StatusSuccess, ax.StatusFailed); r.Status != ax.StatusSuccess || r.Attempt != 3 {
		t.Errorf("third-time is %s in attempt %d: %s", r.Status, r.Attempt, r.Error)
	}
	if got := w.texts(id, ax.StageOutput); got != "attempt 1\nattempt 2\nattempt 3" {
		t.Errorf("third-time: output %q", got)
	}
	if got := strings.Count(w.texts(id, ax.StageRetryScheduled), "follows in 100ms"); got != 2 {
		t.Errorf("third-time: %d retries were planned, want 2", got)
	}
	never := w.instance(w.run("never"), ax.StatusSuccess, ax.StatusFailed)
	if never.Status != ax.StatusFailed || never.Attempt != 2 || !containsAll(never.Error, []string{"exit status 4", "no such table"}) {
		t.Errorf("never: %+v", never)
	}
	told := s.awaited(w, "/alerts", 1)[0].body
	if !containsAll(told, []string{`"event":"failed"`, `"task":"never"`, "no such table"}) {
		t.Errorf("people were told %s", told)
	}
	absent := w.instance(w.run("absent"), ax.StatusSuccess, ax.StatusFailed)
	if absent.Status != ax.StatusFailed || absent.Attempt != 1 || !strings.Contains(absent.Error, "no-such-program") {
		t.Errorf("absent: %+v", absent)
	}
	forever := w.instance(w.run("forever"), ax.StatusTimeout, ax.StatusSuccess, ax.StatusFailed)
	if took := forever.EndedAt.Sub(forever.StartedAt); forever.Status != ax.StatusTimeout || took > 5*time.Second {
		t.Errorf("forever is %s after %s: %s", forever.Status, took, forever.Error)
	}
	for _, p := range w.processes() {
		if strings.Contains(p.command, "sleep 600") {
			t.Errorf("after the timeout there is still %s", p)
		}
	}
}

// Output can be seen while the job still runs, and following ends with it.
func TestFollowLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config(`
tasks:
- name: talk
  at: "2099-01-01"
  job: {use: exec, with: {shell: "echo first; while ! [ -e ` + w.path("go") + ` ]; do sleep 0.05; done; echo second"}}
`)
	h := w.start()
	defer h.stop()
	id := w.run("talk")
	w.instance(id, ax.StatusRunning)
	follow := exec.CommandContext(t.Context(), filepath.Join(suite.bin, "ax"), "logs", "-f", id, "--addr", "http://"+w.addr)
	out, err := follow.StdoutPipe()
	w.must(err)
	w.must(follow.Start())
	lines := bufio.NewScanner(out)
	heard := func(text string) bool {
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return true
			}
		}
		return false
	}
	if !heard("first") {
		t.Fatal("the first line did not come while the job ran")
	}
	if r := w.instance(id, ax.StatusRunning); !r.EndedAt.Equal(time.UnixMicro(0)) {
		t.Errorf("the job has ended at %s", r.EndedAt)
	}
	w.write("go", "")
	if !heard("second") || !heard("SUCCESS") {
		t.Error("the rest of the log did not come")
	}
	w.must(follow.Wait())
}

// Parameters are made when the task is due, from the due time in its zone.
func TestParamsOfTheDueTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec")
	w.config(`
tasks:
- name: report
  every: 1s
  timezone: Pacific/Kiritimati
  overlap: allow
  job: {use: exec, with: {command: [echo, "report of ${params.day} for ${params.who}"]}}
  params:
    day: '{{ date "2006-01-02" (addDays -1 .ScheduledAt) }}'
    who: '{{ .Task }}'
`)
	h := w.start()
	defer h.stop()
	r := w.some("report", 1, ax.StatusSuccess)[0]
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	w.must(err)
	day := r.ScheduledAt.In(zone).AddDate(0, 0, -1).Format("2006-01-02")
	if want := "report of " + day + " for report"; r.Message != want {
		t.Errorf("the job said %q, want %q", r.Message, want)
	}
	if want := `{"day":"` + day + `","who":"report"}`; r.Params != want {
		t.Errorf("the row has the parameters %s, want %s", r.Params, want)
	}
	manual := axJSON[api.RunStarted](w, "run", "report", "--param", "who=me", "--force").Instance
	if r := w.instance(manual, ax.StatusSuccess); !strings.HasSuffix(r.Message, " for me") {
		t.Errorf("a run by hand said %q", r.Message)
	}
}
