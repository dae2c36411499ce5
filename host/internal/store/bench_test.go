package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// BenchmarkExecutions measures whole executions through the writer: a change
// with an instance RUNNING, the compare-and-set of its task's plan and an
// event; and, once that is on disk, a second change to SUCCESS with an event.
// inflight executions are under way at any time.
func BenchmarkExecutions(b *testing.B) {
	for _, inflight := range []int{1, 16, 256, 2048} {
		b.Run(fmt.Sprintf("inflight=%d", inflight), func(b *testing.B) {
			s := storetest.Open(b)
			run := &executions{b: b, store: s, ids: ax.NewIDs(1), tasks: benchTasks(b, s, 10_000)}
			slots := make(chan struct{}, inflight)
			finish := make(chan ax.Instance, inflight)
			var wg sync.WaitGroup
			wg.Go(func() {
				for n := 0; n < b.N; n++ {
					run.finish(<-finish, func() { <-slots })
				}
			})
			b.ResetTimer()
			for n := range b.N {
				slots <- struct{}{}
				run.begin(n, func(i ax.Instance) { finish <- i })
			}
			wg.Wait()
			for range inflight {
				slots <- struct{}{} // the last ones are on disk
			}
			b.StopTimer()
			st := s.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
			b.ReportMetric(float64(st.Applied)/float64(st.Batches), "changes/commit")
		})
	}
}

type executions struct {
	b     *testing.B
	store *store.Store
	ids   *ax.IDs
	tasks []ax.TaskRow
}

func (x *executions) begin(n int, then func(ax.Instance)) {
	now := time.Now()
	t := &x.tasks[n%len(x.tasks)]
	due := t.NextAt
	t.NextAt = due.Add(time.Second)
	i := benchInstance(x.ids, t, due, now)
	x.store.Submit(ax.Change{
		Plan:   &ax.Plan{Task: t.ID, From: due, To: t.NextAt, Prev: due},
		Insert: []ax.Instance{i},
		Events: []ax.Event{benchEvent(x.ids, i, ax.StageClaimed, now)},
		Done: func(applied bool, err error) {
			if !applied || err != nil {
				x.b.Errorf("begin: %v, %v", applied, err)
			}
			then(i)
		},
	})
}

func (x *executions) finish(i ax.Instance, then func()) {
	now := time.Now()
	move := &ax.Move{From: i.Status, Fence: i.Fence, New: i}
	move.New.Status, move.New.EndedAt, move.New.Message = ax.StatusSuccess, now, "done"
	x.store.Submit(ax.Change{
		Move:   move,
		Events: []ax.Event{benchEvent(x.ids, i, ax.StageOutcome, now)},
		Done: func(applied bool, err error) {
			if !applied || err != nil {
				x.b.Errorf("finish: %v, %v", applied, err)
			}
			then()
		},
	})
}

func benchTasks(b *testing.B, s *store.Store, n int) []ax.TaskRow {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tasks := make([]ax.TaskRow, n)
	for i := range tasks {
		tasks[i] = storetest.Task("bench", fmt.Sprintf("task-%05d", i), start)
	}
	err := s.ApplyTasks(b.Context(), store.ApplyParams{App: "bench", Actor: "bench", Now: start, Upsert: tasks})
	if err != nil {
		b.Fatal(err)
	}
	return tasks
}

func benchInstance(ids *ax.IDs, t *ax.TaskRow, due, now time.Time) ax.Instance {
	return ax.Instance{
		ID: ax.InstanceID(ids.Next(now)), App: t.App, TaskID: t.ID, TaskName: t.Name, ScheduledAt: due,
		Kind: ax.KindScheduled, Status: ax.StatusRunning, Attempt: 1, Fence: 1, Owner: "host-1-0001", Node: "host-1",
		TraceID: "0123456789abcdef0123456789abcdef", CreatedAt: now, StartedAt: now,
	}
}

func benchEvent(ids *ax.IDs, i ax.Instance, stage ax.Stage, now time.Time) ax.Event {
	return ax.Event{ID: ids.Next(now), InstanceID: i.ID, TaskID: i.TaskID, At: now, Attempt: 1, Stage: stage, Level: "info", Node: "host-1"}
}

// BenchmarkSetWiseLimit is what the database can do at best with the same
// tables and the same durability: for a hundred executions one transaction that
// inserts all instances, sets all plans, and adds all events with one statement
// each, and another one that finishes them all. Executions are measured against
// this.
func BenchmarkSetWiseLimit(b *testing.B) {
	const set = 100
	s, path := storetest.OpenFile(b)
	tasks := benchTasks(b, s, 10_000)
	ids := ax.NewIDs(1)
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	marks := strings.TrimSuffix(strings.Repeat("?, ", set), ", ")
	row := "(?, 'bench', ?, ?, ?, 'scheduled', 0, 'RUNNING', 1, 1, 'host-1-0001', 'host-1', '', 0, NULL, " +
		"'0123456789abcdef0123456789abcdef', NULL, 0, ?, ?, NULL, NULL, 0, '', NULL, '', '', NULL)"
	insert := "INSERT INTO ax_instance VALUES " + strings.TrimSuffix(strings.Repeat(row+", ", set), ", ")
	event := "(?, ?, ?, ?, 1, 'claimed', 'info', 'host-1', '')"
	events := "INSERT INTO ax_log VALUES " + strings.TrimSuffix(strings.Repeat(event+", ", set), ", ")
	plan := "UPDATE ax_task SET prev_at = next_at, next_at = next_at + 1000000 WHERE id IN (" + marks + ")"
	finish := "UPDATE ax_instance SET status = 'SUCCESS', message = 'done', ended_at = ? WHERE status = 'RUNNING' AND id IN (" + marks + ")"
	tx := func(statements ...func(*sql.Tx) error) {
		t, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range statements {
			if err := f(t); err != nil {
				b.Fatal(err)
			}
		}
		if err := t.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	exec := func(text string, args []any) func(*sql.Tx) error {
		return func(t *sql.Tx) error { _, err := t.Exec(text, args...); return err }
	}
	b.ResetTimer()
	for n := 0; n < b.N; n += set {
		now := time.Now()
		var insertArgs, eventArgs, endArgs, taskArgs []any
		finishArgs := []any{now.UnixMicro()}
		for k := range set {
			t := &tasks[(n+k)%len(tasks)]
			i := benchInstance(ids, t, t.NextAt, now)
			t.NextAt = t.NextAt.Add(time.Second)
			insertArgs = append(insertArgs, int64(i.ID), int64(t.ID), t.Name, i.ScheduledAt.UnixMicro(), now.UnixMicro(), now.UnixMicro())
			eventArgs = append(eventArgs, ids.Next(now), int64(i.ID), int64(t.ID), now.UnixMicro())
			endArgs = append(endArgs, ids.Next(now), int64(i.ID), int64(t.ID), now.UnixMicro())
			taskArgs = append(taskArgs, int64(t.ID))
			finishArgs = append(finishArgs, int64(i.ID))
		}
		tx(exec(plan, taskArgs), exec(insert, insertArgs), exec(events, eventArgs))
		tx(exec(finish, finishArgs), exec(events, endArgs))
	}
	b.ReportMetric(float64((b.N+set-1)/set*set)/b.Elapsed().Seconds(), "executions/s")
}
