package storetest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var (
	ownerTests = []test{
		{"tasks of buckets", ownerBuckets},
		{"one of many takes a task", ownerMove},
		{"what dead hosts left", ownerUnfinished},
		{"retries that are overdue", ownerRetries},
		{"what runs of a task", ownerActive},
	}
	versionTests = []test{
		{"what counts and what does not", versionCounts},
		{"changes since", versionSince},
		{"no change is missed by a reader at the same time", versionRace},
	}
)

func ownerBuckets(b *bed) {
	var rows []ax.TaskRow
	for n := range 50 {
		rows = append(rows, Task(app, fmt.Sprintf("t%02d", n), noon))
	}
	b.apply(rows...)
	gone := rows[7]
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{gone.ID}}))
	other := Task("other", "t00", noon)
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: "other", Now: noon, Upsert: []ax.TaskRow{other}}))
	var buckets []int
	var want []string
	for _, row := range rows[:10] {
		buckets = append(buckets, row.ID.Bucket())
	}
	buckets = append(buckets, other.ID.Bucket())
	for _, row := range rows {
		if row.ID != gone.ID && slices.Contains(buckets, row.ID.Bucket()) {
			want = append(want, row.Name)
		}
	}
	got, err := b.s.TasksIn(b.Context(), app, buckets)
	b.must(err)
	var names []string
	for _, row := range got {
		names = append(names, row.Name)
		equal(b, "row", row, b.task(row.Name))
	}
	equal(b, "tasks", names, want)
	got, err = b.s.TasksIn(b.Context(), app, nil)
	b.must(err)
	equal(b, "tasks of no bucket", len(got), 0)
}

func ownerMove(b *bed) {
	b.apply(Task(app, "t", noon))
	id := ax.NewTaskID(app, "t")
	was, err := b.s.TaskOwner(b.Context(), id)
	b.must(err)
	equal(b, "owner at first", was, store.TaskOwner{})
	var wins atomic.Int64
	var wg sync.WaitGroup
	var winner atomic.Value
	for k, host := range b.hosts() {
		wg.Go(func() {
			name := fmt.Sprintf("host-%d", k)
			ok, err := host.s.MoveOwner(b.Context(), id, was.Fence, name)
			if err != nil {
				b.Error(err)
			}
			if ok {
				wins.Add(1)
				winner.Store(name)
			}
		})
	}
	wg.Wait()
	equal(b, "winners", wins.Load(), 1)
	now, err := b.s.TaskOwner(b.Context(), id)
	b.must(err)
	equal(b, "owner", now, store.TaskOwner{Incarnation: winner.Load().(string), Fence: was.Fence + 1})
	ok, err := b.s.MoveOwner(b.Context(), id, was.Fence, "late")
	if ok || err != nil {
		b.Errorf("with an old fence: %v, %v", ok, err)
	}
	ok, err = b.s.MoveOwner(b.Context(), id, now.Fence, "next")
	if !ok || err != nil {
		b.Errorf("with the new fence: %v, %v", ok, err)
	}
	_, err = b.s.TaskOwner(b.Context(), 42)
	b.wantErr(err, store.ErrNotFound)
}

func ownerUnfinished(b *bed) {
	owners := []string{"host-1-a", "host-2-b", "host-3-c"}
	all := b.insertNumbered(9, func(n int, i *ax.Instance) {
		i.Owner = owners[n%3]
		if n >= 6 {
			i.Status = ax.StatusDispatched
		}
	})
	b.applied(ax.Change{Move: move(all[0], ax.StatusSuccess)})
	var got []int
	for i, err := range b.s.UnfinishedOf(b.Context(), app, owners[:2]) {
		b.must(err)
		got = append(got, numbers([]ax.Instance{i})...)
	}
	slices.Sort(got)
	equal(b, "left by two hosts", got, []int{1, 3, 4, 6, 7})
	for i, err := range b.s.UnfinishedOf(b.Context(), app, nil) {
		b.Errorf("left by nobody: %v, %v", i, err)
	}
}

func ownerRetries(b *bed) {
	fail := func(i ax.Instance, retry time.Time) {
		m := move(i, ax.StatusRetrying)
		m.New.RetryAt = retry
		b.applied(ax.Change{Move: m})
	}
	all := b.insertNumbered(7, func(int, *ax.Instance) {})
	for n, i := range all[:6] { // the last one runs
		fail(i, noon.Add(time.Duration(n)*time.Second))
	}
	other := b.newInstance("another", 0)
	other.App = "other"
	b.insert(other)
	fail(other, noon)
	due := func(after ax.InstanceID, limit int) []int {
		list, err := b.s.RetriesDue(b.Context(), app, noon.Add(4*time.Second), after, limit)
		b.must(err)
		return numbers(list)
	}
	equal(b, "overdue", due(0, 10), []int{0, 1, 2, 3})
	equal(b, "the first of them", due(0, 2), []int{0, 1})
	equal(b, "the next ones", due(all[1].ID, 2), []int{2, 3})
	equal(b, "after the last", due(all[3].ID, 2), []int{})
}

