package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/why"
)

// Past due times run once each, with their own due time, of a cron expression and
// of a plugin's trigger, oldest first; nothing runs a second time.
func TestBackfill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec", "worker")
	w.config(`
defaults: {retry: 0, grace: 1s, timezone: UTC}
executor: {grace: 2s}
tasks:
- {name: report, cron: "0 0 * * * ?", concurrency: 4, job: {use: exec, with: {shell: "echo $AX_SCHEDULED_AT >> ` + w.path("journal") + `"}}}
- {name: beats, trigger: {use: beat, with: {every: 1h}}, job: {use: work}}
- {name: often, every: 1s, enabled: false, job: {use: work}}
- {name: slow, cron: "0 0 * * * ?", job: {use: work, with: {takes: 10m}}}
`)
	h := w.start()
	defer h.stop()
	day := []string{"--from", "2025-01-01T00:00:00Z", "--to", "2025-01-02T00:00:00Z"}
	plan := axJSON[api.BackfillPlan](w, append([]string{"backfill", "report", "--dry-run"}, day...)...)
	midnight := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	if plan.Due != 24 || plan.New != 24 || len(plan.Times) != 24 || !plan.Times[0].At.Equal(midnight) {
		t.Errorf("dry run: %+v", plan)
	}
	if rows := w.of("report"); len(rows) != 0 {
		t.Errorf("after a dry run: %+v", rows)
	}
	for task, more := range map[string][]string{"report": {"--limit", "3"}, "beats": nil} {
		out := w.axOK(slices.Concat([]string{"backfill", task}, day, more)...)
		if !strings.Contains(out, "24 to run, 0 passed over") || !strings.Contains(out, "24 of 24 done\n") {
			t.Errorf("%s: %s", task, out)
		}
		rows := w.of(task)
		for i, r := range rows {
			if want := midnight.Add(time.Duration(i) * time.Hour); r.Kind != ax.KindBackfill || r.Status != ax.StatusSuccess || !r.ScheduledAt.Equal(want) {
				t.Errorf("%s: row %d is %+v, want due %s", task, i, r, want)
			}
		}
		if out := w.axOK(append([]string{"backfill", task}, day...)...); len(rows) != 24 || !strings.Contains(out, "0 to run, 24 passed over") {
			t.Errorf("%s: %d rows; again: %s", task, len(rows), out)
		}
	}
	lines := w.lines("journal")
	slices.Sort(lines)
	if len(slices.Compact(lines)) != 24 || lines[0] != "2025-01-01T00:00:00Z" || lines[23] != "2025-01-01T23:00:00Z" {
		t.Errorf("what ran: %q", lines)
	}
	if r := w.ax(append([]string{"backfill", "often", "--again"}, "--from", "2025-01-01T00:00:00Z")...); r.code != 2 || !strings.Contains(r.err, "choose a shorter span") {
		t.Errorf("too many: %+v", r)
	}
	w.interruptBackfill("slow", day)
	canceled := axJSON[api.BackfillCanceled](w, "backfill", "slow", "--cancel")
	if canceled.Canceled != 23 || canceled.Running != 1 {
		t.Errorf("canceled: %+v", canceled)
	}
	if p := axJSON[api.BackfillProgress](w, "backfill", "slow"); p.Total != 24 || p.Canceled != 23 || p.Done {
		t.Errorf("after the cancel: %+v", p)
	}
}

// interruptBackfill starts a backfill and interrupts the command once it shows
// the progress.
func (w *world) interruptBackfill(task string, span []string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), filepath.Join(suite.bin, "ax"), append([]string{"backfill", task}, span...)...)
	cmd.Env = append(os.Environ(), "AX_ADDR=http://"+w.addr)
	errs, err := cmd.StderrPipe()
	w.must(err)
	w.must(cmd.Start())
	var text strings.Builder
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		if text.Len() == 0 {
			w.must(cmd.Process.Signal(os.Interrupt))
		}
		text.WriteString(lines.Text() + "\n")
	}
	_ = cmd.Wait() // it ends with a code
	if code := cmd.ProcessState.ExitCode(); code != 130 || !containsAll(text.String(), []string{"0 of 24 done", "goes on in the host", "--cancel"}) {
		w.t.Errorf("interrupted: exit code %d, %s", code, text.String())
	}
}

