package host

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/executor"
	"github.com/axsched/ax/host/internal/params"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/host/internal/redact"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

// paramsTimeout bounds how long a parameter provider may take.
const paramsTimeout = 30 * time.Second

// jobs gives the executor what a task needs for an attempt.
type jobs struct{ h *Host }

func (j jobs) Job(task *ax.Task) executor.Job {
	s, err := j.h.spec(j.h.live.Load().cfg, task, pluginapi.KindJob, task.Job)
	if err != nil {
		return unfilled{err}
	}
	return redacted{j.h.plugins.Job(s), j.h.redactor}
}

// unfilled is a job that cannot begin for want of its secrets.
type unfilled struct{ err error }

func (j unfilled) Run(context.Context, ax.RunRequest, func(ax.Output)) ax.Outcome {
	return ax.Outcome{Status: ax.StatusFailed, Error: j.err.Error(), NotBegun: true}
}

// spec is a task's use of a component, with the secrets that it names.
func (h *Host) spec(cfg *config.Config, task *ax.Task, kind pluginapi.Kind, use ax.Use) (s pluginhost.Spec, err error) {
	if use.With, err = h.fill(cfg, task, kind, use); err != nil {
		return s, err
	}
	return spec(task, use), nil
}

// spec is the use of a component by a task of a file.
func spec(task *ax.Task, use ax.Use) pluginhost.Spec {
	zone, err := trigger.Zone(task.Schedule.Timezone)
	if err != nil {
		zone = time.UTC // refused when the configuration was loaded
	}
	return pluginhost.Spec{Use: use.Name, Settings: use.With, Zone: zone, Seed: trigger.Seed(task.Name)}
}

// Lane is the job component: the jobs of one component may block one another,
// but not those of others.
func (j jobs) Lane(task *ax.Task) string { return task.Job.Name }

func (j jobs) BindParams(ctx context.Context, task *ax.Task, req ax.RunRequest, over json.RawMessage) (json.RawMessage, bool, error) {
	tmpl, err := params.Compile(task.Params)
	if err != nil {
		return nil, false, err
	}
	made, err := tmpl.Render(params.Values{
		App: req.App, Task: req.Task, InstanceID: req.Instance.String(), Kind: string(req.Kind),
		Node: req.Node, TraceID: req.TraceID, ScheduledAt: req.ScheduledAt, Shard: req.Shard, Shards: req.Shards,
	})
	if err != nil {
		return nil, false, err
	}
	if task.ParamsFrom != nil {
		ctx, cancel := context.WithTimeout(ctx, paramsTimeout)
		defer cancel()
		req.Params = made
		s, err := j.h.spec(j.h.live.Load().cfg, task, pluginapi.KindParams, *task.ParamsFrom)
		if err != nil {
			return nil, false, fmt.Errorf("%w: %w", ax.ErrAway, err)
		}
		provided, err := j.h.plugins.Params(s).Resolve(ctx, req)
		if err != nil {
			return nil, false, err
		}
		if made, err = params.Merge(made, provided); err != nil {
			return nil, false, err
		}
	}
	made, err = params.Merge(made, over)
	return made, err == nil && !j.h.redactor.Found(made), err
}

func (j jobs) Before(ctx context.Context, _ *ax.Task, req ax.RunRequest) {
	j.h.listen.notice(ctx, wire.EventBefore, req, nil)
}

// redacted takes secrets out of what a job says before it is kept.
type redacted struct {
	job executor.Job
	r   *redact.Redactor
}

func (j redacted) Run(ctx context.Context, req ax.RunRequest, sink func(ax.Output)) ax.Outcome {
	out := j.job.Run(ctx, req, func(o ax.Output) {
		for i := range o.Lines {
			o.Lines[i].Text = j.r.String(o.Lines[i].Text)
		}
		if o.Progress != nil {
			o.Progress.Message = j.r.String(o.Progress.Message)
		}
		sink(o)
	})
	out.Message, out.Error, out.Data = j.r.String(out.Message), j.r.String(out.Error), j.r.Bytes(out.Data)
	return out
}
