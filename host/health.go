package host

import (
	"context"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/pluginapi/calendar"
)

func (b backend) Plugins(context.Context) ([]api.PluginView, error) {
	var views []api.PluginView
	for _, p := range b.h.plugins.Plugins() {
		v := api.PluginView{
			Name: p.Name, Version: p.Version, Description: p.Description, Path: p.Path,
			State: stateText(p.State), Reason: p.Reason, PID: p.PID, StartedAt: p.StartedAt,
			Restarts: p.Restarts, Running: p.InFlight, Components: []api.ComponentView{},
		}
		for _, c := range p.Components {
			v.Components = append(v.Components, api.ComponentView{Kind: string(c.Kind), Name: c.Name, Description: c.Description})
		}
		views = append(views, v)
	}
	return views, nil
}

// stateText names a state for those who use plugins: one whose process starts
// when it is first needed is as ready as one whose process runs.
func stateText(s pluginhost.State) string {
	if s == pluginhost.StateDiscovered {
		s = pluginhost.StateReady
	}
	return string(s)
}

func (b backend) ResetPlugin(_ context.Context, name, actor string) error {
	if err := b.h.plugins.Reset(name); err != nil {
		return &api.NotFound{What: "plugin", Name: name}
	}
	b.h.log.Info("plugin reset", "plugin", name, "by", actor)
	return nil
}

func (b backend) Health(ctx context.Context) api.Health {
	h := b.h
	cfg := h.live.Load().cfg
	health := api.Health{
		Version: h.opts.Version, App: cfg.App, Node: cfg.Node, Incarnation: h.incarnation,
		StartedAt: h.startedAt, UptimeSeconds: int64(time.Since(h.startedAt).Seconds()), Database: "sqlite", DatabaseOK: true,
	}
	health.Running, health.QueueDepth = h.executor.Counts()
	worsen := func(to api.HealthStatus, reason string) {
		health.Status = to
		health.Reasons = append(health.Reasons, reason)
	}
	health.Status, health.Reasons = gapHealth(cfg.Gaps(calendar.DateOf(time.Now())))
	health.Tasks, health.TasksParked = h.engine.Count()
	if health.TasksParked > 0 {
		worsen(api.HealthDegraded, fmt.Sprintf("%d of %d tasks are parked", health.TasksParked, health.Tasks))
	}
	if r := h.refused.Load(); r != nil {
		worsen(api.HealthDegraded, r.String())
	}
	for _, p := range h.plugins.Plugins() {
		health.Plugins++
		switch p.State {
		case pluginhost.StateReady, pluginhost.StateDiscovered, pluginhost.StateStarting:
			health.PluginsReady++
		case pluginhost.StateGone:
			health.Plugins--
		case pluginhost.StateBackoff, pluginhost.StateQuarantined, pluginhost.StateRefused, pluginhost.StateDraining:
			worsen(api.HealthDegraded, fmt.Sprintf("plugin %s is %s: %s", p.Name, p.State, p.Reason))
		}
	}
	for _, reason := range h.notifierTroubles(ctx) {
		worsen(api.HealthDegraded, reason)
	}
	block := func(to api.HealthStatus, brief, more string) {
		worsen(to, brief+more)
		health.NotReady = append(health.NotReady, brief) // everybody may read that
	}
	if _, err := h.store.Now(ctx); err != nil || h.fleet.view.Failing() {
		health.DatabaseOK = false
		block(api.HealthFailing, "the database does not answer, or cannot be written", "")
	}
	if lost := h.data.missing(); lost != "" {
		health.DatabaseOK = false
		block(api.HealthFailing, "a file of the host is gone", ": "+lost+"; "+dataRemedy())
	}
	if h.fleet.drained.Load() && !h.onlyShows() {
		block(api.HealthDegraded, "the host is drained", ": it schedules nothing and gets nothing to run until \"ax drain --undo\" or a restart")
	}
	if h.draining.Load() {
		block(api.HealthDraining, "the host is stopping", "")
	}
	return health
}
