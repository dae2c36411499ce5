package apitest

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/why"
)

// Shanghai is the zone of the sample: east of Greenwich, no summer time.
var Shanghai = time.FixedZone("CST", 8*60*60)

// Noon is the moment at which the sample was taken.
func Noon() time.Time { return time.Date(2026, time.March, 2, 12, 0, 0, 0, Shanghai) }

// Sample returns a backend with three tasks, four instances and two plugins
// that fill every field, and a record of the changes that were asked of it.
func Sample() (*Backend, *Changes) {
	changes := &Changes{}
	tasks, instances := sampleTasks(), SampleInstances()
	b := &Backend{MetricsText: "ax_up 1\n"}
	b.OnTasks = func(_ context.Context, q api.TaskQuery) ([]api.TaskView, error) {
		return tasks[:min(len(tasks), q.Limit)], nil
	}
	b.OnTask = func(_ context.Context, name string) (api.TaskView, error) {
		for _, task := range tasks {
			if task.Name == name {
				return task, nil
			}
		}
		return api.TaskView{}, missing("task", name)
	}
	b.OnNext = func(ctx context.Context, name string, q api.NextQuery) (api.NextTimes, error) {
		task, err := b.OnTask(ctx, name)
		if err != nil {
			return api.NextTimes{}, err
		}
		next := sampleNext(q)
		next.Words = task.Schedule.Words
		return next, nil
	}
	b.OnInstances = func(_ context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
		return instances[:min(len(instances), f.Limit)], nil
	}
	b.OnInstance = func(_ context.Context, id ax.InstanceID) (ax.Instance, error) {
		for _, instance := range instances {
			if instance.ID == id {
				return instance, nil
			}
		}
		return ax.Instance{}, missing("instance", id.String())
	}
	b.OnEvents = func(_ context.Context, f ax.EventFilter) ([]ax.Event, error) {
		var out []ax.Event
		for _, e := range SampleEvents(f.Instance) {
			if e.ID > f.After {
				out = append(out, e)
			}
		}
		return out, nil
	}
	b.OnFollow = func(context.Context, ax.InstanceID) (<-chan struct{}, error) {
		signals := make(chan struct{})
		close(signals)
		return signals, nil
	}
	b.OnPlugins = func(context.Context) ([]api.PluginView, error) { return samplePlugins(), nil }
	b.OnPlan = samplePlan
	b.OnHealth = func(context.Context) api.Health { return sampleHealth() }
	sampleBackfill(b, changes)
	b.OnWhy = func(ctx context.Context, name string, at time.Time) ([]why.Answer, error) {
		if _, err := b.OnTask(ctx, name); err != nil {
			return nil, err
		}
		return sampleWhy(at), nil
	}
	b.OnBacklog = func(_ context.Context, n int) (api.Backlog, error) {
		backlog := sampleBacklog()
		backlog.Tasks, backlog.Slow = backlog.Tasks[:min(n, len(backlog.Tasks))], backlog.Slow[:min(n, len(backlog.Slow))]
		return backlog, nil
	}
	changes.record(b)
	return b, changes
}

// Changes lists the changes that a backend was asked for, in words.
type Changes struct {
	mu   sync.Mutex
	list []string
}

// List returns all changes so far.
func (c *Changes) List() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.list...)
}

func (c *Changes) add(change string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, change)
}

func (c *Changes) record(b *Backend) {
	b.Record, b.Changed, b.Noted = c.add, c.add, c.add
	known := func(name string) error {
		_, err := b.OnTask(context.Background(), name)
		return err
	}
	b.OnRun = func(_ context.Context, name string, o api.RunOptions) (ax.InstanceID, error) {
		if err := known(name); err != nil {
			return 0, err
		}
		params, err := json.Marshal(o.Params)
		c.add("run " + name + " " + string(params) + " force=" + strconv.FormatBool(o.Force) + " by " + o.Actor)
		return 9007199254740993, err
	}
	b.OnPause = func(_ context.Context, name string, until time.Time, actor string) error {
		c.add("pause " + name + " until " + utc(until) + " by " + actor)
		return known(name)
	}
	b.OnResume = func(_ context.Context, name, actor string) error {
		c.add("resume " + name + " by " + actor)
		return known(name)
	}
	b.OnCancel = func(_ context.Context, id ax.InstanceID, actor string) error {
		c.add("cancel " + id.String() + " by " + actor)
		return nil
	}
	b.OnCallback = func(_ context.Context, id ax.InstanceID, token string, r api.CallbackResult) error {
		if token != "t0ken" {
			return missing("callback of instance", id.String())
		}
		c.add("callback " + id.String() + " " + r.Status + " " + r.Message)
		return nil
	}
	b.OnResetPlugin = func(_ context.Context, name, actor string) error {
		c.add("reset " + name + " by " + actor)
		return nil
	}
	b.OnReload = func(_ context.Context, actor string) (api.ReloadReport, error) {
		c.add("reload by " + actor)
		return api.ReloadReport{Added: 1, Changed: 2, Unchanged: 30, Warnings: []string{"conf.yaml:7:3: calendar cn has no days for 2027"}}, nil
	}
}
