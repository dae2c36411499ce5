package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// parted is a store with partitions by day.
type parted struct {
	*store.Store
	*testing.T
	today time.Time // by the clock of the database
	n     int
}

const day = 24 * time.Hour

func newParted(t *testing.T, days int) *parted {
	s := storetest.OpenWith(t, store.Options{DSN: mysqltest.DSN(t), PartitionDays: days})
	now, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &parted{Store: s, T: t, today: now.Truncate(day)}
}

// row writes an instance that is due at due and made at made, with an event.
func (p *parted) row(due, made time.Time, change func(*ax.Instance)) ax.Instance {
	p.Helper()
	p.n++
	i := ax.Instance{
		ID: ax.InstanceID(ax.NewIDs(int64(p.n)).Next(made)), App: "a", TaskID: ax.TaskID(p.n), ScheduledAt: due,
		Kind: ax.KindScheduled, Status: ax.StatusSkipped, CreatedAt: made,
	}
	if change != nil {
		change(&i)
	}
	answer := make(chan error, 1)
	p.Submit(ax.Change{
		Insert: []ax.Instance{i},
		Events: []ax.Event{{ID: ax.NewIDs(int64(p.n)).Next(made), InstanceID: i.ID, At: made, Stage: ax.StageOutcome}},
		Done:   func(_ bool, err error) { answer <- err },
	})
	if err := <-answer; err != nil {
		p.Fatal(err)
	}
	return i
}

// where returns the names of the partitions of a table with their numbers of
// rows, without the empty ones.
func (p *parted) where(table string) string {
	p.Helper()
	names := texts(p.T, p.Store, "SELECT partition_name FROM information_schema.partitions WHERE table_schema = DATABASE() AND table_name = '"+
		table+"' AND partition_name IS NOT NULL ORDER BY partition_ordinal_position")
	var all []string
	for _, name := range names {
		var n int
		if err := p.ReadDB().QueryRow("SELECT count(*) FROM " + table + " PARTITION (" + name + ")").Scan(&n); err != nil {
			p.Fatal(err)
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s:%d", name, n))
		}
	}
	return strings.Join(all, " ")
}

func name(day time.Time) string { return day.Format("p20060102") }

func (p *parted) maintain(params store.PartitionParams) store.PartitionReport {
	p.Helper()
	params.App = "a"
	r, err := p.MaintainPartitions(p.Context(), params)
	if err != nil {
		p.Fatal(err)
	}
	return r
}

func (p *parted) wantRows(table, want string) {
	p.Helper()
	if got := p.where(table); got != want {
		p.Errorf("rows of %s are in %q, want %q", table, got, want)
	}
}

// TestPartitionsAhead: every row has a place, and what went into the last
// partition moves to that of its day once there is one.
func TestPartitionsAhead(t *testing.T) {
	t.Parallel()
	p := newParted(t, 1)
	now := p.today.Add(time.Hour)
	p.row(p.today.Add(-400*day), now, nil)
	p.row(p.today, now, nil)
	late := p.row(p.today.Add(3*day+time.Second), now, nil)
	p.wantRows("ax_instance", fmt.Sprintf("%s:1 %s:1 p_rest:1", name(p.today.Add(-day)), name(p.today)))
	p.wantRows("ax_log", name(p.today)+":3")

	r := p.maintain(store.PartitionParams{Ahead: 4})
	var want []string
	for _, table := range []string{"ax_instance", "ax_log"} {
		for n := 2; n <= 4; n++ {
			want = append(want, table+"."+name(p.today.Add(time.Duration(n)*day)))
		}
	}
	if !slices.Equal(r.Added, want) || !r.Until.Equal(p.today.Add(5*day)) || len(r.Dropped) > 0 {
		t.Errorf("%+v, want %v added", r, want)
	}
	p.wantRows("ax_instance", fmt.Sprintf("%s:1 %s:1 %s:1", name(p.today.Add(-day)), name(p.today), name(p.today.Add(3*day))))
	if got, err := p.Instance(t.Context(), late.ID); err != nil || !got.ScheduledAt.Equal(late.ScheduledAt) {
		t.Errorf("%+v, %v", got, err)
	}
	if r := p.maintain(store.PartitionParams{Ahead: 4}); len(r.Added) > 0 || !r.Until.Equal(p.today.Add(5*day)) {
		t.Errorf("again: %+v", r)
	}

	// Somebody drops the last one: what is due later waits for it.
	for _, table := range []string{"ax_instance", "ax_log"} {
		runSQL(t, p.Store, "ALTER TABLE "+table+" DROP PARTITION p_rest")
	}
	answer := make(chan error, 1)
	p.Submit(ax.Change{
		Insert: []ax.Instance{{ID: 1, App: "a", TaskID: 1, ScheduledAt: p.today.Add(30 * day), CreatedAt: now, Kind: ax.KindManual, Status: ax.StatusRunning}},
		Done:   func(_ bool, err error) { answer <- err },
	})
	if r := p.maintain(store.PartitionParams{Ahead: 5}); len(r.Added) != 2 {
		t.Errorf("without the last one: %+v", r)
	}
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

// TestPartitionsDropped: a day goes as a whole, and only if nothing in it is
// needed.
func TestPartitionsDropped(t *testing.T) {
	t.Parallel()
	longer := func(p *parted) []ax.KeptTasks {
		return []ax.KeptTasks{{Since: p.today.Add(-3 * day), IDs: []ax.TaskID{77, 78}}, {Since: p.today.Add(day), IDs: []ax.TaskID{1}}}
	}
	for what, c := range map[string]struct {
		add  func(*parted)
		gone bool
	}{
		"nothing else":   {func(*parted) {}, true},
		"another app's":  {func(p *parted) { p.row(p.today.Add(-day), p.today.Add(-day), func(i *ax.Instance) { i.App = "b" }) }, false},
		"another app's2": {func(p *parted) { p.row(p.today.Add(-day), p.today.Add(-day), func(i *ax.Instance) { i.App = "A" }) }, false},
		"not finished": {func(p *parted) {
			p.row(p.today.Add(-day), p.today.Add(-day), func(i *ax.Instance) { i.Status = ax.StatusRunning })
		}, false},
		"made late":                         {func(p *parted) { p.row(p.today.Add(-day), p.today.Add(time.Minute), nil) }, false},
		"one of a task that is kept longer": {func(p *parted) { p.row(p.today.Add(-day), p.today.Add(-day), func(i *ax.Instance) { i.TaskID = 77 }) }, false},
		"an old one of such a task": {func(p *parted) {
			p.row(p.today.Add(-day), p.today.Add(-4*day), func(i *ax.Instance) { i.TaskID = 77 })
		}, true},
		"younger": {func(p *parted) { p.row(p.today, p.today, nil) }, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newParted(t, 1)
			old := p.row(p.today.Add(-day), p.today.Add(-day).Add(time.Hour), nil)
			c.add(p)
			r := p.maintain(store.PartitionParams{Ahead: 1, Kept: ax.Kept{Since: p.today, Tasks: longer(p)}})
			_, err := p.Instance(t.Context(), old.ID)
			dropped := slices.Contains(r.Dropped, "ax_instance."+name(p.today.Add(-day)))
			if dropped != c.gone || (err != nil) != c.gone {
				t.Errorf("dropped %v, row: %v; want it gone: %v", r.Dropped, err, c.gone)
			}
			events, err := p.Events(t.Context(), ax.EventFilter{Instance: old.ID})
			if err != nil || (len(events) == 0) != c.gone {
				t.Errorf("events %v, %v; want them gone: %v", events, err, c.gone)
			}
			p.row(p.today.Add(-30*day), p.today, nil) // still has a place
		})
	}
}

