// Command throughput measures how many executions a second whole hosts get through,
// with full history and a job that does nothing in a real plugin process, beside
// what the same database can do at best (see dblimit), in one run:
//
//	go run ./bench/throughput                 MariaDB, with 1 host and with 4
//	go run ./bench/throughput -hosts 1,2,8
//
// The tasks are due more often than the hosts can run them; what ended in the
// second half of each run counts. The exit code is 1 if a number of hosts stays
// below -least executions a second, or below -ratio of the limit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/bench/internal/rig"
)

var (
	hosts   = flag.String("hosts", "1,4", "numbers of hosts")
	length  = flag.Duration("for", 20*time.Second, "length of one measurement")
	due     = flag.Int("due", 10_000, "due times a second of all tasks")
	workers = flag.Int("workers", 64, "runs at once on all hosts together")
	least   = flag.Float64("least", 3000, "least executions a second")
	ratio   = flag.Float64("ratio", 0.25, "least share of the limit of the database")
)

func main() {
	flag.Parse()
	ok, err := run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context) (ok bool, err error) {
	r, err := rig.New(ctx)
	if err != nil {
		return false, err
	}
	defer r.Close()
	d, err := measureDatabase(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	ok = true
	for text := range strings.SplitSeq(*hosts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return false, fmt.Errorf("-hosts: %w", err)
		}
		rate, err := measure(ctx, r, d, n)
		if err != nil {
			return false, fmt.Errorf("%d hosts: %w", n, err)
		}
		verdict := "ok"
		if rate < *least || rate < *ratio*d.limit {
			verdict = fmt.Sprintf("below %.0f/s or %.2f of the limit", *least, *ratio)
			ok = false
		}
		fmt.Printf("%-48s %8.0f executions/s  %.2f of the limit  %s\n", fmt.Sprintf("%d hosts", n), rate, rate/d.limit, verdict)
	}
	return ok, nil
}

// database is the one whose limit was measured.
type database struct {
	*rig.Database
	limit float64 // executions a second, instances alone
}

// measureDatabase runs dblimit and keeps its database.
func measureDatabase(ctx context.Context) (*database, error) {
	d := &database{}
	var err error
	d.Database, err = rig.NewDatabase(ctx, func(line string) {
		fmt.Println(line)
		if name, rest, _ := strings.Cut(line, "connection"); strings.Contains(name, "instances alone") {
			fields := strings.Fields(strings.TrimPrefix(rest, "s"))
			if rate, err := strconv.ParseFloat(fields[0], 64); err == nil {
				d.limit = max(d.limit, rate)
			}
		}
	})
	return d, err
}

// measure runs n hosts and returns the executions a second.
func measure(ctx context.Context, r *rig.Rig, d *database, n int) (float64, error) {
	app := fmt.Sprintf("bench%d", n)
	var running []*rig.Host
	defer func() {
		for _, h := range running {
			h.Stop() //nolint:errcheck // the figures are there already
		}
	}()
	for i := range n {
		node, err := r.Node(ctx, fmt.Sprintf("%s-%d", app, i))
		if err != nil {
			return 0, err
		}
		if err := node.ConfigureApp(app, configuration(d.DSN, i, n)); err != nil {
			return 0, err
		}
		h, err := node.Start(ctx)
		if err != nil {
			return 0, err
		}
		running = append(running, h)
	}
	time.Sleep(*length)
	db, err := d.Open()
	if err != nil {
		return 0, err
	}
	defer db.Close()
	until := time.Now().Add(-2 * time.Second) // what ended since is still on its way
	from := until.Add(-*length / 2)
	var ended int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM ax_instance WHERE app = ? AND status = 'SUCCESS' AND ended_at >= ? AND ended_at < ?",
		app, from.UnixMicro(), until.UnixMicro()).Scan(&ended)
	return float64(ended) / until.Sub(from).Seconds(), err
}

// configuration is that of one of n hosts.
func configuration(dsn string, i, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "node: host-%d\nstore: {dsn: %q}\ncluster: {listen: \"127.0.0.1:0\", secret: \"a secret of this benchmark\"}\n", i, dsn)
	fmt.Fprintf(&b, "executor: {workers: %d, queue: 1024}\ntasks:\n", max(*workers/n, 4))
	const every = 200 * time.Millisecond
	tasks := *due * int(every/time.Millisecond) / 1000
	anchor := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for k := range tasks {
		at := anchor.Add(time.Duration(k) * every / time.Duration(tasks))
		fmt.Fprintf(&b, "- {name: t%05d, every: %s, anchor: %q, overlap: allow, retry: 0, job: {use: noop}}\n", k, every, at.Format(time.RFC3339Nano))
	}
	return b.String()
}
