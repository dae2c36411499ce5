package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

// What hosts answer; the OpenAPI document of a host explains each field.
type (
	// Task is a task and its state.
	Task = api.TaskView
	// Instance is one due time of a task and what became of it.
	Instance = api.InstanceView
	// Event is a line of the log of an instance.
	Event = api.EventView
	// Health is how a host is.
	Health = api.Health
	// ReloadReport says what a reload changed.
	ReloadReport = api.ReloadReport
)

// TaskPath is the path of a task, or of an action on it, for a Call.
func TaskPath(name string, action ...string) string {
	return pathOf(append([]string{"tasks", name}, action...))
}

// InstancePath is the path of an instance, or of a part of it, for a Call.
func InstancePath(id string, part ...string) string {
	return pathOf(append([]string{"instances", id}, part...))
}

// pathOf is the path of parts, which may have any characters.
func pathOf(parts []string) string {
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return base + "/" + strings.Join(parts, "/")
}

// Tasks returns all tasks whose names begin with a prefix, in the order of their
// names.
func (c *Client) Tasks(ctx context.Context, prefix string) ([]Task, error) {
	var all []Task
	query := url.Values{"prefix": {prefix}}
	for {
		var page api.TaskList
		if err := c.Do(ctx, Call{Path: base + "/tasks", Query: query}, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Tasks...)
		if page.Next == "" {
			return all, nil
		}
		query.Set("after", page.Next)
	}
}

// Task returns a task.
func (c *Client) Task(ctx context.Context, name string) (Task, error) {
	var task Task
	err := c.Do(ctx, Call{Path: TaskPath(name)}, &task)
	return task, err
}

// Next returns the next n due times of a task; none means never.
func (c *Client) Next(ctx context.Context, name string, n int) ([]time.Time, error) {
	var next api.NextTimes
	err := c.Do(ctx, Call{Path: TaskPath(name, "next"), Query: url.Values{"n": {strconv.Itoa(n)}}}, &next)
	return next.Times, err
}

// RunOptions are the details of a run by hand.
type RunOptions struct {
	// Params are laid over those of the task, for this run only.
	Params map[string]any
	// Force starts it although the overlap policy says no.
	Force bool
	// Key makes the host start it once, however often the call is repeated; empty
	// for a run each time.
	Key string
}

// Run starts a task now and returns the id of the instance.
func (c *Client) Run(ctx context.Context, name string, o RunOptions) (string, error) {
	header := http.Header{}
	if o.Key != "" {
		header.Set("Idempotency-Key", o.Key)
	}
	var started api.RunStarted
	err := c.Do(ctx, Call{
		Method: http.MethodPost, Path: TaskPath(name, "run"), Header: header, Body: api.RunBody{Params: o.Params, Force: o.Force},
	}, &started)
	return started.Instance, err
}

// Pause stops the schedule of a task until a time; until it is resumed if that is
// zero.
func (c *Client) Pause(ctx context.Context, name string, until time.Time) error {
	return c.Do(ctx, Call{Method: http.MethodPost, Path: TaskPath(name, "pause"), Body: api.PauseBody{Until: until}}, nil)
}

// Resume lets the schedule of a task go on.
func (c *Client) Resume(ctx context.Context, name string) error {
	return c.Do(ctx, Call{Method: http.MethodPost, Path: TaskPath(name, "resume")}, nil)
}

// Instances returns the newest n instances of a task, of all tasks if it is empty.
func (c *Client) Instances(ctx context.Context, task string, n int) ([]Instance, error) {
	query := url.Values{"limit": {strconv.Itoa(n)}}
	if task != "" {
		query.Set("task", task)
	}
	var list api.InstanceList
	err := c.Do(ctx, Call{Path: base + "/instances", Query: query}, &list)
	return list.Instances, err
}

// Instance returns an instance.
func (c *Client) Instance(ctx context.Context, id string) (Instance, error) {
	var instance Instance
	err := c.Do(ctx, Call{Path: InstancePath(id)}, &instance)
	return instance, err
}

// Wait looks at an instance every so often until it is final, and returns it then.
func (c *Client) Wait(ctx context.Context, id string, every time.Duration) (Instance, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		instance, err := c.Instance(ctx, id)
		if err != nil || instance.Status.Final() {
			return instance, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return instance, context.Cause(ctx)
		}
	}
}

// Cancel asks an instance to stop.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodPost, Path: InstancePath(id, "cancel")}, nil)
}

// Log returns the log of an instance as it is so far, at most its first n lines.
func (c *Client) Log(ctx context.Context, id string, n int) ([]Event, error) {
	var list api.EventList
	err := c.Do(ctx, Call{Path: InstancePath(id, "log"), Query: url.Values{"limit": {strconv.Itoa(n)}}}, &list)
	return list.Events, err
}

// Health returns how the host is.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var health Health
	err := c.Do(ctx, Call{Path: base + "/health"}, &health)
	return health, err
}

// Reload lets the host read its configuration again.
func (c *Client) Reload(ctx context.Context) (ReloadReport, error) {
	var report ReloadReport
	err := c.Do(ctx, Call{Method: http.MethodPost, Path: base + "/reload"}, &report)
	return report, err
}