func ownerActive(b *bed) {
	all := b.insertNumbered(6, func(n int, i *ax.Instance) {
		if n%2 == 1 {
			i.Status = ax.StatusDispatched
		}
		if n == 5 {
			i.Status = ax.StatusTriggered
		}
	})
	other := b.newInstance("another", 0)
	b.insert(other)
	b.applied(ax.Change{Move: move(all[0], ax.StatusSuccess)})
	count := func(task ax.TaskID) int {
		n, err := b.s.CountActive(b.Context(), app, task)
		b.must(err)
		return n
	}
	equal(b, "active", count(all[0].TaskID), 4)
	equal(b, "active", count(other.TaskID), 1)
	equal(b, "active of nothing", count(42), 0)
	n, err := b.s.CountActive(b.Context(), "empty", all[0].TaskID)
	b.must(err)
	equal(b, "active of an app without any", n, 0)
}

func (b *bed) version() int64 {
	b.Helper()
	v, err := b.s.TasksVersion(b.Context(), app)
	b.must(err)
	return v
}

func versionCounts(b *bed) {
	equal(b, "at first", b.version(), 0)
	row := Task(app, "t", noon)
	redefined := row
	redefined.Description = "another one"
	last := b.version()
	for _, step := range []struct {
		name   string
		counts bool
		do     func()
	}{
		{"new", true, func() { b.apply(row) }},
		{"the same", false, func() { b.apply(row) }},
		{"another app's", false, func() {
			b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: "other", Now: noon, Upsert: []ax.TaskRow{Task("other", "t", noon)}}))
		}},
		{"due time moved on", false, func() {
			b.applied(ax.Change{Plan: &ax.Plan{Task: row.ID, From: noon, To: noon.Add(time.Hour)}})
		}},
		{"redefined", true, func() { b.apply(redefined) }},
		{"paused", true, func() { b.must(b.s.SetPaused(b.Context(), store.PauseParams{Task: row.ID, Paused: true, Now: noon})) }},
		{"paused again", false, func() { b.must(b.s.SetPaused(b.Context(), store.PauseParams{Task: row.ID, Paused: true, Now: noon})) }},
		{"parked", true, func() { b.must(b.s.SetParked(b.Context(), store.ParkParams{Task: row.ID, Reason: "r", Now: noon})) }},
		{"deleted", true, func() {
			b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{row.ID}}))
		}},
	} {
		step.do()
		if now := b.version(); (now > last) != step.counts || now < last {
			b.Errorf("%s: from version %d to %d", step.name, last, now)
		} else {
			last = now
		}
	}
}

func versionSince(b *bed) {
	b.apply(Task(app, "a", noon), Task(app, "b", noon), Task(app, "c", noon))
	since := b.version()
	changes := func(from int64) store.TaskChanges {
		c, err := b.s.TasksSince(b.Context(), app, from)
		b.must(err)
		return c
	}
	equal(b, "nothing new", changes(since), store.TaskChanges{Version: since})
	equal(b, "everything", len(changes(0).Changed), 3)
	row := b.task("b")
	row.Description = "new"
	b.apply(row)
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{ax.NewTaskID(app, "c")}}))
	got := changes(since)
	equal(b, "changes", got, store.TaskChanges{
		Version: b.version(), Changed: []ax.TaskRow{b.task("b")}, Deleted: []ax.TaskID{ax.NewTaskID(app, "c")},
	})
	equal(b, "nothing new", changes(got.Version), store.TaskChanges{Version: got.Version})
}

// versionRace: three hosts change tasks while one reads the changes step by step.
// It must have seen all of them in the end.
func versionRace(b *bed) {
	const n = 20
	var wg sync.WaitGroup
	hosts := b.hosts()
	for h, host := range hosts {
		wg.Go(func() {
			for k := range n {
				err := host.s.ApplyTasks(b.Context(), store.ApplyParams{
					App: app, Now: noon, Upsert: []ax.TaskRow{Task(app, fmt.Sprintf("t-%d-%02d", h, k), noon)},
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	seen := map[string]bool{}
	var version int64
	for end := false; !end; {
		select {
		case <-done:
			end = true
		default:
		}
		c, err := b.s.TasksSince(b.Context(), app, version)
		b.must(err)
		version = c.Version
		for _, row := range c.Changed {
			seen[row.Name] = true
		}
	}
	equal(b, "tasks seen", len(seen), n*len(hosts))
}
