package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/preview"
)

// planOf runs "ax plan" with arguments, which must end with an exit code.
func (w *world) planOf(code int, args ...string) preview.Plan {
	w.t.Helper()
	r := w.ax(append([]string{"plan", "-o", "json"}, args...)...)
	var plan preview.Plan
	if err := json.Unmarshal([]byte(r.out), &plan); err != nil || r.code != code {
		w.t.Fatalf("ax plan %v: exit code %d, %v: %s%s", args, r.code, err, r.out, r.err)
	}
	return plan
}

// A plan tells what a file would change, and changes nothing; apply is refused
// for a file that the host does not read.
func TestPlanAndApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "worker", "random")
	const body = `calendars: {work: {weekly: MON-FRI, closed: [HOLIDAY]}}
tasks:
- {name: a, every: EVERY, job: {use: work, with: {until: TEXT}}, params: {x: 1}}
- {name: days, cron: "0 0 9 * * ?", calendar: work, job: {use: work}}
- {name: drawn, trigger: {use: random, with: {from: "01:00", to: "05:00"}}, job: {use: work}}
`
	text := func(holiday, every, text string) string {
		return strings.NewReplacer("HOLIDAY", holiday, "EVERY", every, "TEXT", text).Replace(body)
	}
	w.config(text("2020-01-01", "1h", "one"))
	h := w.start()
	w.planOf(0)
	w.planOf(0, "-c", "ax.yaml")

	// The same in another file, then with changes.
	w.write("new.yaml", w.read("ax.yaml"))
	w.planOf(0, "-c", "new.yaml")
	changed := strings.Replace(w.read("ax.yaml"), "2020-01-01", "yearly 01-01\", \"monthly 15", 1)
	changed = strings.NewReplacer("[yearly", "[\"yearly", "15]", "15\"]", "1h", "2h", "one", "two").Replace(changed)
	w.write("new.yaml", changed+"- {name: b, every: 1h, job: {use: work}}\n")
	plan := w.planOf(7, "-c", "new.yaml")
	if len(plan.Added) != 1 || len(plan.Changed) != 2 || len(plan.Removed) != 0 || plan.Unchanged != 1 {
		t.Fatalf("%+v", plan)
	}
	fields := plan.Changed[0].Fields
	if len(fields) != 2 || fields[0] != (preview.Field{Field: "every", Before: "1h", After: "2h"}) || fields[1].Field != "job.with" {
		t.Errorf("%+v", fields)
	}
	days := plan.Changed[1]
	if days.Task != "days" || days.Fields[0].Field != "days of calendar work" || days.MovesTotal < 1 || days.MovesTotal > 5 {
		t.Errorf("%+v", days)
	}
	if got := w.tasks(); len(got) != 3 || got["a"].Schedule.Every != "1h0m0s" {
		t.Errorf("the plan was put in force: %+v", got)
	}
	if r := w.ax("apply", "-c", "new.yaml"); r.code != 6 || !strings.Contains(r.err, "ax.yaml") {
		t.Errorf("ax apply of another file: exit code %d, %s", r.code, r.err)
	}
	w.write("ax.yaml", w.read("new.yaml"))
	if r := w.ax("apply", "-c", "ax.yaml"); r.code != 0 || !strings.Contains(r.out, "put in force") {
		t.Errorf("ax apply: exit code %d, %s%s", r.code, r.out, r.err)
	}
	w.planOf(0)
	if got := w.tasks(); len(got) != 4 {
		t.Errorf("%d tasks after apply", len(got))
	}
	w.write("new.yaml", strings.Replace(w.read("ax.yaml"), "app: e2e", "app: other", 1))
	if r := w.ax("plan", "-c", "new.yaml"); r.code != 6 || !strings.Contains(r.err, "other") {
		t.Errorf("plan of another app: exit code %d, %s", r.code, r.err)
	}
	h.stop()
}
