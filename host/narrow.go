package host

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/why"
)

// narrow is the host as a caller sees it, whom the context names: what belongs to
// tasks of other groups is not there. It names all methods, so that none can be
// forgotten; which role somebody needs was decided before.
type narrow struct{ all pages }

// knows returns whether the caller sees a task. One that was removed belongs to no
// group any more.
func (n narrow) knows(ctx context.Context, task string) bool {
	c := ax.CallerOf(ctx)
	if !c.Restricted() {
		return true
	}
	entry := n.all.h.live.Load().entries[task]
	return entry != nil && c.Sees(entry.Row.Group)
}

// need returns an error unless the caller sees a task.
func (n narrow) need(ctx context.Context, task string) error {
	if !n.knows(ctx, task) {
		return &api.NotFound{What: "task", Name: task} // near names may be of others
	}
	return nil
}

// seen are the names of the tasks that a caller who is restricted sees.
func (n narrow) seen(c ax.Caller) []string {
	var names []string
	for name, entry := range n.all.h.live.Load().entries {
		if c.Sees(entry.Row.Group) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Tasks implements api.Backend.
func (n narrow) Tasks(ctx context.Context, q api.TaskQuery) ([]api.TaskView, error) {
	c := ax.CallerOf(ctx)
	switch {
	case !c.Restricted():
		return n.all.Tasks(ctx, q)
	case q.Group != "" && !c.Sees(q.Group):
		return nil, nil
	case q.Group != "":
		return n.all.Tasks(ctx, q)
	}
	var list []api.TaskView
	for _, group := range c.Groups {
		q.Group = group
		some, err := n.all.Tasks(ctx, q)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b api.TaskView) int { return cmp.Compare(a.Name, b.Name) })
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list, nil
}

// Task implements api.Backend.
func (n narrow) Task(ctx context.Context, name string) (api.TaskView, error) {
	if err := n.need(ctx, name); err != nil {
		return api.TaskView{}, err
	}
	return n.all.Task(ctx, name)
}

// Next implements api.Backend.
func (n narrow) Next(ctx context.Context, name string, q api.NextQuery) (api.NextTimes, error) {
	if err := n.need(ctx, name); err != nil {
		return api.NextTimes{}, err
	}
	return n.all.Next(ctx, name, q)
}

// Run implements api.Backend.
func (n narrow) Run(ctx context.Context, name string, o api.RunOptions) (ax.InstanceID, error) {
	if err := n.need(ctx, name); err != nil {
		return 0, err
	}
	if err := n.acts(); err != nil {
		return 0, err
	}
	return n.all.Run(ctx, name, o)
}

// UnknownParams implements api.Backend.
func (n narrow) UnknownParams(ctx context.Context, name string, params api.Object) []string {
	if !n.knows(ctx, name) {
		return nil
	}
	return n.all.UnknownParams(ctx, name, params)
}

// Pause implements api.Backend.
func (n narrow) Pause(ctx context.Context, name string, until time.Time, actor string) error {
	if err := n.need(ctx, name); err != nil {
		return err
	}
	return n.all.Pause(ctx, name, until, actor)
}

// Resume implements api.Backend.
func (n narrow) Resume(ctx context.Context, name, actor string) error {
	if err := n.need(ctx, name); err != nil {
		return err
	}
	return n.all.Resume(ctx, name, actor)
}

// Why implements api.Backend.
func (n narrow) Why(ctx context.Context, name string, at time.Time) ([]why.Answer, error) {
	if err := n.need(ctx, name); err != nil {
		return nil, err
	}
	return n.all.Why(ctx, name, at)
}

// Backfill implements api.Backend.
func (n narrow) Backfill(ctx context.Context, name string, o api.BackfillOptions) (api.BackfillPlan, error) {
	if err := n.need(ctx, name); err != nil {
		return api.BackfillPlan{}, err
	}
	if err := n.acts(); err != nil {
		return api.BackfillPlan{}, err
	}
	return n.all.Backfill(ctx, name, o)
}

// BackfillProgress implements api.Backend.
func (n narrow) BackfillProgress(ctx context.Context, name string, span api.BackfillSpan) (api.BackfillProgress, error) {
	if err := n.need(ctx, name); err != nil {
		return api.BackfillProgress{}, err
	}
	return n.all.BackfillProgress(ctx, name, span)
}

// CancelBackfill implements api.Backend.
func (n narrow) CancelBackfill(ctx context.Context, name string, span api.BackfillSpan, actor string) (api.BackfillCanceled, error) {
	if err := n.need(ctx, name); err != nil {
		return api.BackfillCanceled{}, err
	}
	if err := n.acts(); err != nil {
		return api.BackfillCanceled{}, err
	}
	return n.all.CancelBackfill(ctx, name, span, actor)
}

// Callback implements api.Backend. Whoever has the token may; there is no caller.
func (n narrow) Callback(ctx context.Context, id ax.InstanceID, token string, r api.CallbackResult) error {
	return n.all.Callback(ctx, id, token, r)
}

// Health implements api.Backend. What is wrong may name tasks of others.
func (n narrow) Health(ctx context.Context) api.Health {
	health := n.all.Health(ctx)
	if ax.CallerOf(ctx).Restricted() {
		return api.Health{Status: health.Status}
	}
	return health
}

// Backlog implements api.Backend.
func (n narrow) Backlog(ctx context.Context, most int) (api.Backlog, error) {
	c := ax.CallerOf(ctx)
	if !c.Restricted() {
		return n.all.Backlog(ctx, most)
	}
	b, err := n.all.Backlog(ctx, len(n.all.h.live.Load().entries)+1)
	if err != nil {
		return b, err
	}
	b.Tasks = slices.DeleteFunc(b.Tasks, func(t api.BacklogTask) bool { return !n.knows(ctx, t.Task) })
	b.Slow = slices.DeleteFunc(b.Slow, func(t api.SlowTask) bool { return !n.knows(ctx, t.Task) })
	b.TasksTotal, b.Held = len(b.Tasks), 0
	b.Tasks, b.Slow = b.Tasks[:min(len(b.Tasks), most)], b.Slow[:min(len(b.Slow), most)]
	return b, nil
}

// What follows concerns the host, and is not for callers who are restricted: the
// rules of the routes say so.

// Plugins implements api.Backend.
func (n narrow) Plugins(ctx context.Context) ([]api.PluginView, error) { return n.all.Plugins(ctx) }

// ResetPlugin implements api.Backend.
func (n narrow) ResetPlugin(ctx context.Context, name, actor string) error {
	return n.all.ResetPlugin(ctx, name, actor)
}

// Plan implements api.Backend.
func (n narrow) Plan(ctx context.Context, c *api.Candidate) (*preview.Plan, error) {
	return n.all.Plan(ctx, c)
}

// Reload implements api.Backend.
func (n narrow) Reload(ctx context.Context, actor string) (api.ReloadReport, error) {
	return n.all.Reload(ctx, actor)
}

// Metrics implements api.Backend.
func (n narrow) Metrics() http.Handler { return n.all.Metrics() }

// ListNodes implements api.Backend.
func (n narrow) ListNodes(ctx context.Context) (api.NodeList, error) { return n.all.ListNodes(ctx) }

// Drain implements api.Backend.
func (n narrow) Drain(ctx context.Context, name string, o api.DrainOptions) (api.Drained, error) {
	return n.all.Drain(ctx, name, o)
}

// NodesCost implements api.Backend.
func (n narrow) NodesCost(ctx context.Context, span time.Duration) (api.NodesCost, error) {
	return n.all.NodesCost(ctx, span)
}

// Secrets implements console.Backend. Whoever may make tasks may name all of them.
func (n narrow) Secrets() []string { return n.all.Secrets() }

var _ console.Backend = narrow{}
