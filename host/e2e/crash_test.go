package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// kills is how often TestKilledAtAnyMoment kills the host.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("AX_E2E_KILLS")
	if text == "" {
		return 8
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("AX_E2E_KILLS: %v", err)
	}
	return n
}

// crashTasks is how many tasks are due every second while the host is killed.
const crashTasks = 20

// crashConfig makes tasks of all sorts.
func crashConfig(w *world, random *rand.Rand) string {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	var b strings.Builder
	b.WriteString("executor: {workers: 24}\ntasks:\n")
	for i := range crashTasks {
		takes := random.IntN(3001) * random.IntN(2) // half of them take no time
		fmt.Fprintf(&b, "- name: t%02d\n", i)
		fmt.Fprintf(&b, "  %s\n", pick(`every: 1s`, `cron: "* * * * * ?"`, `trigger: {use: beat, with: {every: 1s}}`))
		fmt.Fprintf(&b, "  retry: %s\n", pick("0", "{count: 1, delay: 200ms}", "{delays: [100ms, 1s]}"))
		fmt.Fprintf(&b, "  overlap: %s\n", pick("skip", "queue\n  queue_limit: 2", "allow", "defer", "replace"))
		fmt.Fprintf(&b, "  misfire: %s\n", pick("skip", "{policy: skip, threshold: 1s}", "{policy: once, threshold: 1s}", "{policy: all, threshold: 1s, cap: 3}"))
		if i%2 == 0 {
			fmt.Fprintf(&b, "  job: {use: work, with: {journal: %q, takes: %dms, fails: %d}}\n", w.path("journal"), takes, random.IntN(2))
		} else {
			fmt.Fprintf(&b, "  job: {use: exec, with: {shell: %q}}\n", crashScript(w.path("journal"), takes, random.IntN(2)))
		}
	}
	return b.String()
}

// crashScript is the job of the worker as a shell script: its signs of life
// come from a child.
func crashScript(journal string, takes, fails int) string {
	return fmt.Sprintf(`note() { echo "$1 $AX_TASK $AX_INSTANCE_ID $AX_ATTEMPT $AX_FENCE" >> %s; }
note begin
(for i in $(seq %d); do sleep 0.05; note beat; done)
if [ $AX_ATTEMPT -le %d ]; then note failed; exit 1; fi
note end`, journal, takes/50, fails)
}

// A host that is killed at any moment and started again accounts for every due
// time exactly once, leaves nothing behind that runs, and starts no attempt
// twice or beside another one.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	w := newWorld(t, "exec", "worker")
	w.config(crashConfig(w, random))
	for range kills(t) {
		h := w.launch()
		select {
		case <-h.exited:
			t.Fatalf("the host ended by itself: %s", h.cmd.ProcessState)
		case <-time.After(time.Duration(50+random.IntN(2500)) * time.Millisecond):
		}
		if some := w.processes(); len(some) > 0 && random.IntN(3) == 0 {
			some[random.IntN(len(some))].kill() // a plugin, its guard or a command
		}
		h.kill()
		w.gone(w.processes(), 3*time.Second)
	}
	restart := time.Now()
	h := w.start()
	eventually(t, patience, func() error {
		if len(w.rows("status = 'SUCCESS' AND started_at > ?", restart.UnixMicro())) == 0 {
			return errors.New("nothing has run after the last start")
		}
		return nil
	})
	w.settle()
	h.stop()
	w.integrity()
	w.everyDueTimeOnce(restart)
	w.noAttemptTwice()
	t.Logf("%d instances, %d lines of journal", len(w.rows("1 = 1")), len(w.lines("journal")))
}

// settle pauses all tasks and waits until what they have begun has ended.
func (w *world) settle() {
	w.t.Helper()
	for task := range w.tasks() {
		w.axOK("pause", task)
	}
	eventually(w.t, 2*patience, func() error {
		// What is put off to the next due time waits for the end of the pause.
		if left := w.rows(`status IN ('TRIGGERED', 'DISPATCHED', 'RUNNING', 'RETRYING')
			AND NOT (status = 'TRIGGERED' AND reason LIKE '%(defer)')`); len(left) > 0 {
			return fmt.Errorf("%d instances have not ended, such as %+v", len(left), left[0])
		}
		return nil
	})
}

// everyDueTimeOnce holds the rows of all tasks against their due times, which
// are all seconds from the first row to the next due time. That may lag behind
// the last start by what a task may still make up for.
func (w *world) everyDueTimeOnce(lastStart time.Time) {
	w.t.Helper()
	next := w.nextTimes()
	if len(next) == 0 {
		w.t.Fatal("there are no tasks in the database")
	}
	for task, until := range next {
		if until.Before(lastStart.Add(-5 * time.Second)) {
			w.t.Errorf("task %s: its next due time, %s, is long before the last start at %s", task, until, lastStart)
		}
		rows := w.of(task)
		if len(rows) == 0 {
			w.t.Errorf("task %s has no instance", task)
			continue
		}
		due := rows[0].ScheduledAt
		for _, r := range rows {
			if !r.ScheduledAt.Equal(due) || r.Kind != ax.KindScheduled {
				w.t.Errorf("task %s: %s instance for %s, want one for %s", task, r.Kind, r.ScheduledAt, due)
			}
			last := r.ScheduledAt
			if r.Status == ax.StatusMissed {
				last = r.MissedUntil
				if covers := int(last.Sub(r.ScheduledAt)/time.Second) + 1; r.Missed != covers {
					w.t.Errorf("task %s: the MISSED row for %s says %d due times, it covers %d", task, r.ScheduledAt, r.Missed, covers)
				}
			}
			due = last.Add(time.Second)
		}
		if !due.Equal(until) {
			w.t.Errorf("task %s: its rows end before %s, its next due time is %s", task, due, until)
		}
	}
}

// nextTimes returns the next due time of each task.
func (w *world) nextTimes() map[string]time.Time {
	w.t.Helper()
	db := w.database()
	defer db.Close()
	found, err := db.QueryContext(w.t.Context(), "SELECT name, next_at FROM ax_task")
	w.must(err)
	defer found.Close()
	next := map[string]time.Time{}
	for found.Next() {
		var name string
		var at int64
		w.must(found.Scan(&name, &at))
		next[name] = time.UnixMicro(at)
	}
	w.must(found.Err())
	return next
}

// noAttemptTwice reads the journal: each attempt begins once, and shows no sign
// of life after a later attempt of its instance has begun.
func (w *world) noAttemptTwice() {
	w.t.Helper()
	begun := map[string]bool{}
	fences := map[string]int64{} // by instance, of the newest attempt
	for i, line := range w.lines("journal") {
		var what, task, instance string
		var attempt int
		var fence int64
		if _, err := fmt.Sscan(line, &what, &task, &instance, &attempt, &fence); err != nil {
			w.t.Errorf("line %d of the journal, %q: %v", i+1, line, err)
			continue
		}
		if what == "begin" {
			if key := fmt.Sprint(instance, attempt, fence); begun[key] {
				w.t.Errorf("attempt %d of instance %s of %s began twice with fence %d", attempt, instance, task, fence)
			} else {
				begun[key] = true
			}
			if fence <= fences[instance] {
				w.t.Errorf("attempt %d of instance %s has fence %d after %d", attempt, instance, fence, fences[instance])
			}
			fences[instance] = fence
		}
		if fence < fences[instance] {
			w.t.Errorf("attempt %d of instance %s says %q after a later one has begun", attempt, instance, what)
		}
	}
}
