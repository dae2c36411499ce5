// Command dblimit measures how many executions a second the database itself can
// take, with our tables and full durability, and beside it how many the store's
// writer gets through on the same database, in turns in the same run. Run it as
// ./bench/dblimit.
//
// The limit is what set statements of a hundred rows reach: once for instances
// alone (insert, claim, finish), and once with all that an execution leaves
// behind (its plan moves on, and two events are written). The writer always does
// the latter, for each execution by itself and with every answer waited for. The
// exit code is 1 if the writer stays below -ratio of the limit of instances alone.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

var (
	kind     = flag.String("db", "mysql", "mysql or sqlite")
	dsn      = flag.String("dsn", "", "DSN of an empty database, instead of a private MariaDB")
	length   = flag.Duration("for", 3*time.Second, "length of one measurement")
	rounds   = flag.Int("rounds", 3, "how often each is measured; the median counts. 0 measures nothing")
	size     = flag.Int("set", 100, "rows of one set statement")
	inflight = flag.Int("inflight", 2048, "executions under way in the writer")
	hold     = flag.Bool("hold", false, "say at the end where the database is, and keep it until the input ends")
	ratio    = flag.Float64("ratio", 0.25, "least share of the limit that the writer must reach")
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
	b, err := open(ctx)
	if err != nil {
		return false, err
	}
	defer b.close()
	measures := []measure{
		{"set statements, instances alone, 1 connection", func() (float64, error) { return b.limit(bare, 1) }},
		{"set statements, full history, 1 connection", func() (float64, error) { return b.limit(full, 1) }},
		{"the writer, full history", b.writer},
	}
	if *kind == "mysql" {
		measures = slices.Insert(measures, 1, measure{"set statements, instances alone, 4 connections", func() (float64, error) { return b.limit(bare, 4) }})
		measures = slices.Insert(measures, 3, measure{"set statements, full history, 4 connections", func() (float64, error) { return b.limit(full, 4) }})
	}
	rates := make([][]float64, len(measures))
	for range *rounds {
		for i, m := range measures {
			rate, err := m.run()
			if err != nil {
				return false, fmt.Errorf("%s: %w", m.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	if ok = true; *rounds > 0 {
		ok = report(b.name, measures, rates)
	}
	if *hold {
		fmt.Println("dsn", b.address)
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return ok, err
}

type measure struct {
	name string
	run  func() (executionsPerSecond float64, err error)
}

// report prints a line for each measure, and whether the last one, the writer,
// reaches its share of the best of instances alone.
func report(database string, measures []measure, rates [][]float64) bool {
	fmt.Printf("%s, %d CPUs, sets of %d, %d rounds of %v\n", database, runtime.NumCPU(), *size, *rounds, *length)
	var limit, writer float64
	for i, m := range measures {
		slices.Sort(rates[i])
		writer = rates[i][len(rates[i])/2]
		fmt.Printf("%-48s %8.0f executions/s\n", m.name, writer)
		if strings.Contains(m.name, "instances alone") {
			limit = max(limit, writer)
		}
	}
	verdict := "ok"
	if writer < *ratio*limit {
		verdict = fmt.Sprintf("below %.2f", *ratio)
	}
	fmt.Printf("the writer reaches %.2f of the limit  %s\n", writer/limit, verdict)
	return verdict == "ok"
}

// bed is a database with tasks.
type bed struct {
	name    string
	address string // DSN
	store   *store.Store
	raw     *sql.DB // connections that know nothing of the store
	tasks   []ax.TaskRow
	ids     *ax.IDs
	undo    []func() error
}

const tasks = 10_000

func open(ctx context.Context) (b *bed, err error) {
	b = &bed{ids: ax.NewIDs(1)}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	var driver, source string
	address := *dsn
	switch {
	case *kind == "sqlite":
		dir, err := os.MkdirTemp("", "ax-bench-")
		if err != nil {
			return b, err
		}
		b.undo = append(b.undo, func() error { return os.RemoveAll(dir) })
		file := filepath.Join(dir, "ax.db")
		b.name, address = "SQLite", "sqlite:"+file
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(60000)&_pragma=synchronous(FULL)&_txlock=immediate"
	case address == "":
		server, err := mysqltest.Start(ctx, mysqltest.Options{BufferPool: 1024, RedoLog: 512})
		if err != nil {
			return b, err
		}
		b.undo = append(b.undo, server.Stop)
		if err := server.Create(ctx, "ax"); err != nil {
			return b, err
		}
		b.name, address = "MariaDB, private", server.DSN("ax")
		driver, source = "mysql", mysqltest.DriverDSN(address)+"?interpolateParams=true"
	default:
		b.name = "the database that was named"
		driver, source = "mysql", mysqltest.DriverDSN(address)+"?interpolateParams=true"
	}
	b.address = address
	if b.store, err = store.Open(ctx, store.Options{DSN: address}); err != nil {
		return b, err
	}
	b.undo = append(b.undo, b.store.Close)
	if _, err := b.store.Migrate(ctx); err != nil {
		return b, err
	}
	if b.raw, err = sql.Open(driver, source); err != nil {
		return b, err
	}
	b.undo = append(b.undo, b.raw.Close)
	start := time.Now().UTC().Truncate(24 * time.Hour)
	for i := range tasks {
		b.tasks = append(b.tasks, storetest.Task("bench", fmt.Sprintf("task-%05d", i), start))
	}
	return b, b.store.ApplyTasks(ctx, store.ApplyParams{App: "bench", Actor: "bench", Now: start, Upsert: b.tasks})
}

func (b *bed) close() {
	for _, f := range slices.Backward(b.undo) {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// instance is one of a task that is due at the given time.
func (b *bed) instance(t *ax.TaskRow, due, now time.Time) ax.Instance {
	return ax.Instance{
		ID: ax.InstanceID(b.ids.Next(now)), App: t.App, TaskID: t.ID, TaskName: t.Name, ScheduledAt: due,
		Kind: ax.KindScheduled, Status: ax.StatusRunning, Attempt: 1, Fence: 1, Owner: "host-1-0001", Node: "host-1",
		TraceID: "0123456789abcdef0123456789abcdef", CreatedAt: now, StartedAt: now,
	}
}
