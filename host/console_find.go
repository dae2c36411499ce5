package host

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/console"
	"github.com/axsched/ax/host/internal/engine"
)

// FindTasks implements console.Backend. It walks the tasks in memory; only of
// those on the page the database is asked.
func (p pages) FindTasks(ctx context.Context, s console.TaskSearch) (console.TaskPage, error) {
	f := finder{search: s, text: strings.ToLower(strings.TrimSpace(s.Text)), now: time.Now(), owner: p.ownerOf()}
	groups, jobs, nodes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var found []engine.View
	for _, v := range p.h.engine.Views() {
		if v.Row.Group != "" {
			groups[v.Row.Group] = true
		}
		jobs[v.Row.Job.Name] = true
		if owner := f.owner(&v); owner != "" {
			nodes[owner] = true
		}
		if f.matches(&v) {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b engine.View) int { return cmp.Compare(a.Row.Name, b.Row.Name) })
	page := console.TaskPage{
		Total: len(found), Groups: slices.Sorted(maps.Keys(groups)), Jobs: slices.Sorted(maps.Keys(jobs)), Nodes: slices.Sorted(maps.Keys(nodes)),
	}
	from := min(len(found), (max(s.Page, 1)-1)*s.Size)
	found = found[from:min(len(found), from+s.Size)]
	show := newShowing(p.h.catalog(), p.h.redactor)
	for i := range found {
		item, err := p.taskItem(ctx, show, &found[i], f.now)
		if err != nil {
			return page, err
		}
		page.Tasks = append(page.Tasks, item)
	}
	return page, nil
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
