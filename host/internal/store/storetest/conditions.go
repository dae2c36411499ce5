package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var conditionTests = []test{
	{"plan", conditionPlan},
	{"plan keeps or replaces the times fetched ahead", conditionPlanned},
	{"move", conditionMove},
	{"plan and move together", conditionBoth},
	{"a refused change leaves nothing", conditionNothing},
}

func conditionPlan(b *bed) {
	b.apply(Task(app, "t", noon))
	id := ax.NewTaskID(app, "t")
	next := noon.Add(time.Minute)
	change := ax.Change{Plan: &ax.Plan{Task: id, From: noon, To: next, Prev: noon}}
	b.applied(change)
	b.refused(change)
	got := b.task("t")
	equal(b, "next", got.NextAt, next)
	equal(b, "prev", got.PrevAt, noon)
	b.refused(ax.Change{Plan: &ax.Plan{Task: 42, From: noon, To: next}})
	b.applied(ax.Change{Plan: &ax.Plan{Task: id, From: next, Prev: next}}) // never again
	equal(b, "next", b.task("t").NextAt, time.Time{})
	b.refused(ax.Change{Plan: &ax.Plan{Task: id, From: next, To: noon}})
	b.applied(ax.Change{Plan: &ax.Plan{Task: id, To: noon}})
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{id}}))
	b.refused(ax.Change{Plan: &ax.Plan{Task: id, From: noon, To: next}})
}

func conditionPlanned(b *bed) {
	row := fullTask()
	b.apply(row)
	at := row.NextAt
	step := func(planned []time.Time, done bool) ax.TaskState {
		b.applied(ax.Change{Plan: &ax.Plan{Task: row.ID, From: at, To: at.Add(time.Minute), Prev: at, Planned: planned, PlanDone: done}})
		at = at.Add(time.Minute)
		return b.task(row.Name).TaskState
	}
	equal(b, "planned, kept", step(nil, true).Planned, row.Planned)
	equal(b, "planned, replaced", step(row.Planned[1:], true).Planned, row.Planned[1:])
	got := step([]time.Time{}, false)
	equal(b, "planned, emptied", len(got.Planned), 0)
	equal(b, "done", got.PlanDone, false)
	equal(b, "version", got.PlanVersion, row.PlanVersion)
}

func conditionMove(b *bed) {
	i := b.newInstance("t", 0)
	i.Status = ax.StatusDispatched
	b.insert(i)
	claim := move(i, ax.StatusRunning)
	claim.New.Fence, claim.New.Owner = i.Fence+1, "host-2-b"
	stale := move(i, ax.StatusRunning)
	stale.Fence = 0
	b.refused(ax.Change{Move: stale})
	b.applied(ax.Change{Move: claim})
	b.refused(ax.Change{Move: claim})
	equal(b, "owner", b.instance(i.ID).Owner, "host-2-b")
	other := move(b.instance(i.ID), ax.StatusSuccess)
	other.New.ID = 42
	b.refused(ax.Change{Move: other})
	late := move(i, ax.StatusSuccess) // by one who holds the old fence
	late.From = ax.StatusRunning
	b.refused(ax.Change{Move: late})
	b.applied(ax.Change{Move: move(b.instance(i.ID), ax.StatusSuccess)})
}

func conditionBoth(b *bed) {
	b.apply(Task(app, "t", noon))
	i := b.newInstance("t", 0)
	b.insert(i)
	plan := &ax.Plan{Task: i.TaskID, From: noon, To: noon.Add(time.Minute)}
	stalePlan := &ax.Plan{Task: i.TaskID, From: noon.Add(time.Hour), To: noon}
	staleMove := move(i, ax.StatusSuccess)
	staleMove.Fence++
	// Sent at once, so that they share a transaction with a good neighbour.
	neighbour := b.newInstance("t", time.Hour)
	verdicts := []<-chan verdict{
		submit(b.s, ax.Change{Insert: []ax.Instance{neighbour}}),
		submit(b.s, ax.Change{Plan: plan, Move: staleMove}),
		submit(b.s, ax.Change{Plan: stalePlan, Move: move(i, ax.StatusSuccess)}),
	}
	equal(b, "neighbour", <-verdicts[0], verdict{applied: true})
	equal(b, "stale move", <-verdicts[1], verdict{})
	equal(b, "stale plan", <-verdicts[2], verdict{})
	equal(b, "next", b.task("t").NextAt, noon)
	equal(b, "status", b.instance(i.ID).Status, ax.StatusRunning)
	b.instance(neighbour.ID)

	b.applied(ax.Change{Plan: plan, Move: move(i, ax.StatusSuccess)})
	equal(b, "next", b.task("t").NextAt, plan.To)
	equal(b, "status", b.instance(i.ID).Status, ax.StatusSuccess)
}

func conditionNothing(b *bed) {
	b.apply(Task(app, "t", noon))
	i := b.newInstance("t", 0)
	b.refused(ax.Change{
		Plan:   &ax.Plan{Task: i.TaskID, From: noon.Add(time.Second), To: noon.Add(time.Minute)},
		Insert: []ax.Instance{i},
		Events: []ax.Event{b.newEvent(i, "no")},
	})
	_, err := b.s.Instance(b.Context(), i.ID)
	b.wantErr(err, store.ErrNotFound)
	equal(b, "events", len(b.eventTexts(i.ID)), 0)
}
