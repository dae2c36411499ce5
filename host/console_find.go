package host

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
	"github.com/axsched/ax/host/internal/engine"
)

// FindTasks implements console.Backend. It walks the tasks in memory; only of
// those on the page the database is asked.
func (p pages) FindTasks(ctx context.Context, s console.TaskSearch) (console.TaskPage, error) {
	views, err := p.all(ctx)
	if err != nil {
		return console.TaskPage{}, err
	}
	return p.find(ctx, views, s)
}

// find searches some tasks.
func (p pages) find(ctx context.Context, views []engine.View, s console.TaskSearch) (console.TaskPage, error) {
	f := finder{search: s, text: strings.ToLower(strings.TrimSpace(s.Text)), now: time.Now(), owner: p.ownerOf()}
	groups, jobs, nodes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var found []string
	for i := range views {
		v := &views[i]
		if v.Row.Group != "" {
			groups[v.Row.Group] = true
		}
		jobs[v.Row.Job.Name] = true
		if owner := f.owner(v); owner != "" {
			nodes[owner] = true
		}
		if f.matches(v) {
			found = append(found, v.Row.Name)
		}
	}
	slices.Sort(found)
	page := console.TaskPage{
		Total: len(found), Groups: slices.Sorted(maps.Keys(groups)), Jobs: slices.Sorted(maps.Keys(jobs)), Nodes: slices.Sorted(maps.Keys(nodes)),
	}
	from := min(len(found), (max(s.Page, 1)-1)*s.Size)
	var err error
	page.Tasks, err = p.items(ctx, found[from:min(len(found), from+s.Size)])
	return page, err
}

// items shows tasks with their last instances, in the order of their names.
func (p pages) items(ctx context.Context, names []string) ([]console.TaskItem, error) {
	if len(names) == 0 {
		return nil, nil
	}
	views, err := p.h.views(ctx, names...)
	if err != nil {
		return nil, err
	}
	failing, err := p.failing(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(views, func(a, b engine.View) int { return cmp.Compare(a.Row.Name, b.Row.Name) })
	items, now, show := make([]console.TaskItem, len(views)), time.Now(), newShowing(p.h.catalog(), p.h.redactor)
	for i := range views {
		row := views[i].Row
		row.Schedule, row.Failures = show.schedule(row.Schedule), failing[row.ID]
		items[i].TaskView = api.NewTaskView(row, now)
		items[i].Running = views[i].Running
		if items[i].State == api.TaskPaused && items[i].NextAt.IsZero() {
			items[i].NextAt = p.nextAfterPause(ctx, views[i].Row)
		}
		items[i].Last, err = p.h.store.Instances(ctx, ax.InstanceFilter{App: row.App, Task: row.Name, Limit: console.LastRuns})
		if err != nil {
			return nil, fmt.Errorf("read the last runs of %s: %w", row.Name, err)
		}
	}
	return items, nil
}

// seenFor is how long what other hosts know of their tasks is kept: all of it is
// in the rows of all tasks, which are many.
const seenFor = 3 * time.Second

// seen keeps the views of all tasks.
type seen struct {
	mu    sync.Mutex
	at    time.Time
	views []engine.View
}

// all returns the views of all tasks with their failures in a row, as they were
// a moment ago if other hosts schedule some of them.
func (p pages) all(ctx context.Context) ([]engine.View, error) {
	alone := len(p.h.fleet.view.Snapshot().Owners.Nodes()) <= 1
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	if !alone && time.Since(p.seen.at) < seenFor {
		return p.seen.views, nil
	}
	views, err := p.h.views(ctx)
	if err != nil {
		return nil, err
	}
	failing, err := p.failing(ctx)
	if err != nil {
		return nil, err
	}
	for i := range views {
		views[i].Row.Failures = failing[views[i].Row.ID]
	}
	if !alone {
		p.seen.at, p.seen.views = time.Now(), views
	}
	return views, nil
}

// ownerOf returns a function that names the host which schedules a task.
func (p pages) ownerOf() func(*engine.View) string {
	owners := p.h.fleet.view.Snapshot().Owners
	return func(v *engine.View) string {
		node, _ := owners.Owner(v.Row.ID.Bucket())
		return node.Name
	}
}

// finder holds a search against tasks.
type finder struct {
	search console.TaskSearch
	text   string // in lower case
	now    time.Time
	owner  func(*engine.View) string
}

func (f *finder) matches(v *engine.View) bool {
	row := &v.Row
	return (f.search.Group == "" || f.search.Group == row.Group) &&
		(f.search.Job == "" || f.search.Job == row.Job.Name) &&
		(f.search.Node == "" || f.search.Node == f.owner(v)) &&
		f.inState(v) && f.hasText(v)
}

func (f *finder) inState(v *engine.View) bool {
	switch f.search.State {
	case "":
		return true
	case console.StateFailing:
		return v.Row.Failures > 0
	case console.StateRunning:
		return v.Running > 0
	}
	return string(api.MoodOf(v.Row, f.now)) == f.search.State
}

func (f *finder) hasText(v *engine.View) bool {
	if f.text == "" {
		return true
	}
	for _, text := range []string{v.Row.Name, v.Row.Group, v.Row.Description} {
		if strings.Contains(strings.ToLower(text), f.text) {
			return true
		}
	}
	for key, value := range v.Row.Labels {
		if strings.Contains(strings.ToLower(key+"="+value), f.text) {
			return true
		}
	}
	return false
}
