package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/pluginapi"
)

// catalog is what the configuration's components are checked against.
func (h *Host) catalog() catalog { return catalog{h.plugins, h.live.Load().cfg.Plugins.Dir} }

type catalog struct {
	plugins *pluginhost.Host
	dir     string // where the plugins are
}

func (c catalog) Lookup(kind pluginapi.Kind, use string) (json.RawMessage, error) {
	if kind == pluginapi.KindNotifier && use == logNotifier {
		return logNotifierSchema, nil
	}
	component, err := c.plugins.Lookup(kind, use)
	return component.Schema, c.inFolder(err)
}

// readiness tells whether tasks can run with the plugins that are there.
type readiness struct {
	faults map[string]error // by task: the job or the parameters cannot be had
	sick   map[string]error // by plugin
	plugin map[string]string
}

// readiness returns the Ready function of a task, which does not hold on to it.
func (h *Host) readiness(task *ax.Task) func() error {
	name, job := task.Name, task.Job.Name
	return func() error {
		r := h.ready.Load()
		if r == nil {
			return nil
		}
		if err := r.faults[name]; err != nil {
			return err
		}
		if len(r.sick) == 0 {
			return nil
		}
		return r.sick[r.plugin[job]]
	}
}

// sickPlugins returns the plugins that no run can begin in, with the reason.
func (h *Host) sickPlugins() map[string]error {
	if r := h.ready.Load(); r != nil {
		return r.sick
	}
	return nil
}

// refreshReadiness looks at the plugins anew.
func (h *Host) refreshReadiness() {
	cfg := h.live.Load().cfg
	r := &readiness{faults: map[string]error{}, sick: map[string]error{}, plugin: map[string]string{}}
	for _, f := range cfg.CheckComponents(h.catalog()) {
		// Due times of a trigger are fetched ahead: the engine parks such a task
		// itself once it has none left.
		if f.Task != "" && f.Kind != pluginapi.KindTrigger {
			r.faults[f.Task] = errors.New(f.Message)
		}
	}
	for _, p := range h.plugins.Plugins() {
		if p.State == pluginhost.StateQuarantined {
			r.sick[p.Name] = &pluginhost.UnavailableError{
				Plugin: p.Name,
				Reason: fmt.Sprintf("it is in quarantine until \"ax plugins reset %s\" or a new file; its last crash: %s", p.Name, p.Reason),
			}
		}
	}
	for _, c := range h.plugins.Components() {
		if c.Kind == pluginapi.KindJob {
			r.plugin[c.Name], r.plugin[c.FullName()] = c.Plugin, c.Plugin
		}
	}
	h.ready.Store(r)
}

// pluginsChanged is called by the plugin host and must be quick.
func (h *Host) pluginsChanged() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// followPlugins lets the engine look at its tasks again when plugins change.
func (h *Host) followPlugins() {
	for {
		select {
		case <-h.changed:
			h.refreshReadiness()
			h.tellPlugins(time.Now())
			h.engine.Recheck()
		case <-h.quit:
			return
		}
	}
}
