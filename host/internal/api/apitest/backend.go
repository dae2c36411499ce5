// Package apitest has a Backend for tests of the API and of its clients.
package apitest

import (
	"context"
	"net/http"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/why"
)

// Backend calls the function of the same name; one that a test did not set
// answers that there is no such thing.
type Backend struct {
	AlertSample
	NodeSample
	DefinitionSample
	OnTasks       func(ctx context.Context, q api.TaskQuery) ([]api.TaskView, error)
	OnTask        func(ctx context.Context, name string) (api.TaskView, error)
	OnNext        func(ctx context.Context, name string, q api.NextQuery) (api.NextTimes, error)
	OnRun         func(ctx context.Context, name string, o api.RunOptions) (ax.InstanceID, error)
	OnPause       func(ctx context.Context, name string, until time.Time, actor string) error
	OnResume      func(ctx context.Context, name, actor string) error
	OnWhy         func(ctx context.Context, name string, at time.Time) ([]why.Answer, error)
	OnBackfill    func(ctx context.Context, name string, o api.BackfillOptions) (api.BackfillPlan, error)
	OnProgress    func(ctx context.Context, name string, span api.BackfillSpan) (api.BackfillProgress, error)
	OnEndBackfill func(ctx context.Context, name string, span api.BackfillSpan, actor string) (api.BackfillCanceled, error)
	OnInstances   func(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error)
	OnInstance    func(ctx context.Context, id ax.InstanceID) (ax.Instance, error)
	OnCancel      func(ctx context.Context, id ax.InstanceID, actor string) error
	OnEvents      func(ctx context.Context, f ax.EventFilter) ([]ax.Event, error)
	OnFollow      func(ctx context.Context, id ax.InstanceID) (<-chan struct{}, error)
	OnCallback    func(ctx context.Context, id ax.InstanceID, token string, r api.CallbackResult) error
	OnPlugins     func(ctx context.Context) ([]api.PluginView, error)
	OnResetPlugin func(ctx context.Context, name, actor string) error
	OnPlan        func(ctx context.Context, c *api.Candidate) (*preview.Plan, error)
	OnReload      func(ctx context.Context, actor string) (api.ReloadReport, error)
	OnHealth      func(ctx context.Context) api.Health
	OnBacklog     func(ctx context.Context, n int) (api.Backlog, error)
	MetricsText   string
}

var _ api.Backend = (*Backend)(nil)

func missing(what, name string) error { return &api.NotFound{What: what, Name: name} }

// Tasks implements api.Backend.
func (b *Backend) Tasks(ctx context.Context, q api.TaskQuery) ([]api.TaskView, error) {
	if b.OnTasks == nil {
		return nil, nil
	}
	return b.OnTasks(ctx, q)
}

// Task implements api.Backend.
func (b *Backend) Task(ctx context.Context, name string) (api.TaskView, error) {
	if b.OnTask == nil {
		return api.TaskView{}, missing("task", name)
	}
	return b.OnTask(ctx, name)
}

// Next implements api.Backend.
func (b *Backend) Next(ctx context.Context, name string, q api.NextQuery) (api.NextTimes, error) {
	if b.OnNext == nil {
		return api.NextTimes{}, missing("task", name)
	}
	return b.OnNext(ctx, name, q)
}

// Run implements api.Backend.
func (b *Backend) Run(ctx context.Context, name string, o api.RunOptions) (ax.InstanceID, error) {
	if b.OnRun == nil {
		return 0, missing("task", name)
	}
	return b.OnRun(ctx, name, o)
}

// UnknownParams implements api.Backend: a task takes any.
func (b *Backend) UnknownParams(context.Context, string, api.Object) []string { return nil }

// Pause implements api.Backend.
func (b *Backend) Pause(ctx context.Context, name string, until time.Time, actor string) error {
	if b.OnPause == nil {
		return missing("task", name)
	}
	return b.OnPause(ctx, name, until, actor)
}

// Resume implements api.Backend.
func (b *Backend) Resume(ctx context.Context, name, actor string) error {
	if b.OnResume == nil {
		return missing("task", name)
	}
	return b.OnResume(ctx, name, actor)
}

