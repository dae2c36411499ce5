// Command console measures how long the pages of a host take with many tasks and a
// large history:
//
//	go run ./bench/console                            SQLite
//	go run ./bench/console -dsn mysql://user@host/db  an empty database of MySQL
//
// The exit code is 1 if a page takes longer than the budget, or if the first one is
// larger than 100 kB with all that it loads.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver
	_ "modernc.org/sqlite"             // the other one

	"github.com/axsched/ax/bench/internal/rig"
)

var (
	dsn    = flag.String("dsn", "", "an empty database of MySQL; without it SQLite")
	count  = flag.Int("n", 10_000, "number of tasks")
	rows   = flag.Int("rows", 10_000_000, "number of past runs")
	days   = flag.Int("days", 30, "days over which they are spread")
	looks  = flag.Int("looks", 30, "how often each page is asked for")
	budget = flag.Duration("budget", 100*time.Millisecond, "longest time of a page, as the median of the looks")
)

// largest is how much the first page may load, in bytes.
const largest = 100_000

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
	if err := r.Configure(configuration()); err != nil {
		return false, err
	}
	// The first life of the host makes the tables and the tasks.
	h, err := r.Start(ctx)
	if err == nil {
		err = h.Stop()
	}
	if err != nil {
		return false, err
	}
	if err := fill(ctx, r); err != nil {
		return false, fmt.Errorf("make the history: %w", err)
	}
	if h, err = r.Start(ctx); err != nil {
		return false, err
	}
	ok = true
	for _, path := range []string{
		"/", "/tasks", "/tasks?q=task-09", "/tasks?state=failing", "/tasks/task-00001", "/runs", "/runs?status=FAILED", "/alerts", "/nodes", "/audit",
	} {
		good, err := look(ctx, r.Addr, path)
		if err != nil {
			return false, err
		}
		ok = ok && good
	}
	good, err := weigh(ctx, r.Addr)
	if err != nil {
		return false, err
	}
	return ok && good, h.Stop()
}

func configuration() string {
	var b strings.Builder
	if *dsn != "" {
		fmt.Fprintf(&b, "store: {dsn: %q}\n", *dsn)
	}
	b.WriteString("defaults: {timezone: Asia/Shanghai}\ntasks:\n")
	for i := range *count {
		fmt.Fprintf(&b, "- {name: task-%05d, group: group-%02d, cron: \"0 %d %d %d * ?\", job: {use: noop}}\n", i, i%20, i%60, i/60%24, 1+i%28)
	}
	return b.String()
}

// look asks for a page many times and prints how long that took.
func look(ctx context.Context, addr, path string) (ok bool, err error) {
	var times []time.Duration
	var size int
	for range *looks {
		begin := time.Now()
		body, err := get(ctx, addr, path)
		if err != nil {
			return false, err
		}
		times, size = append(times, time.Since(begin)), len(body)
	}
	first := times[0]
	slices.Sort(times)
	median := times[len(times)/2]
	ok = median <= *budget
	verdict := "ok"
	if !ok {
		verdict = "over the budget of " + budget.String()
	}
	fmt.Printf("%-24s median %8v  first %8v  longest %8v  %6d bytes  %s\n", path, round(median), round(first), round(times[len(times)-1]), size, verdict)
	return ok, nil
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

func get(ctx context.Context, addr, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, response.Status)
	}
	return string(body), err
}

// weigh adds up what a browser loads for the first page.
func weigh(ctx context.Context, addr string) (ok bool, err error) {
	page, err := get(ctx, addr, "/")
	if err != nil {
		return false, err
	}
	sum := len(page)
	for _, file := range regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		body, err := get(ctx, addr, file[1])
		if err != nil {
			return false, err
		}
		sum += len(body)
	}
	fmt.Printf("the first page with all that it loads: %d bytes, at most %d\n", sum, largest)
	return sum <= largest, nil
}

// open opens the database of the hosts.
func open(r *rig.Rig) (*sql.DB, error) {
	if *dsn == "" {
		return sql.Open("sqlite", "file:"+r.Database()+"?_pragma=synchronous(off)&_pragma=journal_mode(wal)")
	}
	return sql.Open("mysql", driverDSN(*dsn))
}
