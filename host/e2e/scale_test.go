package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// manyTasks is a configuration with n tasks of all sorts of schedules that are
// hardly ever due, and one that is due every second.
func manyTasks(n int) string {
	var b strings.Builder
	b.WriteString("tasks:\n- {name: due, every: 1s, job: {use: work}}\n")
	for i := range n - 1 {
		schedule := fmt.Sprintf(`cron: "0 %d %d %d * ?"`, i%60, i/60%24, 1+i%28)
		if i%4 == 0 {
			schedule = fmt.Sprintf("every: %dh", 24+i%1000)
		}
		fmt.Fprintf(&b, "- name: task-%05d\n  %s\n  timezone: Asia/Shanghai\n  timeout: 1m\n  retry: {count: 3, delay: 1m}\n"+
			"  job: {use: work, with: {takes: 1s}}\n  params: {day: '{{ date \"2006-01-02\" .ScheduledAt }}', number: %d}\n", i, schedule, i)
	}
	return b.String()
}

// A host with 10,000 tasks starts, works and stays small. How fast it starts is
// measured by bench/load.
func TestTenThousandTasks(t *testing.T) {
	t.Parallel()
	const n = 10_000
	w := newWorld(t, "worker")
	w.config(manyTasks(n))
	begin := time.Now()
	h := w.start()
	t.Logf("started after %s", time.Since(begin).Round(time.Millisecond))
	w.some("due", 5, ax.StatusSuccess)
	h.small("after the start")
	if got := len(w.tasks()); got != n {
		t.Errorf("%d tasks, want %d", got, n)
	}
	// What is there already is only compared at the next start, and at a reload.
	h.stop()
	begin = time.Now()
	h = w.start()
	t.Logf("started again after %s", time.Since(begin).Round(time.Millisecond))
	w.config(strings.Replace(manyTasks(n), "timeout: 1m", "timeout: 2m", 1))
	h.logs("configuration reloaded", "added=0", "changed=1", "unchanged=9999")
	w.axOK("reload")
	h.small("after two reloads")
	h.stop()
}

// small checks that the host uses little memory.
func (h *host) small(when string) {
	h.w.t.Helper()
	const most = 200
	used := h.memory() >> 20
	h.w.t.Logf("%s the host uses %d MiB", when, used)
	if used > most {
		h.w.t.Errorf("%s the host uses %d MiB, more than %d", when, used, most)
	}
}
