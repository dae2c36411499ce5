package e2e

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store/mysqltest"
)

// shardRow is what is looked at of a shard.
type shardRow struct {
	task          string
	due           time.Time
	shard, shards int
	node          string
	status        ax.Status
}

// shardRows returns the scheduled rows of all tasks, by task, due time and shard.
func shardRows(w *world, db *sql.DB) []shardRow {
	w.t.Helper()
	found, err := db.QueryContext(w.t.Context(), `SELECT task_name, scheduled_at, shard, shards, node, status
		FROM ax_instance WHERE kind = 'scheduled' ORDER BY task_name, scheduled_at, shard`)
	w.must(err)
	defer found.Close()
	var rows []shardRow
	for found.Next() {
		var r shardRow
		var due int64
		w.must(found.Scan(&r.task, &due, &r.shard, &r.shards, &r.node, &r.status))
		r.due = time.UnixMicro(due)
		rows = append(rows, r)
	}
	w.must(found.Err())
	return rows
}

// TestShardsUnderKills: hosts are killed while tasks of which each host makes a run
// are due every second. Each due time has one row for each of some hosts, none runs
// twice, and all of them end.
func TestShardsUnderKills(t *testing.T) {
	t.Parallel()
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // faults, not secrets
	c := newCluster(t, 3, "worker")
	journal := c[0].path("journal")
	var body strings.Builder
	body.WriteString("tasks:\n")
	for i, overlap := range []string{"skip", "allow", "skip\n  concurrency: 3"} {
		fmt.Fprintf(&body, "- name: t%d\n  every: 1s\n  strategy: broadcast\n  overlap: %s\n  misfire: once\n", i, overlap)
		fmt.Fprintf(&body, "  retry: {count: 2, delay: 200ms}\n  job: {use: work, with: {journal: %q, takes: %dms, fails: %d}}\n", journal, 100+400*i, i%2)
	}
	hosts := make([]*host, len(c))
	for i, w := range c {
		w.node = fmt.Sprintf("n%d", i)
		w.shared = strings.Replace(w.shared, "{listen", "{heartbeat: 1s, dead_after: 5s, listen", 1)
		w.config(body.String())
		hosts[i] = w.start()
	}
	for range 5 {
		i := 1 + random.IntN(len(c)-1)
		time.Sleep(time.Duration(1500+random.IntN(1500)) * time.Millisecond) // due times go by
		hosts[i].kill()
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond) // and here without the host
		hosts[i] = c[i].start()
	}
	for task := range c[0].tasks() {
		c[0].axOK("pause", task)
	}
	db, err := sql.Open("mysql", mysqltest.DriverDSN(c[0].dsn)+"?autocommit=1") // else it would hold locks
	c[0].must(err)
	defer db.Close()
	var rows []shardRow
	eventually(t, 2*patience, func() error {
		rows = shardRows(c[0], db)
		if i := slices.IndexFunc(rows, func(r shardRow) bool { return !r.status.Final() }); i >= 0 {
			return fmt.Errorf("one of %d has not ended: %+v", len(rows), rows[i])
		}
		return nil
	})
	for _, h := range hosts {
		h.stop()
	}

	states := map[ax.Status]int{}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].task == rows[0].task && rows[n].due.Equal(rows[0].due) {
			n++
		}
		nodes := map[string]bool{}
		for i, r := range rows[:n] {
			states[r.status]++
			nodes[r.node] = true
			if missed := r.status == ax.StatusMissed && r.shards == 0 && n == 1; !missed && (r.shards != n || r.shard != i) {
				t.Errorf("%+v is number %d of %d", r, i, n)
			}
		}
		if len(nodes) != n {
			t.Errorf("%s, due %s: %d rows on %d hosts", rows[0].task, rows[0].due, n, len(nodes))
		}
		rows = rows[n:]
	}
	c[0].noAttemptTwice()
	if states[ax.StatusSuccess] < 50 || states[ax.StatusRunning] > 0 {
		t.Errorf("states %v", states)
	}
	t.Logf("seed %d: %v, %d lines of journal", seed, states, len(c[0].lines("journal")))
}
