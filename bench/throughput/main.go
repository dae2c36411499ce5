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
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver

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
	defer func() { err = errors.Join(err, d.close()) }()
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

// database is the one whose limit was measured, as long as dblimit holds it.
type database struct {
	cmd   *exec.Cmd
	hold  io.Closer
	dsn   string
	limit float64 // executions a second, instances alone
}

// measureDatabase runs dblimit and keeps its database.
func measureDatabase(ctx context.Context) (*database, error) {
	d := &database{cmd: exec.CommandContext(ctx, "go", "run", "github.com/axsched/ax/bench/dblimit", "-hold")}
	d.cmd.Stderr = os.Stderr
	in, err := d.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	d.hold = in
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if dsn, found := strings.CutPrefix(lines.Text(), "dsn "); found {
			d.dsn = dsn
			return d, nil
		}
		fmt.Println(lines.Text())
		if name, rest, _ := strings.Cut(lines.Text(), "connection"); strings.Contains(name, "instances alone") {
			fields := strings.Fields(strings.TrimPrefix(rest, "s"))
			if rate, err := strconv.ParseFloat(fields[0], 64); err == nil {
				d.limit = max(d.limit, rate)
			}
		}
	}
	return nil, errors.Join(errors.New("dblimit has ended too early"), d.close())
}

func (d *database) close() error { return errors.Join(d.hold.Close(), d.cmd.Wait()) }

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
		if err := node.ConfigureApp(app, configuration(d.dsn, i, n)); err != nil {
			return 0, err
		}
		h, err := node.Start(ctx)
		if err != nil {
			return 0, err
		}
		running = append(running, h)
	}
	time.Sleep(*length)
	db, err := sql.Open("mysql", driverDSN(d.dsn))
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

// driverDSN turns mysql://user:password@host:port/db into what the driver reads.
func driverDSN(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	return fmt.Sprintf("%s@tcp(%s)/%s", u.User, u.Host, filepath.Base(u.Path))
}
