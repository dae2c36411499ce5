// Command idle measures what a cluster with nothing to do costs its database: by
// the server's own counter of statements, and by its log of which statements these
// are and whether any of them reads a whole table.
//
//	go run ./bench/idle                      12 hosts, 10,000 tasks, MariaDB
//	go run ./bench/idle -hosts 3 -tasks 100
//
// The exit code is 1 if there are more than -most statements a second, or one
// that reads more than -rows rows without an index.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/axsched/ax/bench/internal/rig"
)

var (
	hosts  = flag.Int("hosts", 12, "number of hosts")
	tasks  = flag.Int("tasks", 10_000, "number of tasks, none of which is due meanwhile")
	settle = flag.Duration("settle", 30*time.Second, "pause after the start")
	past   = flag.Int("past", 20_000, "number of runs in the history")
	length = flag.Duration("for", time.Minute, "length of the measurement")
	most   = flag.Float64("most", 30, "most statements a second")
	rows   = flag.Int("rows", 50, "most rows of a statement that reads a whole table, such as that of hosts")
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
	d, err := rig.NewDatabase(ctx, func(string) {}, "-rounds", "0")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	db, err := d.Open()
	if err != nil {
		return false, err
	}
	defer db.Close()
	logged := filepath.Join(r.Dir, "statements.log")
	// Connections take these over when they are made: before the hosts are there.
	for _, text := range []string{
		"SET GLOBAL slow_query_log_file = '" + logged + "'", "SET GLOBAL log_output = 'FILE'", "SET GLOBAL long_query_time = 0",
		"SET GLOBAL log_slow_verbosity = 'query_plan'", "SET GLOBAL log_slow_rate_limit = 1", "SET GLOBAL slow_query_log = ON",
	} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return false, fmt.Errorf("%s: %w", text, err)
		}
	}
	if err := remember(ctx, db); err != nil {
		return false, fmt.Errorf("write a history: %w", err)
	}
	stop, err := start(ctx, r, d.DSN)
	defer stop()
	if err != nil {
		return false, err
	}
	time.Sleep(*settle)
	return measure(ctx, r, db, logged)
}

// remember writes a history, without which no statement has much to read.
func remember(ctx context.Context, db *sql.DB) error {
	const atOnce = 500
	for first := 1; first <= *past; first += atOnce {
		var b strings.Builder
		b.WriteString(`INSERT INTO ax_instance (id, app, task_id, task_name, scheduled_at, kind, shard, status, attempt, fence, owner, node,
  reason, missed, trace_id, params_bound, created_at, deferred, callback_hash, message, error) VALUES `)
		for i := range min(atOnce, *past-first+1) {
			at := time.Now().Add(-time.Duration(first+i) * time.Second).UnixMicro()
			fmt.Fprintf(&b, "(%d, 'idle', %d, 'former', %d, 'scheduled', 0, 'SUCCESS', 1, 1, 'gone', 'host-00', '', 0, '', 0, %d, 0, '', '', ''),", first+i, i%7, at, at)
		}
		if err := inTransaction(ctx, db, strings.TrimSuffix(b.String(), ",")); err != nil {
			return err
		}
	}
	return inTransaction(ctx, db, "ANALYZE TABLE ax_instance")
}

// inTransaction commits, which the server does not do by itself.
func inTransaction(ctx context.Context, db *sql.DB, text string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a Commit it says only that
	if _, err := tx.ExecContext(ctx, text); err != nil {
		return err
	}
	return tx.Commit()
}

// start starts the hosts; stop ends them.
func start(ctx context.Context, r *rig.Rig, dsn string) (stop func(), err error) {
	var running []*rig.Host
	stop = func() {
		for _, h := range running {
			h.Stop() //nolint:errcheck // the figures are there already
		}
	}
	body := configuration()
	for i := range *hosts {
		node, err := r.Node(ctx, fmt.Sprintf("host-%02d", i))
		if err != nil {
			return stop, err
		}
		own := fmt.Sprintf("node: host-%02d\nstore: {dsn: %q}\ncluster: {listen: \"127.0.0.1:0\", secret: \"a secret of this benchmark\"}\n", i, dsn)
		if err := node.ConfigureApp("idle", own+body); err != nil {
			return stop, err
		}
		h, err := node.Start(ctx)
		if err != nil {
			return stop, err
		}
		running = append(running, h)
		r.Addr = node.Addr
	}
	return stop, nil
}

func configuration() string {
	var b strings.Builder
	b.WriteString("tasks:\n")
	anchor := time.Now().Add(500 * time.Hour).UTC().Format(time.RFC3339)
	for k := range *tasks {
		fmt.Fprintf(&b, "- {name: t%05d, every: 1000h, anchor: %q, job: {use: noop}}\n", k, anchor)
	}
	return b.String()
}

// measure prints what the server counts, what "ax nodes --cost" says, and the
// statements.
func measure(ctx context.Context, r *rig.Rig, db *sql.DB, logged string) (ok bool, err error) {
	info, err := os.Stat(logged)
	if err != nil {
		return false, err
	}
	from := info.Size()
	before, err := questions(ctx, db)
	if err != nil {
		return false, err
	}
	begin := time.Now()
	time.Sleep(*length)
	after, err := questions(ctx, db)
	if err != nil {
		return false, err
	}
	took := time.Since(begin)
	rate := float64(after-before-1) / took.Seconds() // the second look counts too
	kinds, err := readLog(logged, from)
	if err != nil {
		return false, err
	}
	ok = rate <= *most
	fmt.Printf("%d hosts, %d tasks, %s: %.1f statements/s by the counter of the server\n\n", *hosts, *tasks, took.Round(time.Second), rate)
	for _, k := range kinds {
		note := ""
		if k.scans > 0 {
			note = fmt.Sprintf("  reads the whole table, %d rows", k.rows)
			ok = ok && k.rows <= *rows
		}
		fmt.Printf("%6.2f/s  %s%s\n", float64(k.n)/took.Seconds(), k.text, note)
	}
	out, err := exec.CommandContext(ctx, filepath.Join(r.Dir, "ax"), "nodes", "--cost", "--seconds", "10", "--addr", "http://"+r.Addr).CombinedOutput()
	fmt.Printf("\n%s", out)
	return ok, err
}

func questions(ctx context.Context, db *sql.DB) (n int64, err error) {
	var name string
	err = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
	return n, err
}
