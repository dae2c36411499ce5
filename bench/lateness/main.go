// Command lateness measures how late jobs start: 100 due times a second for 20
// seconds, with a job that does nothing in a real plugin process and SQLite as
// the database, first spread over the second, then all at the same instant.
//
//	go run ./bench/lateness
//
// Two things are measured, both against the due time: when the attempt was
// claimed (started_at in the database), and when the job itself began, with the
// commit of the claim and the call of the plugin before it. The exit code is 1
// if the 99th percentile of either is over the budget. Bursts share the workers,
// so only -burst holds them to the budget too.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/axsched/ax/bench/internal/rig"
)

var (
	perSecond = flag.Int("n", 100, "due times a second")
	length    = flag.Duration("for", 20*time.Second, "how long to measure")
	workers   = flag.Int("workers", 0, "runs at once, 0 for the host's default")
	burst     = flag.Bool("burst", false, "hold the second measurement to the budget too")
	budget    = flag.Duration("budget", 10*time.Millisecond, "largest 99th percentile")
)

func main() {
	flag.Parse()
	good := true
	for _, spread := range []bool{true, false} {
		ok, err := measure(context.Background(), spread)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		good = good && (ok || !spread && !*burst)
	}
	if !good {
		os.Exit(1)
	}
}

// measure runs a host and prints what its database holds afterwards.
func measure(ctx context.Context, spread bool) (ok bool, err error) {
	r, err := rig.New(ctx)
	if err != nil {
		return false, err
	}
	defer r.Close()
	if err := r.Configure(tasks(*perSecond, spread)); err != nil {
		return false, err
	}
	h, err := r.Start(ctx)
	if err != nil {
		return false, err
	}
	// The first seconds are those in which the plugin starts.
	from := time.Now().Add(3 * time.Second).Truncate(time.Second)
	time.Sleep(time.Until(from.Add(*length)))
	if err := h.Stop(); err != nil {
		return false, err
	}
	claimed, began, err := read(ctx, r.Database(), from, from.Add(*length))
	if err != nil {
		return false, err
	}
	if want := *perSecond * int(length.Seconds()); len(began) != want {
		return false, fmt.Errorf("%d of %d due times ran", len(began), want)
	}
	name := fmt.Sprintf("%d due times/s, all at once", *perSecond)
	if spread {
		name = fmt.Sprintf("%d due times/s, spread", *perSecond)
	}
	ok = show(name+": claimed", claimed)
	return show(name+": job began", began) && ok, nil
}

// tasks makes n tasks that are due once a second.
func tasks(n int, spread bool) string {
	var b strings.Builder
	if *workers > 0 {
		fmt.Fprintf(&b, "executor: {workers: %d}\n", *workers)
	}
	b.WriteString("tasks:\n")
	anchor := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at := anchor
		if spread {
			at = at.Add(time.Duration(i) * time.Second / time.Duration(n))
		}
		fmt.Fprintf(&b, "- {name: t%04d, every: 1s, anchor: %q, retry: 0, job: {use: noop}}\n", i, at.Format(time.RFC3339Nano))
	}
	return b.String()
}

// read returns how late the instances of a span were, sorted.
func read(ctx context.Context, path string, from, until time.Time) (claimed, began []time.Duration, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT started_at - scheduled_at, json_extract(data, '$.began') - scheduled_at
		FROM ax_instance WHERE scheduled_at >= ? AND scheduled_at < ? AND status = 'SUCCESS'`, from.UnixMicro(), until.UnixMicro())
	if err != nil {
		return nil, nil, fmt.Errorf("read instances: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c, b int64
		if err := rows.Scan(&c, &b); err != nil {
			return nil, nil, fmt.Errorf("read instances: %w", err)
		}
		claimed = append(claimed, time.Duration(c)*time.Microsecond)
		began = append(began, time.Duration(b)*time.Microsecond)
	}
	slices.Sort(claimed)
	slices.Sort(began)
	return claimed, began, rows.Err()
}

// show prints a line and reports whether it is within the budget.
func show(name string, late []time.Duration) bool {
	at := func(percent int) time.Duration { return late[(len(late)-1)*percent/100] }
	ok := at(99) <= *budget
	verdict := "ok"
	if !ok {
		verdict = fmt.Sprintf("over the budget of %s", *budget)
	}
	fmt.Printf("%-45s n=%d p50=%v p99=%v max=%v  %s\n", name, len(late), at(50), at(99), late[len(late)-1], verdict)
	return ok
}