// why asks about a due time of a task until the answer is the expected one, and
// returns it.
func (w *world) why(task string, at time.Time, code why.Code, texts ...string) (a why.Answer) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		answers := axJSON[api.WhyView](w, "why", task, "--at", at.Format(time.RFC3339Nano)).Answers
		if a = answers[0]; a.Code != code || !containsAll(a.Summary, texts) {
			return fmt.Errorf("why %s --at %s: %s, %s; want %s with %q", task, at, a.Code, a.Summary, code, texts)
		}
		return nil
	})
	return a
}

func steps(a why.Answer) string {
	var all []string
	for _, l := range a.Chain {
		all = append(all, string(l.Step))
	}
	return strings.Join(all, " ")
}

// For each thing that can become of a due time "ax why" says what it was.
func TestWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec", "worker")
	w.config(`
defaults: {retry: 0, grace: 1s, timezone: UTC}
executor: {grace: 2s}
calendars:
  office: {weekly: MON-FRI, closed: [{days: 2025-01-01, name: New Year}]}
tasks:
- {name: second, every: 1s, misfire: {policy: skip, threshold: 1s}, job: {use: work}}
- {name: pausable, every: 1s, job: {use: work}}
- {name: long, every: 1s, job: {use: work, with: {takes: 10m}}}
- {name: failing, every: 1s, job: {use: exec, with: {shell: "echo no space >&2; exit 3"}}}
- {name: orphan, every: 1s, job: {use: nowhere}}
- {name: daily, cron: "0 0 2 * * ?", calendar: office, blackout: [{time: "01:00-03:00", weekdays: [THU]}], job: {use: work}}
`)
	h := w.start()
	ran := w.some("second", 1, ax.StatusSuccess)[0]
	if a := w.why("second", ran.ScheduledAt, why.Succeeded, "It ran on "+w.node); steps(a) != "schedule noticed claimed outcome" || !a.Due {
		t.Errorf("succeeded: %+v", a)
	}
	w.why("failing", w.some("failing", 1, ax.StatusFailed)[0].ScheduledAt, why.Failed, "exit status 3", "no space")
	runs := w.some("long", 1, ax.StatusRunning)[0]
	w.why("long", runs.ScheduledAt, why.Running)
	skipped := w.some("long", 1, ax.StatusSkipped)[0]
	if a := w.why("long", skipped.ScheduledAt, why.Skipped, fmt.Sprintf("held up by instance %d", runs.ID)); steps(a) != "schedule held skipped" {
		t.Errorf("skipped: %+v", a)
	}
	w.parked("orphan", "nowhere")
	for _, a := range axJSON[api.WhyView](w, "why", "orphan").Answers {
		if a.Code != why.Parked || !strings.Contains(a.Summary, "nowhere") || !strings.Contains(steps(a), "park") {
			t.Errorf("parked: %+v", a)
		}
	}
	date := func(text string) time.Time { at, err := time.Parse(time.DateTime, text); w.must(err); return at }
	w.why("daily", date("2025-01-01 02:00:00"), why.Closed, "2025-01-01 is closed in office: New Year")
	w.why("daily", date("2025-01-02 02:00:00"), why.Blackout, "01:00-03:00 Thu")
	w.why("daily", date("2025-01-03 12:00:00"), why.NotDue, "before that at 2025-01-03 02:00:00", "after it at 2025-01-06 02:00:00")
	w.why("daily", date("2025-01-03 02:00:00"), why.Absent, "made by config")
	if r := w.ax("why", "secnd"); r.code != 4 || !strings.Contains(r.err, `did you mean "second"?`) {
		t.Errorf("unknown task: %+v", r)
	}

	w.axOK("pause", "pausable")
	inPause := time.Now().Truncate(time.Second).Add(time.Second)
	w.why("pausable", inPause, why.Paused, "It will not run", "paused by")
	w.why("pausable", inPause, why.Paused, "The schedule of the task was paused by") // it is past
	w.axOK("resume", "pausable")
	w.why("pausable", inPause, why.Paused, "resumed by")

	h.stop()
	down := time.Now().Truncate(time.Second).Add(time.Second)
	eventually(t, patience, func() error {
		if late := time.Since(down); late < 3*time.Second {
			return fmt.Errorf("the due time is only %s late", late)
		}
		return nil
	})
	h = w.start()
	defer h.stop()
	a := w.why("second", down, why.Missed, "No host ran then: "+w.node+" was started at", "misfire policy is skip")
	if !strings.Contains(steps(a), "host") {
		t.Errorf("missed: %+v", a)
	}
	if list := w.axOK("instances", "--task", "second", "--status", "missed"); !strings.Contains(list, " until 20") {
		t.Errorf("the list of instances does not say how many were missed:\n%s", list)
	}
}