// Why implements api.Backend.
func (b *Backend) Why(ctx context.Context, name string, at time.Time) ([]why.Answer, error) {
	if b.OnWhy == nil {
		return nil, missing("task", name)
	}
	return b.OnWhy(ctx, name, at)
}

// Backfill implements api.Backend.
func (b *Backend) Backfill(ctx context.Context, name string, o api.BackfillOptions) (api.BackfillPlan, error) {
	if b.OnBackfill == nil {
		return api.BackfillPlan{}, missing("task", name)
	}
	return b.OnBackfill(ctx, name, o)
}

// BackfillProgress implements api.Backend.
func (b *Backend) BackfillProgress(ctx context.Context, name string, span api.BackfillSpan) (api.BackfillProgress, error) {
	if b.OnProgress == nil {
		return api.BackfillProgress{}, missing("task", name)
	}
	return b.OnProgress(ctx, name, span)
}

// CancelBackfill implements api.Backend.
func (b *Backend) CancelBackfill(ctx context.Context, name string, span api.BackfillSpan, actor string) (api.BackfillCanceled, error) {
	if b.OnEndBackfill == nil {
		return api.BackfillCanceled{}, missing("task", name)
	}
	return b.OnEndBackfill(ctx, name, span, actor)
}

// Instances implements api.Backend.
func (b *Backend) Instances(ctx context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
	if b.OnInstances == nil {
		return nil, nil
	}
	return b.OnInstances(ctx, f)
}

// Instance implements api.Backend.
func (b *Backend) Instance(ctx context.Context, id ax.InstanceID) (ax.Instance, error) {
	if b.OnInstance == nil {
		return ax.Instance{}, missing("instance", id.String())
	}
	return b.OnInstance(ctx, id)
}

// Cancel implements api.Backend.
func (b *Backend) Cancel(ctx context.Context, id ax.InstanceID, actor string) error {
	if b.OnCancel == nil {
		return missing("instance", id.String())
	}
	return b.OnCancel(ctx, id, actor)
}

// Events implements api.Backend.
func (b *Backend) Events(ctx context.Context, f ax.EventFilter) ([]ax.Event, error) {
	if b.OnEvents == nil {
		return nil, nil
	}
	return b.OnEvents(ctx, f)
}

// Follow implements api.Backend.
func (b *Backend) Follow(ctx context.Context, id ax.InstanceID) (<-chan struct{}, error) {
	if b.OnFollow == nil {
		return nil, missing("instance", id.String())
	}
	return b.OnFollow(ctx, id)
}

// Callback implements api.Backend.
func (b *Backend) Callback(ctx context.Context, id ax.InstanceID, token string, r api.CallbackResult) error {
	if b.OnCallback == nil {
		return missing("instance", id.String())
	}
	return b.OnCallback(ctx, id, token, r)
}

// Plugins implements api.Backend.
func (b *Backend) Plugins(ctx context.Context) ([]api.PluginView, error) {
	if b.OnPlugins == nil {
		return nil, nil
	}
	return b.OnPlugins(ctx)
}

// ResetPlugin implements api.Backend.
func (b *Backend) ResetPlugin(ctx context.Context, name, actor string) error {
	if b.OnResetPlugin == nil {
		return missing("plugin", name)
	}
	return b.OnResetPlugin(ctx, name, actor)
}

// Reload implements api.Backend.
func (b *Backend) Reload(ctx context.Context, actor string) (api.ReloadReport, error) {
	if b.OnReload == nil {
		return api.ReloadReport{}, nil
	}
	return b.OnReload(ctx, actor)
}

// Health implements api.Backend.
func (b *Backend) Health(ctx context.Context) api.Health {
	if b.OnHealth == nil {
		return api.Health{Status: api.HealthOK}
	}
	return b.OnHealth(ctx)
}

// Backlog implements api.Backend.
func (b *Backend) Backlog(ctx context.Context, n int) (api.Backlog, error) {
	if b.OnBacklog == nil {
		return api.Backlog{}, nil
	}
	return b.OnBacklog(ctx, n)
}

// Metrics implements api.Backend.
func (b *Backend) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(b.MetricsText))
	})
}