// TestPartitionsNotDropped: days that are not over by then, and the last one.
func TestPartitionsNotDropped(t *testing.T) {
	t.Parallel()
	p := newParted(t, 1)
	if r := p.maintain(store.PartitionParams{Ahead: 1, Kept: ax.Kept{Since: p.today.Add(-time.Second)}}); len(r.Dropped) > 0 {
		t.Errorf("before the end of the day: %+v", r)
	}
	r := p.maintain(store.PartitionParams{Ahead: 1, Kept: ax.Kept{Since: p.today.Add(100 * day)}})
	if want := 2 * 2; len(r.Dropped) != want { // yesterday and today, of two tables
		t.Errorf("%+v, want %d dropped", r, want)
	}
	p.row(p.today, p.today, nil)
	p.wantRows("ax_instance", name(p.today.Add(day))+":1")
}

// TestUnpartitioned: where the tables have no partitions, as on a server that
// knows none, or since they had rows already, everything works by rows.
func TestUnpartitioned(t *testing.T) {
	t.Parallel()
	p := newParted(t, 1)
	runSQL(t, p.Store, "ALTER TABLE ax_instance REMOVE PARTITIONING", "ALTER TABLE ax_log REMOVE PARTITIONING")
	old := p.row(p.today.Add(-day), p.today.Add(-day), nil)
	r := p.maintain(store.PartitionParams{Ahead: 1, Kept: ax.Kept{Since: p.today}})
	if len(r.Added)+len(r.Dropped) > 0 || !r.Until.IsZero() {
		t.Errorf("%+v", r)
	}
	n, err := p.Purge(ax.Kept{App: "a", Since: p.today})(t.Context(), 10)
	if err != nil || n != 1 {
		t.Errorf("purged %d, %v", n, err)
	}
	if events, err := p.Events(t.Context(), ax.EventFilter{Instance: old.ID}); err != nil || len(events) > 0 {
		t.Errorf("events %v, %v", events, err)
	}
	// Without rows they get partitions.
	if r := p.maintain(store.PartitionParams{Ahead: 1}); len(r.Added) != 6 {
		t.Errorf("empty: %+v", r)
	}
}

// TestDropDays: what a host calls every few minutes, of which many do at once.
func TestDropDays(t *testing.T) {
	t.Parallel()
	p := newParted(t, 1)
	p.row(p.today.Add(-day), p.today.Add(-day), nil)
	var wg sync.WaitGroup
	var dropped atomic.Int64
	for range 6 {
		wg.Go(func() {
			n, _, err := p.DropDays(t.Context(), ax.Kept{App: "a", Since: p.today})
			if err != nil {
				t.Error(err)
			}
			dropped.Add(int64(n))
		})
	}
	wg.Wait()
	if dropped.Load() != 2 {
		t.Errorf("%d partitions dropped, want 2", dropped.Load())
	}
	if n, byDay, err := p.DropDays(t.Context(), ax.Kept{App: "a", Since: p.today}); n != 0 || !byDay || err != nil {
		t.Errorf("again: %d, %v, %v", n, byDay, err)
	}
	if n, byDay, err := storetest.Open(t).DropDays(t.Context(), ax.Kept{App: "a", Since: p.today}); n != 0 || byDay || err != nil {
		t.Errorf("SQLite: %d, %v, %v", n, byDay, err)
	}
}
