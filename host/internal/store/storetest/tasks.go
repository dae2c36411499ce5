package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var taskTests = []test{
	{"round trip", taskRoundTrip},
	{"listed by name, per app, without the deleted", taskList},
	{"revision grows with the definition only", taskRevision},
	{"state is taken with a new plan", taskStateGiven},
	{"state is kept with the same plan", taskStateKept},
	{"a plan that moved on is not replaced unseen", taskStateSeen},
	{"deleted and made again", taskRevival},
	{"only the revision that was seen is replaced", taskRevisions},
	{"all or nothing", taskAtomic},
	{"names differ by case", taskCase},
	{"many at once", taskMany},
}

func fullTask() ax.TaskRow {
	repeat := 3
	return ax.TaskRow{
		Task: ax.Task{
			ID: ax.NewTaskID(app, "对账-full"), App: app, Name: "对账-full", Group: "finance", Description: "全部 «всё»",
			Labels: map[string]string{"zone": "b", "disk": "ssd"}, Enabled: true,
			Schedule: ax.Schedule{
				Every: time.Minute, Anchor: noon, RepeatCount: &repeat, Timezone: "Asia/Shanghai",
				From: noon, Until: noon.Add(time.Hour), Calendar: "cn", OnClosed: ax.ClosedNext,
				Calendars: []string{"cn", "eu"}, Version: "abc",
			},
			Job:    ax.Use{Name: "exec", With: json.RawMessage(`{"argv":["a","b<c>"]}`)},
			Params: json.RawMessage(`{"day":"{{.Day}}"}`), ParamsFrom: &ax.Use{Name: "p/q"},
			Timeout: time.Minute, Grace: time.Second, Retry: ax.DefaultRetry(), Concurrency: 2,
			Overlap: ax.OverlapQueue, QueueLimit: 7, Misfire: ax.Misfire{Policy: ax.MisfireAll, Threshold: time.Minute, Window: time.Hour, Cap: 9},
			Notify: ax.Notify{To: []string{"ops"}, On: []string{"failed"}, After: 2}, Source: "conf.d/a.yaml:12",
		},
		TaskState: ax.TaskState{
			NextAt: noon.Add(time.Minute), PrevAt: noon, Planned: []time.Time{noon.Add(2 * time.Minute), noon.Add(3 * time.Minute)},
			PlanVersion: "abc", PlanDone: true, AnchorAt: noon, Paused: true, PausedUntil: noon.Add(time.Hour),
			Parked: "no plugin", Failures: 4,
		},
	}
}

func taskRoundTrip(b *bed) {
	row := fullTask()
	b.apply(row)
	want := row
	want.CreatedAt, want.UpdatedAt, want.CreatedBy, want.UpdatedBy, want.Revision = noon, noon, "eve", "eve", 1
	equal(b, "task", b.task(row.Name), want)
	all, err := b.s.Tasks(b.Context(), app)
	b.must(err)
	equal(b, "tasks", all, []ax.TaskRow{want})
}

func taskList(b *bed) {
	b.apply(Task(app, "b", noon), Task(app, "a", noon), Task(app, "gone", noon))
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: "other", Now: noon, Upsert: []ax.TaskRow{Task("other", "c", noon)}}))
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{
		ax.NewTaskID(app, "gone"), ax.NewTaskID(app, "never there"), ax.NewTaskID("other", "c"),
	}}))
	for list, want := range map[string]string{app: "a b", "other": "c", "none": ""} {
		rows, err := b.s.Tasks(b.Context(), list)
		b.must(err)
		var names []string
		for _, r := range rows {
			names = append(names, r.Name)
		}
		equal(b, "tasks of "+list, strings.Join(names, " "), want)
	}
	_, err := b.s.Task(b.Context(), app, "gone")
	b.wantErr(err, store.ErrNotFound)
}

func taskRevision(b *bed) {
	row := Task(app, "t", noon)
	apply := func(actor string, row ax.TaskRow) ax.TaskRow {
		b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Actor: actor, Now: noon.Add(time.Hour), Upsert: []ax.TaskRow{row}}))
		return b.task("t")
	}
	b.apply(row)
	row.Source, row.NextAt, row.Failures = "tasks.yaml:99", noon.Add(time.Minute), 1
	got := apply("adam", row)
	equal(b, "revision after a move in the file", got.Revision, 1)
	equal(b, "source", got.Source, "tasks.yaml:99")
	equal(b, "editor", got.UpdatedBy, "eve")
	row.Enabled = false
	got = apply("adam", row)
	equal(b, "revision after a change", got.Revision, 2)
	equal(b, "enabled", got.Enabled, false)
	equal(b, "editor", got.UpdatedBy, "adam")
	equal(b, "time of the edit", got.UpdatedAt, noon.Add(time.Hour))
	equal(b, "creator", got.CreatedBy, "eve")
	equal(b, "revision after nothing", apply("adam", row).Revision, 2)

	trail, err := b.s.AuditTrail(b.Context(), ax.AuditFilter{App: app, Object: "t"})
	b.must(err)
	var actions []string
	for _, r := range trail {
		actions = append(actions, r.Actor+" "+r.Action)
	}
	equal(b, "audit trail", actions, []string{"adam task.update", "eve task.create"})
	var detail struct {
		Revision int
		Before   struct{ Enabled bool }
	}
	b.must(json.Unmarshal(trail[0].Detail, &detail))
	equal(b, "revision in the trail", detail.Revision, 2)
	equal(b, "definition before, in the trail", detail.Before.Enabled, true)
}

