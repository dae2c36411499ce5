// Command load measures how long a host takes to start with 10,000 tasks in
// YAML, with an empty database and again with what the first start left there,
// and how much memory it uses.
//
//	go run ./bench/load
//
// The exit code is 1 if a budget is exceeded.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/axsched/ax/bench/internal/rig"
)

var (
	count  = flag.Int("n", 10_000, "number of tasks")
	budget = flag.Duration("budget", 2*time.Second, "longest start")
	memory = flag.Int("memory", 200, "most memory in MiB")
)

func main() {
	flag.Parse()
	ok, err := measure(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func measure(ctx context.Context) (ok bool, err error) {
	r, err := rig.New(ctx)
	if err != nil {
		return false, err
	}
	defer r.Close()
	if err := r.Configure(tasks(*count)); err != nil {
		return false, err
	}
	ok = true
	for _, name := range []string{"first start", "second start"} {
		h, err := r.Start(ctx)
		if err != nil {
			return false, err
		}
		time.Sleep(2 * time.Second) // memory after the start, when the host is at rest
		now, most, err := h.Memory()
		if err != nil {
			return false, err
		}
		if err := h.Stop(); err != nil {
			return false, err
		}
		good := h.Took <= *budget && now>>20 <= *memory
		verdict := "ok"
		if !good {
			verdict = fmt.Sprintf("over the budget of %s and %d MiB", *budget, *memory)
		}
		fmt.Printf("%d tasks, %s: %v, %d MiB (at most %d)  %s\n", *count, name, h.Took.Round(time.Millisecond), now>>20, most>>20, verdict)
		ok = ok && good
	}
	return ok, nil
}

// tasks makes n tasks of the usual sorts that are hardly ever due.
func tasks(n int) string {
	var b strings.Builder
	b.WriteString("defaults: {timezone: Asia/Shanghai}\ntasks:\n")
	for i := range n {
		schedule := fmt.Sprintf(`cron: "0 %d %d %d * ?"`, i%60, i/60%24, 1+i%28)
		if i%4 == 0 {
			schedule = fmt.Sprintf("every: %dh", 24+i%1000)
		}
		fmt.Fprintf(&b, "- name: task-%05d\n  %s\n  timeout: 1m\n  retry: {count: 3, delay: 1m}\n"+
			"  job: {use: noop}\n  params: {day: '{{ date \"2006-01-02\" .ScheduledAt }}', number: %d}\n", i, schedule, i)
	}
	return b.String()
}
