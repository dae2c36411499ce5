package host

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

const (
	// fewSeen is how many tasks are so few that the runs of each are asked for by
	// themselves. Of more than these, newest runs are found among those of all.
	fewSeen = 200
	// looked is how many rows are read at once to find those of some tasks, in at
	// most looks steps.
	looked, looks = 1000, 20
)

// Instances implements api.Backend.
func (n narrow) Instances(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
	c := ax.CallerOf(ctx)
	if !c.Restricted() {
		return n.all.Instances(ctx, f)
	}
	if f.Task != "" {
		if !n.knows(ctx, f.Task) {
			return nil, nil
		}
		return n.all.Instances(ctx, f)
	}
	f.Limit = max(f.Limit, 1)
	tasks := n.seen(c)
	if len(tasks) > fewSeen {
		return filtered(f.Limit, func(size int) ([]ax.Instance, error) {
			one := f
			one.Limit = size
			found, err := n.all.Instances(ctx, one)
			if len(found) > 0 {
				f.Before = found[len(found)-1].ID
			}
			return found, err
		}, func(i ax.Instance) bool { return n.knows(ctx, i.TaskName) })
	}
	var found []ax.Instance
	for _, task := range tasks {
		f.Task = task
		some, err := n.all.Instances(ctx, f)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	slices.SortFunc(found, func(a, b ax.Instance) int { return cmp.Compare(b.ID, a.ID) })
	return found[:min(len(found), f.Limit)], nil
}

// filtered goes through pages of rows until it has enough of those that fit.
func filtered[T any](enough int, next func(size int) ([]T, error), fits func(T) bool) ([]T, error) {
	var found []T
	for range looks {
		page, err := next(looked)
		if err != nil {
			return nil, err
		}
		for _, row := range page {
			if fits(row) {
				found = append(found, row)
			}
		}
		if len(found) >= enough || len(page) < looked {
			break
		}
	}
	return found[:min(len(found), enough)], nil
}

// Instance implements api.Backend.
func (n narrow) Instance(ctx context.Context, id ax.InstanceID) (ax.Instance, error) {
	i, err := n.all.Instance(ctx, id)
	if err == nil && !n.knows(ctx, i.TaskName) {
		return ax.Instance{}, &api.NotFound{What: "instance", Name: id.String()}
	}
	return i, err
}

// Cancel implements api.Backend.
func (n narrow) Cancel(ctx context.Context, id ax.InstanceID, actor string) error {
	if _, err := n.Instance(ctx, id); err != nil {
		return err
	}
	return n.all.Cancel(ctx, id, actor)
}

// Events implements api.Backend.
func (n narrow) Events(ctx context.Context, f ax.EventFilter) ([]ax.Event, error) {
	if ax.CallerOf(ctx).Restricted() {
		if _, err := n.Instance(ctx, f.Instance); err != nil {
			return nil, err
		}
	}
	return n.all.Events(ctx, f)
}

// Follow implements api.Backend.
func (n narrow) Follow(ctx context.Context, id ax.InstanceID) (<-chan struct{}, error) {
	if _, err := n.Instance(ctx, id); err != nil {
		return nil, err
	}
	return n.all.Follow(ctx, id)
}

// Alerts implements api.Backend.
func (n narrow) Alerts(ctx context.Context, f ax.AlertFilter) ([]api.AlertView, error) {
	if !ax.CallerOf(ctx).Restricted() {
		return n.all.Alerts(ctx, f)
	}
	if f.Task != "" {
		if !n.knows(ctx, f.Task) {
			return nil, nil
		}
		return n.all.Alerts(ctx, f)
	}
	return filtered(max(f.Limit, 1), func(size int) ([]api.AlertView, error) {
		one := f
		one.Limit = size
		found, err := n.all.Alerts(ctx, one)
		if len(found) > 0 {
			f.Before, _ = strconv.ParseInt(found[len(found)-1].ID, 10, 64) // it was made of a number
		}
		return found, err
	}, func(v api.AlertView) bool { return n.knows(ctx, v.Task) })
}

// Alert implements api.Backend.
func (n narrow) Alert(ctx context.Context, id int64) (api.AlertView, error) {
	v, err := n.all.Alert(ctx, id)
	if err == nil && !n.knows(ctx, v.Task) {
		return api.AlertView{}, &api.NotFound{What: "alert", Name: strconv.FormatInt(id, 10)}
	}
	return v, err
}

// ResendAlert implements api.Backend.
func (n narrow) ResendAlert(ctx context.Context, id int64, actor string) error {
	if _, err := n.Alert(ctx, id); err != nil {
		return err
	}
	return n.all.ResendAlert(ctx, id, actor)
}

// DropAlert implements api.Backend.
func (n narrow) DropAlert(ctx context.Context, id int64, actor string) error {
	if _, err := n.Alert(ctx, id); err != nil {
		return err
	}
	return n.all.DropAlert(ctx, id, actor)
}

// Notifiers implements api.Backend. How many messages of others wait, and what
// became of them, is left out.
func (n narrow) Notifiers(ctx context.Context) ([]api.NotifierView, error) {
	list, err := n.all.Notifiers(ctx)
	if !ax.CallerOf(ctx).Restricted() {
		return list, err
	}
	for i, v := range list {
		list[i] = api.NotifierView{Name: v.Name, Use: v.Use, State: v.State, DownSince: v.DownSince}
	}
	return list, err
}

// TestNotifier implements api.Backend; the rule of its route keeps those away who
// are restricted.
func (n narrow) TestNotifier(ctx context.Context, name, actor string) (api.TestReport, error) {
	return n.all.TestNotifier(ctx, name, actor)
}

// Silences implements api.Backend. One of all tasks is everybody's.
func (n narrow) Silences(ctx context.Context) ([]api.SilenceView, error) {
	list, err := n.all.Silences(ctx)
	return slices.DeleteFunc(list, func(s api.SilenceView) bool { return s.Task != "" && !n.knows(ctx, s.Task) }), err
}

// Silence implements api.Backend. Who sees some tasks silences one of these.
func (n narrow) Silence(ctx context.Context, o api.SilenceOptions) (api.SilenceView, error) {
	if o.Task == "" && ax.CallerOf(ctx).Restricted() {
		return api.SilenceView{}, &api.Invalid{Reason: "task: say which one, since not all tasks are yours"}
	}
	if o.Task != "" {
		if err := n.need(ctx, o.Task); err != nil {
			return api.SilenceView{}, err
		}
	}
	return n.all.Silence(ctx, o)
}

// EndSilence implements api.Backend.
func (n narrow) EndSilence(ctx context.Context, id int64, actor string) error {
	if ax.CallerOf(ctx).Restricted() {
		list, err := n.all.Silences(ctx)
		if err != nil {
			return err
		}
		name := strconv.FormatInt(id, 10)
		if !slices.ContainsFunc(list, func(s api.SilenceView) bool { return s.ID == name && s.Task != "" && n.knows(ctx, s.Task) }) {
			return &api.NotFound{What: "silence", Name: name}
		}
	}
	return n.all.EndSilence(ctx, id, actor)
}