func taskStateGiven(b *bed) {
	row := fullTask()
	b.apply(row)
	row.TaskState = ax.TaskState{NextAt: noon.Add(time.Hour), PlanVersion: "new"}
	b.apply(row)
	equal(b, "state", b.task(row.Name).TaskState, row.TaskState)
}

// taskStateKept: whoever applies definitions has read the row a moment ago, and
// a due time may have been written since.
func taskStateKept(b *bed) {
	row := fullTask()
	b.apply(row)
	want := b.task(row.Name).TaskState
	row.Description = "changed"
	row.TaskState = ax.TaskState{NextAt: noon.Add(-time.Hour), PlanVersion: want.PlanVersion}
	b.apply(row)
	equal(b, "state", b.task(row.Name).TaskState, want)
	equal(b, "description", b.task(row.Name).Description, "changed")
}

// taskStateSeen: a plan that moved on is neither replaced nor deleted unseen,
// and nothing else of the set is written.
func taskStateSeen(b *bed) {
	moved, other := Task(app, "moved", noon), Task(app, "other", noon)
	b.apply(moved, other)
	apply := func(p store.ApplyParams) error {
		p.App, p.Actor, p.Now = app, "adam", noon
		return b.s.ApplyTasks(b.Context(), p)
	}
	moved.TaskState = ax.TaskState{NextAt: noon.Add(time.Hour), PlanVersion: "new"}
	other.Description = "changed"
	seen := map[ax.TaskID]time.Time{moved.ID: noon.Add(time.Second)}
	b.wantErr(apply(store.ApplyParams{Upsert: []ax.TaskRow{other, moved}, Seen: seen}), ax.ErrMoved)
	b.wantErr(apply(store.ApplyParams{Upsert: []ax.TaskRow{other}, Delete: []ax.TaskID{moved.ID}, Seen: seen}), ax.ErrMoved)
	equal(b, "description", b.task("other").Description, Task(app, "other", noon).Description)
	equal(b, "next due time", b.task("moved").NextAt, noon)

	seen[moved.ID] = noon
	b.must(apply(store.ApplyParams{Upsert: []ax.TaskRow{other, moved}, Seen: seen}))
	equal(b, "next due time", b.task("moved").NextAt, noon.Add(time.Hour))
	seen[moved.ID] = noon.Add(time.Hour)
	b.must(apply(store.ApplyParams{Delete: []ax.TaskID{moved.ID}, Seen: seen}))
	_, err := b.s.Task(b.Context(), app, "moved")
	b.wantErr(err, store.ErrNotFound)
}

func taskRevival(b *bed) {
	row := Task(app, "t", noon)
	b.apply(row)
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Actor: "adam", Now: noon, Delete: []ax.TaskID{row.ID}}))
	b.wantErr(b.s.SetParked(b.Context(), store.ParkParams{Task: row.ID, Reason: "x"}), store.ErrNotFound)
	row.NextAt = noon.Add(time.Hour)
	b.apply(row)
	got := b.task("t")
	equal(b, "next", got.NextAt, row.NextAt)
	equal(b, "revision", got.Revision, 2)
	trail, err := b.s.AuditTrail(b.Context(), ax.AuditFilter{App: app})
	b.must(err)
	var actions []string
	for _, r := range trail {
		actions = append(actions, r.Action)
	}
	equal(b, "audit trail", actions, []string{"task.create", "task.delete", "task.create"})
}

func taskAtomic(b *bed) {
	wrong := Task("elsewhere", "x", noon)
	err := b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Upsert: []ax.TaskRow{Task(app, "t", noon), wrong}})
	if err == nil {
		b.Fatal("a task of another app was taken")
	}
	twice := Task(app, "u", noon)
	err = b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Upsert: []ax.TaskRow{twice, twice}})
	if err == nil {
		b.Fatal("a task was taken twice")
	}
	rows, err := b.s.Tasks(b.Context(), app)
	b.must(err)
	equal(b, "tasks written by calls that failed", len(rows), 0)
}

func taskCase(b *bed) {
	b.apply(Task(app, "Name", noon), Task(app, "name", noon.Add(time.Hour)))
	equal(b, "Name", b.task("Name").NextAt, noon)
	equal(b, "name", b.task("name").NextAt, noon.Add(time.Hour))
}

func taskMany(b *bed) {
	const n = 2500 // more than one lookup, and not a multiple of its size
	rows := make([]ax.TaskRow, n)
	for i := range rows {
		rows[i] = Task(app, strings.Repeat("x", i%50)+string(rune('一'+i)), noon)
	}
	b.apply(rows...)
	for i := range rows {
		rows[i].Group = "changed"
	}
	b.apply(rows...)
	got, err := b.s.Tasks(b.Context(), app)
	b.must(err)
	equal(b, "tasks", len(got), n)
	for _, r := range got {
		if r.Revision != 2 || r.Group != "changed" {
			b.Fatalf("task %q: revision %d, group %q", r.Name, r.Revision, r.Group)
		}
	}
}
