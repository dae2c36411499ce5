package host

import (
	"context"
	"slices"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
	"github.com/axsched/ax/host/internal/engine"
)

// Overview implements console.Backend. The outcomes of an hour are counted for all
// tasks together, so only who sees all of them sees these; and hosts, plugins and
// messages are nobody's own.
func (n narrow) Overview(ctx context.Context) (console.Overview, error) {
	c := ax.CallerOf(ctx)
	if !c.Restricted() {
		return n.all.Overview(ctx)
	}
	o := console.Overview{Health: n.Health(ctx), Moods: map[api.TaskMood]int{}, Database: n.all.database(ctx)}
	views, err := n.all.all(ctx)
	if err != nil {
		return o, err
	}
	views = visible(views, c)
	sumTasks(views, &o)
	o.Health.Tasks = len(views)
	return o, nil
}

// visible are the tasks that a caller sees.
func visible(views []engine.View, c ax.Caller) []engine.View {
	if !c.Restricted() {
		return views
	}
	return slices.DeleteFunc(slices.Clone(views), func(v engine.View) bool { return !c.Sees(v.Row.Group) })
}

// FindTasks implements console.Backend.
func (n narrow) FindTasks(ctx context.Context, s console.TaskSearch) (console.TaskPage, error) {
	views, err := n.all.all(ctx)
	if err != nil {
		return console.TaskPage{}, err
	}
	return n.all.find(ctx, visible(views, ax.CallerOf(ctx)), s)
}

// Calendars implements console.Backend. Of the tasks that use one, it names those
// that the caller sees.
func (n narrow) Calendars(ctx context.Context) ([]console.Calendar, error) {
	list, err := n.all.Calendars(ctx)
	for i := range list {
		list[i].Tasks = slices.DeleteFunc(list[i].Tasks, func(task string) bool { return !n.knows(ctx, task) })
	}
	return list, err
}

// AuditTrail implements console.Backend. Who sees some tasks sees what was changed
// about these, one by one.
func (n narrow) AuditTrail(ctx context.Context, f ax.AuditFilter) ([]ax.AuditRow, error) {
	if ax.CallerOf(ctx).Restricted() && (f.Object == "" || !n.knows(ctx, f.Object)) {
		return nil, nil
	}
	return n.all.AuditTrail(ctx, f)
}
