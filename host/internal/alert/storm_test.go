package alert_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/storetest"
	"github.com/axsched/ax/pluginapi"
)

// storm is failures of 1,000 tasks, one after the other as fast as they can be
// written.
type storm struct {
	tb      testing.TB
	store   *store.Store
	manager *alert.Manager
	tasks   map[string]*ax.Task
	ids     *ax.IDs
	told    chan int // counts of messages
	longest time.Duration
}

func newStorm(tb testing.TB) *storm {
	s := &storm{tb: tb, store: storetest.Open(tb), tasks: map[string]*ax.Task{}, ids: ax.NewIDs(1), told: make(chan int, 200_000)}
	w := &world{tasks: s.tasks}
	for i := range 1000 {
		w.task(fmt.Sprintf("t%d", i))
	}
	settings := &alert.Settings{
		Window: time.Second, Gather: 100 * time.Millisecond, MergeFrom: 3, Expire: time.Hour, Receivers: map[string]*alert.Receiver{"ops": {}},
	}
	s.manager = alert.New(alert.Config{
		App: "shop", Node: "n1", Incarnation: "n1", Sole: true, IDs: s.ids, Store: s.store, Log: hclog.NewNullLogger(),
		Settings: func() *alert.Settings { return settings },
		Task:     func(name string) *ax.Task { return s.tasks[name] },
		Notify: func(_ context.Context, _ string, msg pluginapi.Message) (string, error) {
			s.told <- msg.Count
			return "", nil
		},
	})
	if err := s.manager.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// fail lets a task fail; the change is one that the database has no instance for,
// so that only the event is written.
func (s *storm) fail(i int, done func()) {
	name := fmt.Sprintf("t%d", i%len(s.tasks))
	begun := time.Now()
	c := s.manager.Journal(ax.Change{
		Move: &ax.Move{From: ax.StatusRunning, New: ax.Instance{
			ID: ax.InstanceID(i + 1), TaskID: s.tasks[name].ID, TaskName: name, Status: ax.StatusFailed, EndedAt: begun, Attempt: 1, Node: "n1",
		}},
	})
	s.longest = max(s.longest, time.Since(begun))
	c.Move = nil
	written := c.Done
	c.Done = func(applied bool, err error) {
		written(applied, err)
		done()
	}
	s.store.Submit(c)
}

// TestStormOfFailures: 100,000 failures take little memory, hold nobody up, and
// are all told.
func TestStormOfFailures(t *testing.T) {
	failures := 100_000
	if testing.Short() || slowed {
		failures = 5000
	}
	s := newStorm(t)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	peak := make(chan uint64)
	quit := make(chan struct{})
	go func() {
		var most uint64
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			case <-quit:
				peak <- most
				return
			}
		}
	}()
	written := make(chan struct{}, failures)
	for i := range failures {
		s.fail(i, func() { written <- struct{}{} })
	}
	for range failures {
		<-written
	}
	told := 0
	for deadline := time.After(time.Minute); told < failures; {
		select {
		case n := <-s.told:
			told += n
		case <-deadline:
			t.Fatalf("%d of %d failures are told", told, failures)
		}
	}
	close(quit)
	most := <-peak
	s.manager.Stop(t.Context())
	runtime.ReadMemStats(&after)
	t.Logf("at most %d MB of heap, %d MB before; the longest call took %v", most>>20, before.HeapInuse>>20, s.longest)
	if most-min(before.HeapInuse, most) > 100<<20 {
		t.Errorf("the heap grew from %d to %d MB", before.HeapInuse>>20, most>>20)
	}
	if told != failures {
		t.Errorf("%d failures are told, want %d", told, failures)
	}
	if s.longest > 50*time.Millisecond {
		t.Errorf("a call took %v", s.longest)
	}
}

// BenchmarkStorm measures what a failure costs, and how long another change waits
// for its turn meanwhile.
func BenchmarkStorm(b *testing.B) {
	s := newStorm(b)
	defer s.manager.Stop(context.Background())
	written := make(chan struct{}, 1)
	var longest time.Duration
	for i := 0; b.Loop(); i++ {
		s.fail(i, func() {})
		if i%1000 == 0 {
			begun := time.Now()
			s.store.Submit(ax.Change{
				Events: []ax.Event{{ID: s.ids.Next(begun), InstanceID: 1, At: begun, Stage: ax.StageOutput}},
				Done:   func(bool, error) { written <- struct{}{} },
			})
			<-written
			longest = max(longest, time.Since(begun))
		}
	}
	b.ReportMetric(float64(longest.Milliseconds()), "ms-longest-write")
}
