// Command load measures how long a host takes to start with 10,000 tasks in
// YAML, with an empty database and again with what the first start left there,
// how long it then takes to read them again, and how much memory that needs.
//
//	go run ./bench/load
//
// The exit code is 1 if a budget is exceeded. The one for memory holds at every
// moment, also while the host reads its configuration.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/axsched/ax/bench/internal/rig"
)

var (
	count  = flag.Int("n", 10_000, "number of tasks")
	budget = flag.Duration("budget", 2*time.Second, "longest start, and longest reload")
	memory = flag.Int("memory", 200, "most memory in MiB")
	rest   = flag.Duration("rest", 2*time.Second, "pause before memory at rest is read")
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
	if err := r.Configure(tasks(*count, "1m")); err != nil {
		return false, err
	}
	first, err := r.Start(ctx)
	if err != nil {
		return false, err
	}
	if ok, err = report("first start", first, first.Took); err != nil {
		return false, err
	}
	if err := first.Stop(); err != nil {
		return false, err
	}
	second, err := r.Start(ctx)
	if err != nil {
		return false, err
	}
	good, err := report("second start", second, second.Took)
	if err != nil {
		return false, err
	}
	reloaded, err := reloads(ctx, r, second)
	if err != nil {
		return false, err
	}
	return ok && good && reloaded, second.Stop()
}

// reloads lets the host read its tasks again, as they were and all changed.
func reloads(ctx context.Context, r *rig.Rig, h *rig.Host) (ok bool, err error) {
	ok = true
	for _, phase := range []struct{ name, timeout string }{
		{"reload, nothing changed", "1m"}, {"reload, all tasks changed", "2m"}, {"and changed back", "1m"},
	} {
		if err := r.Configure(tasks(*count, phase.timeout)); err != nil {
			return false, err
		}
		begin := time.Now()
		if err := reload(ctx, r); err != nil {
			return false, err
		}
		good, err := report(phase.name, h, time.Since(begin))
		if err != nil {
			return false, err
		}
		ok = ok && good
	}
	return ok, nil
}

func reload(ctx context.Context, r *rig.Rig) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.Addr+"/api/v1/reload", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("reload: %s", response.Status)
	}
	return nil
}

// report prints what one phase took, and the memory after it, when the host is
// at rest, and at most since its start.
func report(phase string, h *rig.Host, took time.Duration) (ok bool, err error) {
	time.Sleep(*rest)
	now, most, err := h.Memory()
	if err != nil {
		return false, err
	}
	ok = took <= *budget && most>>20 <= *memory
	verdict := "ok"
	if !ok {
		verdict = fmt.Sprintf("over the budget of %s and %d MiB", *budget, *memory)
	}
	fmt.Printf("%d tasks, %s: %v, %d MiB (at most %d)  %s\n", *count, phase, took.Round(time.Millisecond), now>>20, most>>20, verdict)
	return ok, nil
}

// tasks makes n tasks of the usual sorts that are hardly ever due.
func tasks(n int, timeout string) string {
	var b strings.Builder
	b.WriteString("defaults: {timezone: Asia/Shanghai}\ntasks:\n")
	for i := range n {
		schedule := fmt.Sprintf(`cron: "0 %d %d %d * ?"`, i%60, i/60%24, 1+i%28)
		if i%4 == 0 {
			schedule = fmt.Sprintf("every: %dh", 24+i%1000)
		}
		fmt.Fprintf(&b, "- name: task-%05d\n  %s\n  timeout: %s\n  retry: {count: 3, delay: 1m}\n"+
			"  job: {use: noop}\n  params: {day: '{{ date \"2006-01-02\" .ScheduledAt }}', number: %d}\n", i, schedule, timeout, i)
	}
	return b.String()
}
