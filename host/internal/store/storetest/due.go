package storetest

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var dueTests = []test{
	{"rows of a span", dueRows},
	{"the row before", dueBefore},
	{"counts", dueCounts},
}

// due writes an instance of task "t" so many minutes after noon.
func (b *bed) due(minute int, kind ax.Kind, status ax.Status) ax.Instance {
	b.Helper()
	i := b.newInstance("t", time.Duration(minute)*time.Minute)
	i.Kind, i.Status = kind, status
	if status == ax.StatusMissed {
		i.Missed, i.MissedUntil = 3, i.ScheduledAt.Add(2*time.Minute)
	}
	b.insert(i)
	return i
}

func dueRows(b *bed) {
	b.due(-9, ax.KindScheduled, ax.StatusRunning)
	missed := b.due(-4, ax.KindScheduled, ax.StatusMissed)
	b.due(-3, ax.KindBackfill, ax.StatusRunning)
	first := b.due(0, ax.KindScheduled, ax.StatusSkipped)
	again := b.due(0, ax.KindBackfill, ax.StatusTriggered)
	b.due(1, ax.KindManual, ax.StatusRunning)
	b.due(2, ax.KindScheduled, ax.StatusRunning)
	other := b.newInstance("u", time.Second)
	b.insert(other)

	got, err := b.s.DueRows(b.Context(), app, "t", noon, noon.Add(2*time.Minute))
	b.must(err)
	equal(b, "rows", got, []store.DueRow{
		{ID: missed.ID, ScheduledAt: missed.ScheduledAt, Kind: ax.KindScheduled, Status: ax.StatusMissed, MissedUntil: missed.MissedUntil},
		{ID: again.ID, ScheduledAt: noon, Kind: ax.KindBackfill, Status: ax.StatusTriggered},
		{ID: first.ID, ScheduledAt: noon, Kind: ax.KindScheduled, Status: ax.StatusSkipped},
	})
	got, err = b.s.DueRows(b.Context(), app, "none", noon, noon.Add(time.Minute))
	b.must(err)
	equal(b, "rows of a task without any", len(got), 0)
}

func dueBefore(b *bed) {
	b.due(0, ax.KindScheduled, ax.StatusRunning)
	last := b.due(1, ax.KindScheduled, ax.StatusRunning)
	b.due(2, ax.KindBackfill, ax.StatusRunning)
	got, err := b.s.InstanceBefore(b.Context(), app, "t", noon.Add(time.Hour))
	b.must(err)
	equal(b, "the row before", got, last)
	_, err = b.s.InstanceBefore(b.Context(), app, "t", noon)
	b.wantErr(err, ax.ErrNotFound)
}

func dueCounts(b *bed) {
	for minute := range 6 {
		b.due(minute, ax.KindBackfill, ax.StatusTriggered)
	}
	b.due(0, ax.KindScheduled, ax.StatusTriggered)
	b.due(6, ax.KindBackfill, ax.StatusRunning)
	f := ax.InstanceFilter{App: app, Task: "t", Kinds: []ax.Kind{ax.KindBackfill}, Since: noon.Add(time.Minute)}
	got, err := b.s.CountInstances(b.Context(), f)
	b.must(err)
	equal(b, "counts", got, map[ax.Status]int{ax.StatusTriggered: 5, ax.StatusRunning: 1})

	f.Kinds = []ax.Kind{ax.KindScheduled, ax.KindManual}
	f.Since = time.Time{}
	list, err := b.s.Instances(b.Context(), f)
	b.must(err)
	equal(b, "instances of other kinds", len(list), 1)
}
