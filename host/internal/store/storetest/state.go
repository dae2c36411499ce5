package storetest

import (
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var stateTests = []test{
	{"pause and resume", statePause},
	{"park", statePark},
	{"plan by compare-and-set", statePlan},
	{"plan from and to never", statePlanNever},
}

func statePause(b *bed) {
	b.apply(Task(app, "t", noon))
	pause := store.PauseParams{Task: ax.NewTaskID(app, "t"), Paused: true, Until: noon.Add(time.Hour), Actor: "adam", Now: noon}
	b.must(b.s.SetPaused(b.Context(), pause))
	b.must(b.s.SetPaused(b.Context(), pause)) // again: no change, no audit row
	got := b.task("t")
	equal(b, "paused", got.Paused, true)
	equal(b, "until", got.PausedUntil, pause.Until)
	equal(b, "revision", got.Revision, 1)

	pause.Paused = false // Until does not matter then
	b.must(b.s.SetPaused(b.Context(), pause))
	got = b.task("t")
	equal(b, "paused", got.Paused, false)
	equal(b, "until", got.PausedUntil, time.Time{})

	trail, err := b.s.AuditTrail(b.Context(), ax.AuditFilter{App: app, Object: "t"})
	b.must(err)
	equal(b, "rows in the trail", len(trail), 3)
	equal(b, "newest", trail[0].Action, "task.resume")
	equal(b, "before it", trail[1].Action+" by "+trail[1].Actor, "task.pause by adam")

	only, err := b.s.AuditTrail(b.Context(), ax.AuditFilter{App: app, Object: "t", Actions: []string{store.ActionPause}, Limit: 1})
	b.must(err)
	equal(b, "pauses in the trail", len(only), 1)
	equal(b, "the pause's instant", only[0].At, noon)

	pause.Task = 42
	b.wantErr(b.s.SetPaused(b.Context(), pause), store.ErrNotFound)
}

func statePark(b *bed) {
	b.apply(Task(app, "t", noon))
	park := store.ParkParams{Task: ax.NewTaskID(app, "t"), Reason: strings.Repeat("长", 1000), Now: noon}
	b.must(b.s.SetParked(b.Context(), park))
	b.must(b.s.SetParked(b.Context(), park)) // again: no change, no audit row
	got := b.task("t").Parked
	if len(got) > store.MaxMessage || !strings.HasPrefix(got, "长长") || !strings.Contains(got, "bytes cut") {
		b.Errorf("long reason became %d bytes: %.30s", len(got), got)
	}
	park.Reason = ""
	b.must(b.s.SetParked(b.Context(), park))
	equal(b, "parked", b.task("t").Parked, "")
	trail, err := b.s.AuditTrail(b.Context(), ax.AuditFilter{App: app, Object: "t"})
	b.must(err)
	equal(b, "rows in the trail", len(trail), 3)
	equal(b, "newest", trail[0].Action, "task.unpark")
	equal(b, "before it", trail[1].Action+" by "+trail[1].Actor, "task.park by the host")
	if !strings.HasPrefix(string(trail[1].Detail), `{"reason":"长长`) {
		b.Errorf("its detail: %.30s", trail[1].Detail)
	}
	park.Task = 42
	b.wantErr(b.s.SetParked(b.Context(), park), store.ErrNotFound)
}

func statePlan(b *bed) {
	row := fullTask()
	b.apply(row)
	state := ax.TaskState{
		NextAt: noon.Add(5 * time.Minute), PrevAt: noon.Add(4 * time.Minute), Planned: []time.Time{noon.Add(6 * time.Minute)},
		PlanVersion: "def", AnchorAt: noon.Add(time.Second), Paused: false, Parked: "not looked at", Failures: 99,
	}
	save := func(from time.Time) bool {
		ok, err := b.s.SavePlan(b.Context(), row.ID, from, state)
		b.must(err)
		return ok
	}
	equal(b, "saved from a time that is not there", save(noon), false)
	equal(b, "next", b.task(row.Name).NextAt, row.NextAt)
	equal(b, "saved", save(row.NextAt), true)
	equal(b, "saved again", save(row.NextAt), false)
	want := state
	want.Paused, want.PausedUntil, want.Parked, want.Failures = row.Paused, row.PausedUntil, row.Parked, row.Failures
	equal(b, "state", b.task(row.Name).TaskState, want)

	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{row.ID}}))
	equal(b, "saved for a deleted task", save(state.NextAt), false)
}

func statePlanNever(b *bed) {
	row := Task(app, "t", time.Time{})
	b.apply(row)
	for _, step := range []struct{ from, to time.Time }{{time.Time{}, noon}, {noon, time.Time{}}, {time.Time{}, noon}} {
		ok, err := b.s.SavePlan(b.Context(), row.ID, step.from, ax.TaskState{NextAt: step.to})
		b.must(err)
		equal(b, "saved", ok, true)
		equal(b, "next", b.task("t").NextAt, step.to)
	}
}
