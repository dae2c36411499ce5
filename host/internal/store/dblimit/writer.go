package main

import (
	"errors"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// writer returns how many executions a second go through the store: a change
// with an instance that is RUNNING, the compare-and-set of its task's plan and an
// event; and, once that is answered, a second change to SUCCESS with an event.
func (b *bed) writer() (float64, error) {
	x := &executions{bed: b, slots: make(chan struct{}, *inflight), begun: make(chan ax.Instance, *inflight)}
	var finisher sync.WaitGroup
	finisher.Go(func() {
		for i := range x.begun {
			x.finish(i)
		}
	})
	began, n := time.Now(), 0
	for ; time.Since(began) < *length; n++ {
		x.slots <- struct{}{}
		x.begin(&b.tasks[n%len(b.tasks)])
	}
	for range *inflight {
		x.slots <- struct{}{} // the last ones are on disk
	}
	took := time.Since(began)
	close(x.begun)
	finisher.Wait()
	return float64(n) / took.Seconds(), errors.Join(x.errs...)
}

type executions struct {
	bed   *bed
	slots chan struct{}
	begun chan ax.Instance

	mu   sync.Mutex
	errs []error
}

var errRefused = errors.New("a change was refused")

func (x *executions) failed(applied bool, err error) {
	if err == nil && applied {
		return
	}
	if err == nil {
		err = errRefused
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.errs) < 10 {
		x.errs = append(x.errs, err)
	}
}

func (x *executions) begin(t *ax.TaskRow) {
	now, due := time.Now(), t.NextAt
	t.NextAt = due.Add(time.Second)
	i := x.bed.instance(t, due, now)
	x.bed.store.Submit(ax.Change{
		Plan:   &ax.Plan{Task: t.ID, From: due, To: t.NextAt, Prev: due},
		Insert: []ax.Instance{i},
		Events: []ax.Event{x.event(i, ax.StageClaimed, now)},
		Done: func(applied bool, err error) {
			x.failed(applied, err)
			x.begun <- i
		},
	})
}

func (x *executions) finish(i ax.Instance) {
	now := time.Now()
	move := &ax.Move{From: i.Status, Fence: i.Fence, New: i}
	move.New.Status, move.New.EndedAt, move.New.Message = ax.StatusSuccess, now, "done"
	x.bed.store.Submit(ax.Change{
		Move:   move,
		Events: []ax.Event{x.event(i, ax.StageOutcome, now)},
		Done: func(applied bool, err error) {
			x.failed(applied, err)
			<-x.slots
		},
	})
}

func (x *executions) event(i ax.Instance, stage ax.Stage, now time.Time) ax.Event {
	return ax.Event{ID: x.bed.ids.Next(now), InstanceID: i.ID, TaskID: i.TaskID, At: now, Attempt: 1, Stage: stage, Level: "info", Node: "host-1"}
}
