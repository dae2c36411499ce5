package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

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
			b.ReportMetric(float64(st.LongestWrite.Milliseconds()), "longest-ms")
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

// BenchmarkApplyTasks writes 10,000 definitions: new ones, the same again, and
// all of them changed.
func BenchmarkApplyTasks(b *testing.B) {
	const n = 10_000
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			s := storetest.Open(b)
			b.StartTimer()
			benchTasks(b, s, n)
		}
	})
	s := storetest.Open(b)
	tasks := benchTasks(b, s, n)
	apply := func(b *testing.B) {
		err := s.ApplyTasks(b.Context(), store.ApplyParams{App: "bench", Actor: "bench", Now: time.Now(), Upsert: tasks})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("same", func(b *testing.B) {
		for b.Loop() {
			apply(b)
		}
	})
	b.Run("changed", func(b *testing.B) {
		for k := 0; b.Loop(); k++ {
			for i := range tasks {
				tasks[i].Description = fmt.Sprint(k)
			}
			apply(b)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Tasks(b.Context(), "bench"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
