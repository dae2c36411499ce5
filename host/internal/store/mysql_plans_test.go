package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// TestMySQLPlans: what hosts ask all the time, and what the hot path does, must
// reach its rows by index. The statements are those that the server has logged,
// each is explained by the server itself, with tables that are not small.
func TestMySQLPlans(t *testing.T) {
	t.Parallel()
	_, dsn := mysqltest.Private(t, mysqltest.Options{})
	p := &planned{T: t, Store: storetest.OpenWith(t, store.Options{DSN: dsn, PartitionDays: 3}), ids: ax.NewIDs(1), now: time.Now()}
	p.populate()
	db, err := sql.Open("mysql", mysqltest.DriverDSN(dsn))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	run("ANALYZE TABLE ax_task, ax_instance, ax_log")
	run("SET GLOBAL log_output = 'TABLE'")
	run("SET GLOBAL general_log = 1")
	p.ask()
	run("SET GLOBAL general_log = 0")
	statements := texts(t, p.Store, `SELECT DISTINCT CAST(argument AS CHAR) FROM mysql.general_log
  WHERE command_type IN ('Query', 'Execute') AND (argument LIKE 'SELECT%ax\_%' OR argument LIKE 'UPDATE%' OR argument LIKE 'DELETE%')`)
	if len(statements) < 25 {
		t.Fatalf("the server has logged %d statements only", len(statements))
	}
	for _, text := range statements {
		explain(t, db, text)
	}
}

// explain refuses a statement that reads a large table from one end to the other.
func explain(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	rows, err := db.Query("EXPLAIN " + text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		of := func(name string) string { return values[slices.Index(columns, name)].String }
		const few = 1000 // of 6,000 instances and events, and 2,000 tasks
		var estimate int
		fmt.Sscan(of("rows"), &estimate)        //nolint:errcheck // none is no row
		walk := strings.Contains(text, "LIMIT") // along an index, and stops
		full := of("type") == "ALL" || of("type") == "index" && !walk
		if (full || estimate > few && !walk) && slices.Contains([]string{"ax_task", "ax_instance", "ax_log", "t", "i", "x"}, of("table")) {
			t.Errorf("%.300s\n  reads %s by %s, key %q, %s rows", text, of("table"), of("type"), of("key"), of("rows"))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// planned is a store with some history.
type planned struct {
	*store.Store
	*testing.T
	ids   *ax.IDs
	now   time.Time
	tasks []ax.TaskRow
	open  []ax.Instance // running and dispatched ones
}

func (p *planned) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *planned) populate() {
	for n := range 2000 {
		p.tasks = append(p.tasks, storetest.Task("a", fmt.Sprintf("t%04d", n), p.now))
	}
	p.must(p.ApplyTasks(p.Context(), store.ApplyParams{App: "a", Now: p.now, Upsert: p.tasks}))
	var wg sync.WaitGroup
	for n := range 6000 {
		at := p.now.Add(-time.Duration(n) * 20 * time.Second)
		i := ax.Instance{
			ID: ax.InstanceID(p.ids.Next(p.now)), App: "a", TaskID: p.tasks[n%100].ID, TaskName: "t", ScheduledAt: at,
			Kind: ax.KindScheduled, Status: ax.StatusSkipped, Fence: 1, Owner: "host-1", CreatedAt: at,
		}
		if n%60 == 0 {
			i.Status = ax.StatusDispatched
			p.open = append(p.open, i)
		}
		wg.Add(1)
		p.Submit(ax.Change{
			Insert: []ax.Instance{i}, Events: []ax.Event{{ID: p.ids.Next(p.now), InstanceID: i.ID, At: at, Stage: ax.StageOutcome}},
			Done: func(applied bool, err error) {
				defer wg.Done()
				if err != nil || !applied {
					p.Errorf("%v, %v", applied, err)
				}
			},
		})
	}
	wg.Wait()
}

// ask does what hosts do.
func (p *planned) ask() {
	ctx := p.Context()
	node := ax.Node{Incarnation: "host-1", App: "a", StartedAt: p.now}
	p.must(p.RegisterNode(ctx, node))
	_, err := p.TakeSlot(ctx, node.Incarnation)
	p.must(err)
	_, err = p.Heartbeat(ctx, node)
	p.must(err)
	_, _, err = p.Nodes(ctx, "a")
	p.must(err)
	version, err := p.TasksVersion(ctx, "a")
	p.must(err)
	task := p.tasks[3]
	p.must(p.SetPaused(ctx, store.PauseParams{Task: task.ID, Paused: true, Now: p.now}))
	_, err = p.TasksSince(ctx, "a", version)
	p.must(err)
	_, err = p.TasksIn(ctx, "a", []int{1, 2, 3, 500})
	p.must(err)
	_, err = p.TaskOwner(ctx, task.ID)
	p.must(err)
	_, err = p.MoveOwner(ctx, task.ID, 0, "host-1")
	p.must(err)
	_, err = p.RetriesDue(ctx, "a", p.now, 0, 100)
	p.must(err)
	_, err = p.CountActive(ctx, "a", task.ID)
	p.must(err)
	for _, err := range p.Unfinished(ctx, "a") {
		p.must(err)
	}
	for _, err := range p.UnfinishedOf(ctx, "a", []string{"host-1"}) {
		p.must(err)
	}
	_, err = p.Waiting(ctx, "a")
	p.must(err)
	p.askLists(task)
	p.write()
}

func (p *planned) askLists(task ax.TaskRow) {
	ctx := p.Context()
	one := p.open[0]
	_, err := p.Instance(ctx, one.ID)
	p.must(err)
	_, err = p.Events(ctx, ax.EventFilter{Instance: one.ID})
	p.must(err)
	for _, f := range []ax.InstanceFilter{
		{App: "a", Task: task.Name, Limit: 20}, {App: "a", Statuses: []ax.Status{ax.StatusFailed}, Limit: 20},
		{App: "a", Statuses: []ax.Status{ax.StatusSkipped}, Before: one.ID, Limit: 20}, {Limit: 20},
	} {
		_, err = p.Instances(ctx, f)
		p.must(err)
	}
	_, err = p.DueRows(ctx, "a", task.Name, p.now.Add(-time.Hour), p.now)
	p.must(err)
	_, err = p.InstanceBefore(ctx, "a", p.tasks[1].Name, p.now)
	p.must(err)
	_, err = p.Task(ctx, "a", task.Name)
	p.must(err)
	_, err = p.Purge(ax.Kept{App: "a", Since: p.now.Add(-40 * time.Hour)})(ctx, 100)
	p.must(err)
}

// write sends what a running host writes: alone, and many at once.
func (p *planned) write() {
	p.must(p.ApplyTasks(p.Context(), store.ApplyParams{App: "a", Now: p.now, Upsert: p.tasks[:20]}))
	var wg sync.WaitGroup
	done := func(bool, error) { wg.Done() }
	var all []ax.Change
	for n, i := range p.open {
		m := &ax.Move{From: i.Status, Fence: i.Fence, New: i}
		m.New.Status = ax.StatusRunning
		t := p.tasks[n]
		all = append(all, ax.Change{
			Plan: &ax.Plan{Task: t.ID, From: t.NextAt, To: t.NextAt.Add(time.Hour)}, Move: m, Done: done,
		})
	}
	for _, changes := range [][]ax.Change{all, all[:1], all[:7]} { // the latter are refused, and tried one by one
		wg.Add(len(changes))
		p.SubmitAll(changes)
		wg.Wait()
	}
}
