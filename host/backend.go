package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/executor"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/spelling"
)

// followCheck is how often a follower looks at an instance that says nothing.
const followCheck = 5 * time.Second

// backend is the host as the API sees it.
type backend struct{ h *Host }

func (b backend) Tasks(ctx context.Context, q api.TaskQuery) ([]api.TaskView, error) {
	var names []string
	for name, entry := range b.h.live.Load().entries {
		if strings.HasPrefix(name, q.Prefix) && (q.Group == "" || entry.Row.Group == q.Group) && name > q.After {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	if q.Limit > 0 && len(names) > q.Limit {
		names = names[:q.Limit]
	}
	views, err := b.h.views(ctx, names...)
	if err != nil {
		return nil, err
	}
	return b.show(ctx, views)
}

func (b backend) Task(ctx context.Context, name string) (api.TaskView, error) {
	views, err := b.h.views(ctx, name)
	if err != nil {
		return api.TaskView{}, err
	}
	shown, err := b.show(ctx, views)
	if err != nil {
		return api.TaskView{}, err
	}
	if len(shown) == 0 {
		return api.TaskView{}, b.noTask(name)
	}
	row, err := b.row(ctx, name)
	shown[0].Version = row.Revision
	return shown[0], err
}

func (b backend) show(ctx context.Context, views []engine.View) ([]api.TaskView, error) {
	if len(views) == 0 {
		return nil, nil
	}
	last, err := b.newest(ctx, views)
	if err != nil {
		return nil, err
	}
	failing, err := b.failing(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	showing := newShowing(b.h.catalog(), b.h.redactor)
	shown := make([]api.TaskView, len(views))
	for i, v := range views {
		row := v.Row
		row.Schedule = showing.schedule(row.Schedule)
		row.Failures = failing[row.ID]
		shown[i] = api.NewTaskView(row, now)
		if shown[i].State == api.TaskPaused && shown[i].NextAt.IsZero() {
			shown[i].NextAt = b.nextAfterPause(ctx, v.Row)
		}
		shown[i].Running = v.Running
		if inst, ok := last[v.Row.ID]; ok {
			shown[i].LastID, shown[i].LastStatus, shown[i].LastAt = inst.ID.String(), inst.Status, inst.ScheduledAt
		}
	}
	return shown, nil
}

// fewTasks are so few that each is asked for by itself rather than all of the app
// at once.
const fewTasks = 20

// newest returns the newest instances of tasks, those that have none left out.
func (b backend) newest(ctx context.Context, views []engine.View) (map[ax.TaskID]ax.Instance, error) {
	app := b.h.live.Load().cfg.App
	if len(views) > fewTasks {
		return b.h.store.LastInstances(ctx, app)
	}
	newest := map[ax.TaskID]ax.Instance{}
	for i := range views {
		found, err := b.h.store.Instances(ctx, ax.InstanceFilter{App: app, Task: views[i].Row.Name, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			newest[views[i].Row.ID] = found[0]
		}
	}
	return newest, nil
}

// failing returns how often in a row tasks have failed, those that did not left
// out. The host that gathers the alerts counts it, so the engine does not know.
func (b backend) failing(ctx context.Context) (map[ax.TaskID]int, error) {
	tasks, err := b.h.store.FailingTasks(ctx, b.h.live.Load().cfg.App)
	if err != nil {
		return nil, err
	}
	failing := make(map[ax.TaskID]int, len(tasks))
	for i := range tasks {
		failing[tasks[i].TaskID] = tasks[i].Failures
	}
	return failing, nil
}

// nextAfterPause returns the first due time after a pause that ends by itself,
// zero if that is not known. It asks no plugin: of a plugin's trigger there are
// the due times that were fetched ahead.
func (b backend) nextAfterPause(ctx context.Context, row ax.TaskRow) time.Time {
	l, until := b.h.live.Load(), row.PausedUntil
	if until.IsZero() {
		return time.Time{}
	}
	if row.Schedule.Trigger != nil {
		i := slices.IndexFunc(row.Planned, until.Before)
		if i < 0 {
			return time.Time{}
		}
		return row.Planned[i]
	}
	table, err := b.h.timetable(l.cfg, &row.Task, row.AnchorAt)
	if err != nil {
		return time.Time{}
	}
	next, err := preview.Next(ctx, table, until, 1)
	if err != nil || len(next) == 0 {
		return time.Time{}
	}
	return next[0]
}

func (b backend) Next(ctx context.Context, name string, q api.NextQuery) (api.NextTimes, error) {
	l := b.h.live.Load()
	entry, ok := l.entries[name]
	if !ok {
		return api.NextTimes{}, b.noTask(name)
	}
	if q.After.IsZero() {
		q.After = time.Now()
	}
	table, err := b.h.timetable(l.cfg, &entry.Row.Task, entry.Row.AnchorAt)
	if err != nil {
		return api.NextTimes{}, &api.Unavailable{Reason: err.Error()}
	}
	schedule := newShowing(b.h.catalog(), b.h.redactor).schedule(entry.Row.Schedule)
	next := api.NextTimes{Task: name, Words: preview.Describe(&schedule, name)}
	if next.Times, err = preview.Next(ctx, table, q.After, q.N); err != nil {
		return next, &api.Unavailable{Reason: err.Error()}
	}
	next.Beyond = preview.Unlisted(table, next.Times)
	if q.Why {
		next.Why, err = preview.Why(ctx, table, q.After, next.Times, len(next.Times) < q.N)
	}
	if err != nil {
		return next, &api.Unavailable{Reason: err.Error()}
	}
	return next, nil
}

func (b backend) Run(ctx context.Context, name string, o api.RunOptions) (ax.InstanceID, error) {
	over, err := encodeParams(o)
	if err != nil {
		return 0, err
	}
	var id ax.InstanceID
	m, repeated := engine.Manual{Task: name, Params: over, Force: o.Force, By: o.Actor}, false
	if o.Key == "" {
		id, err = b.h.fleet.runNow(ctx, m)
	} else {
		id, repeated, err = b.runOnce(ctx, m, o)
	}
	_, invalid := errors.AsType[*api.Invalid](err)
	switch {
	case errors.Is(err, engine.ErrUnknownTask):
		return 0, b.noTask(name)
	case errors.Is(err, engine.ErrBusy):
		return 0, &api.Conflict{Reason: err.Error()}
	case invalid:
		return 0, err
	case err != nil:
		return 0, &api.Unavailable{Reason: err.Error()}
	}
	if !repeated {
		b.h.log.Info("task started by hand", "task", name, "instance_id", id, "by", o.Actor)
	}
	return id, nil
}

func (b backend) Pause(ctx context.Context, name string, until time.Time, actor string) error {
	if now := b.h.now(); !until.IsZero() && !until.After(now) {
		return &api.Invalid{Reason: fmt.Sprintf("until: the pause would end at %s, which is past: it is %s",
			until.Format(time.RFC3339), now.In(until.Location()).Format(time.RFC3339))}
	}
	return b.named(name, b.h.engine.Pause(ctx, name, until, actor))
}

func (b backend) Resume(ctx context.Context, name, actor string) error {
	return b.named(name, b.h.engine.Resume(ctx, name, actor))
}

func (b backend) named(name string, err error) error {
	if errors.Is(err, engine.ErrUnknownTask) {
		return b.noTask(name)
	}
	return err
}

// maxGuesses bounds the names among which a misspelt one is looked for.
const maxGuesses = 20_000

// noTask says that there is no such task, and which one was probably meant.
func (b backend) noTask(name string) error {
	missing := &api.NotFound{What: "task", Name: name}
	if entries := b.h.live.Load().entries; len(entries) <= maxGuesses {
		missing.Near = spelling.Nearest(name, slices.Sorted(maps.Keys(entries)))
	}
	return missing
}

func (b backend) Instances(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
	f.App = b.h.live.Load().cfg.App
	return b.h.store.Instances(ctx, f)
}

func (b backend) Instance(ctx context.Context, id ax.InstanceID) (ax.Instance, error) {
	inst, err := b.h.store.Instance(ctx, id)
	if errors.Is(err, ax.ErrNotFound) || err == nil && inst.App != b.h.live.Load().cfg.App {
		return ax.Instance{}, &api.NotFound{What: "instance", Name: id.String()}
	}
	return inst, err
}

func (b backend) Cancel(ctx context.Context, id ax.InstanceID, actor string) error {
	inst, err := b.Instance(ctx, id)
	if err != nil {
		return err
	}
	err = b.h.engine.Cancel(inst, actor)
	if errors.Is(err, engine.ErrNotRunning) && inst.Status == ax.StatusRunning {
		found, failed := b.h.fleet.cancelThere(ctx, inst)
		if found {
			return nil
		}
		err = errors.Join(err, failed)
	}
	if err != nil {
		return &api.Conflict{Reason: err.Error()}
	}
	return nil
}

func (b backend) Events(ctx context.Context, f ax.EventFilter) ([]ax.Event, error) {
	if _, err := b.Instance(ctx, f.Instance); err != nil {
		return nil, err
	}
	return b.h.store.Events(ctx, f)
}

// Follow signals after each write about the instance, and closes the channel
// once it is final.
func (b backend) Follow(ctx context.Context, id ax.InstanceID) (<-chan struct{}, error) {
	if _, err := b.Instance(ctx, id); err != nil {
		return nil, err
	}
	writes, drop := b.h.writer.follow(id)
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		defer drop()
		// What was on its way to the database before is not signalled, so the
		// first looks come soon.
		check := 50 * time.Millisecond
		tick := time.NewTimer(check)
		defer tick.Stop()
		for {
			inst, err := b.h.store.Instance(ctx, id)
			if err != nil || inst.Status.Final() {
				return
			}
			select {
			case <-writes:
			case <-tick.C:
				check = min(2*check, followCheck)
				tick.Reset(check)
			case <-ctx.Done():
				return
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out, nil
}

// Callback ends a deferred run.
func (b backend) Callback(ctx context.Context, id ax.InstanceID, token string, r api.CallbackResult) error {
	inst, err := b.Instance(ctx, id)
	if err != nil {
		return err
	}
	entry, ok := b.h.live.Load().entries[inst.TaskName]
	if !ok || (inst.Status == ax.StatusRunning && executor.CheckToken(&inst, token) != nil) {
		return &api.NotFound{What: "callback", Name: id.String()}
	}
	if inst.Status != ax.StatusRunning {
		return &api.Conflict{Reason: "the run has ended already: " + string(inst.Status)}
	}
	data, err := json.Marshal(r.Data)
	if err != nil {
		return &api.Invalid{Reason: "data: " + err.Error()}
	}
	out := ax.Outcome{Status: ax.StatusSuccess, Message: r.Message, StartedAt: inst.StartedAt, EndedAt: time.Now()}
	if len(r.Data) > 0 {
		out.Data = data
	}
	if r.Status == "failed" {
		out.Status, out.Message, out.Error = ax.StatusFailed, "", r.Message
	}
	task := entry.Row.Task
	b.h.executor.Settle(ax.Attempt{Task: &task, Instance: inst}, out)
	return nil
}

func (b backend) Reload(ctx context.Context, actor string) (api.ReloadReport, error) {
	r, err := b.h.Reload(ctx, actor)
	return api.ReloadReport{
		Added: r.Added, Changed: r.Changed, Removed: r.Removed, Unchanged: r.Unchanged, Warnings: r.Warnings,
	}, invalidConfig(err)
}

func (b backend) Metrics() http.Handler { return b.h.metrics.Handler() }
