package storetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

var instanceTests = []test{
	{"filter", instanceFilter},
	{"pages", instancePages},
	{"unfinished", instanceUnfinished},
	{"unfinished while writing", instanceUnfinishedWriting},
	{"last of each task", instanceLast},
}

// number tells instances apart by their due time in minutes after noon.
func numbers(is []ax.Instance) []int {
	all := []int{}
	for _, i := range is {
		all = append(all, int(i.ScheduledAt.Sub(noon)/time.Minute))
	}
	return all
}

// insertNumbered writes instances 0 to n-1 of task t, and sets each with f.
func (b *bed) insertNumbered(n int, f func(n int, i *ax.Instance)) []ax.Instance {
	var all []ax.Instance
	for k := range n {
		i := b.newInstance("t", time.Duration(k)*time.Minute)
		f(k, &i)
		all = append(all, i)
	}
	b.insert(all...)
	return all
}

func instanceFilter(b *bed) {
	all := b.insertNumbered(9, func(n int, i *ax.Instance) {
		switch {
		case n == 8:
			i.App = "other"
		case n >= 6:
			i.TaskID, i.TaskName = ax.NewTaskID(app, "u"), "u"
		case n%2 == 1:
			i.Status = ax.StatusMissed
		}
		if n == 5 {
			i.Status = ax.StatusSkipped
		}
	})
	both := []ax.Status{ax.StatusMissed, ax.StatusSkipped, ax.StatusMissed}
	for name, c := range map[string]struct {
		filter ax.InstanceFilter
		want   []int
	}{
		"all":            {ax.InstanceFilter{}, []int{8, 7, 6, 5, 4, 3, 2, 1, 0}},
		"app":            {ax.InstanceFilter{App: app}, []int{7, 6, 5, 4, 3, 2, 1, 0}},
		"other app":      {ax.InstanceFilter{App: "other"}, []int{8}},
		"task":           {ax.InstanceFilter{App: app, Task: "u"}, []int{7, 6}},
		"task, any app":  {ax.InstanceFilter{Task: "u"}, []int{7, 6}},
		"unknown task":   {ax.InstanceFilter{App: app, Task: "x"}, []int{}},
		"status":         {ax.InstanceFilter{App: app, Statuses: both[:1]}, []int{3, 1}},
		"statuses":       {ax.InstanceFilter{App: app, Statuses: both}, []int{5, 3, 1}},
		"statuses, task": {ax.InstanceFilter{App: app, Task: "t", Statuses: both}, []int{5, 3, 1}},
		"statuses, some": {ax.InstanceFilter{Statuses: both, Limit: 2}, []int{5, 3}},
		"since":          {ax.InstanceFilter{App: app, Since: noon.Add(6 * time.Minute)}, []int{7, 6}},
		"until":          {ax.InstanceFilter{App: app, Until: noon.Add(2 * time.Minute)}, []int{1, 0}},
		"before":         {ax.InstanceFilter{App: app, Before: all[2].ID}, []int{1, 0}},
		"limit":          {ax.InstanceFilter{App: app, Limit: 2}, []int{7, 6}},
	} {
		got, err := b.s.Instances(b.Context(), c.filter)
		b.must(err)
		equal(b, name, numbers(got), c.want)
	}
	one, err := b.s.Instances(b.Context(), ax.InstanceFilter{App: app, Limit: 1})
	b.must(err)
	equal(b, "instance", one[0], all[7])
}

func instancePages(b *bed) {
	b.insertNumbered(250, func(n int, i *ax.Instance) {
		if n%2 == 0 {
			i.Status = ax.StatusMissed
		}
	})
	for name, f := range map[string]ax.InstanceFilter{
		"all":      {App: app},
		"statuses": {App: app, Statuses: []ax.Status{ax.StatusMissed, ax.StatusRunning}},
	} {
		var sizes []int
		want := 249
		for {
			page, err := b.s.Instances(b.Context(), f)
			b.must(err)
			if len(page) == 0 {
				break
			}
			for _, n := range numbers(page) {
				if n != want {
					b.Fatalf("%s: got number %d, want %d", name, n, want)
				}
				want--
			}
			sizes = append(sizes, len(page))
			f.Before = page[len(page)-1].ID
		}
		equal(b, name, sizes, []int{100, 100, 50})
	}
}

func instanceUnfinished(b *bed) {
	begin := []ax.Status{ax.StatusTriggered, ax.StatusDispatched, ax.StatusRunning, ax.StatusMissed, ax.StatusSkipped, ax.StatusRunning, ax.StatusRunning}
	all := b.insertNumbered(len(begin), func(n int, i *ax.Instance) { i.Status = begin[n] })
	b.applied(ax.Change{Move: move(all[5], ax.StatusSuccess)})
	b.applied(ax.Change{Move: move(all[6], ax.StatusRetrying)})
	elsewhere := b.newInstance("t", time.Hour)
	elsewhere.App = "other"
	b.insert(elsewhere)

	got := map[int]ax.Status{}
	for i, err := range b.s.Unfinished(b.Context(), app) {
		b.must(err)
		got[numbers([]ax.Instance{i})[0]] = i.Status
	}
	equal(b, "unfinished", got, map[int]ax.Status{
		0: ax.StatusTriggered, 1: ax.StatusDispatched, 2: ax.StatusRunning, 6: ax.StatusRetrying,
	})
	n := 0
	for _, err := range b.s.Unfinished(b.Context(), app) {
		b.must(err)
		if n++; n == 2 {
			break
		}
	}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	for _, err := range b.s.Unfinished(ctx, app) {
		b.wantErr(err, context.Canceled)
	}
}

// instanceUnfinishedWriting changes rows while the loop reads them: the loop
// must see each one once, and neither side may block the other.
func instanceUnfinishedWriting(b *bed) {
	all := b.insertNumbered(500, func(int, *ax.Instance) {})
	seen := map[ax.InstanceID]int{}
	for i, err := range b.s.Unfinished(b.Context(), app) {
		b.must(err)
		seen[i.ID]++
		if len(seen)%100 == 1 {
			b.applied(ax.Change{Move: move(i, ax.StatusRetrying)})
		}
	}
	equal(b, "instances seen", len(seen), len(all))
	for id, n := range seen {
		equal(b, id.String(), n, 1)
	}
}

func instanceLast(b *bed) {
	b.apply(Task(app, "t", noon), Task(app, "u", noon), Task(app, "idle", noon), Task(app, "gone", noon))
	b.insertNumbered(6, func(n int, i *ax.Instance) {
		if n%2 == 1 {
			i.TaskID, i.TaskName = ax.NewTaskID(app, "u"), "u"
		}
		i.Params, i.Data, i.Error, i.Message = json.RawMessage(`{}`), json.RawMessage(`1`), "stack", "short"
	})
	gone := b.newInstance("gone", 0)
	b.insert(gone)
	b.must(b.s.ApplyTasks(b.Context(), store.ApplyParams{App: app, Now: noon, Delete: []ax.TaskID{gone.TaskID}}))
	last, err := b.s.LastInstances(b.Context(), app)
	b.must(err)
	equal(b, "tasks", len(last), 2)
	for name, want := range map[string]int{"t": 4, "u": 5} {
		i := last[ax.NewTaskID(app, name)]
		equal(b, name, numbers([]ax.Instance{i}), []int{want})
		equal(b, "message", i.Message, "short")
		if i.Params != nil || i.Data != nil || i.Error != "" {
			b.Errorf("%s: the large columns were read too", name)
		}
	}
}
