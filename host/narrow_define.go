package host

import (
	"context"
	"slices"

	"github.com/axsched/ax/host/internal/api"
)

// Definition implements api.DefinitionBackend.
func (n narrow) Definition(ctx context.Context, name string) (api.Definition, error) {
	if err := n.need(ctx, name); err != nil {
		return api.Definition{}, err
	}
	return n.all.Definition(ctx, name)
}

// CheckTask implements api.DefinitionBackend.
func (n narrow) CheckTask(ctx context.Context, text []byte, replaces string) (api.TaskCheck, error) {
	if replaces != "" {
		if err := n.need(ctx, replaces); err != nil {
			return api.TaskCheck{}, err
		}
	}
	return n.all.CheckTask(ctx, text, replaces)
}

// CreateTask implements api.DefinitionBackend; the gate looks at the group.
func (n narrow) CreateTask(ctx context.Context, text []byte, actor string) (api.Definition, error) {
	if err := n.acts(); err != nil {
		return api.Definition{}, err
	}
	return n.all.CreateTask(ctx, text, actor)
}

// ReplaceTask implements api.DefinitionBackend; the gate looks at the new group.
func (n narrow) ReplaceTask(ctx context.Context, name string, text []byte, e api.Edit) (api.Definition, error) {
	if err := n.need(ctx, name); err != nil {
		return api.Definition{}, err
	}
	if err := n.acts(); err != nil {
		return api.Definition{}, err
	}
	return n.all.ReplaceTask(ctx, name, text, e)
}

// DeleteTask implements api.DefinitionBackend.
func (n narrow) DeleteTask(ctx context.Context, name string, e api.Edit) error {
	if err := n.need(ctx, name); err != nil {
		return err
	}
	if err := n.acts(); err != nil {
		return err
	}
	return n.all.DeleteTask(ctx, name, e)
}

// Components implements api.DefinitionBackend; they are the same for all.
func (n narrow) Components(ctx context.Context) ([]api.ComponentSchema, error) {
	return n.all.Components(ctx)
}

// ListCalendars implements api.CalendarBackend. Of the tasks that use one, it names
// those that the caller sees.
func (n narrow) ListCalendars(ctx context.Context) ([]api.CalendarView, error) {
	list, err := n.all.ListCalendars(ctx)
	for i := range list {
		list[i].Tasks = slices.DeleteFunc(list[i].Tasks, func(task string) bool { return !n.knows(ctx, task) })
	}
	return list, err
}

// CheckCalendar implements api.CalendarBackend; the rule of its route keeps those
// away who see some tasks only.
func (n narrow) CheckCalendar(ctx context.Context, name, file string, content []byte) (api.CalendarCheck, error) {
	return n.all.CheckCalendar(ctx, name, file, content)
}
