package host

import (
	"context"
	"fmt"
	"reflect"

	"github.com/axsched/ax/host/internal/config"
)

// Report says what a reload changed, in numbers of tasks.
type Report struct {
	Added, Changed, Removed, Unchanged int
	// Warnings tell what takes a restart, which components no plugin offers yet,
	// and what the configuration warns of.
	Warnings []string
}

// Reload reads the configuration again and puts it in force. If anything is
// wrong with it nothing changes, and the error is config.Faults.
func (h *Host) Reload(ctx context.Context, actor string) (Report, error) {
	h.reload.Lock()
	defer h.reload.Unlock()
	cfg, err := h.loadAgain()
	var report Report
	if err == nil {
		report, err = h.putInForce(ctx, cfg, actor)
	}
	if ctx.Err() == nil { // else it was not the configuration's fault
		h.reread(err)
	}
	return report, err
}

// loadAgain reads the configuration; h.reload is held.
func (h *Host) loadAgain() (*config.Config, error) {
	defer thrifty()()
	return loadConfig(h.opts.Config)
}

func (h *Host) putInForce(ctx context.Context, cfg *config.Config, actor string) (Report, error) {
	defer release()
	defer thrifty()()
	h.redactor.Set(cfg.Secrets)
	waiting, err := splitFaults(cfg.CheckComponents(h.catalog()))
	if err != nil {
		return Report{}, err
	}
	old := h.live.Load().cfg
	warnings := append(restartNeeded(old, cfg), waiting...)
	keepFixed(cfg, old)
	applyAccess, err := h.prepareAccess(cfg)
	if err != nil {
		return Report{}, err
	}
	c, err := h.takeIn(ctx, cfg, actor)
	if err != nil {
		return Report{}, err
	}
	applyAccess()
	h.setLive(cfg, c.entries)
	h.refreshReadiness()
	h.engine.Apply(c.entries)
	for _, w := range cfg.Warnings {
		warnings = append(warnings, w.String())
	}
	report := Report{
		Added: c.added, Changed: c.changed, Removed: len(c.remove),
		Unchanged: len(c.entries) - c.added - c.changed, Warnings: warnings,
	}
	h.log.Info("configuration reloaded", "by", actor, "added", report.Added, "changed", report.Changed,
		"removed", report.Removed, "unchanged", report.Unchanged)
	for _, w := range warnings {
		h.log.Warn(w)
	}
	return report, nil
}

// takeIn brings a configuration and the database together, once it was read again.
func (h *Host) takeIn(ctx context.Context, cfg *config.Config, actor string) (*changes, error) {
	if cfg.ConsoleOnly {
		return h.adopt(ctx, cfg)
	}
	c, err := h.define(ctx, cfg, actor, true)
	if err == nil {
		err = h.noteReload(ctx, cfg, actor)
	}
	return c, err
}

// restartNeeded names the settings that differ and are read at the start only.
func restartNeeded(old, cfg *config.Config) []string {
	var warnings []string
	for _, s := range []struct {
		key      string
		old, new any
	}{
		{"app", old.App, cfg.App},
		{"node", old.Node, cfg.Node},
		{"data_dir", old.DataDir, cfg.DataDir},
		{"store", old.Store, cfg.Store},
		{"console_only", old.ConsoleOnly, cfg.ConsoleOnly},
		{"http", old.HTTP, cfg.HTTP},
		{"cluster", old.Cluster, cfg.Cluster},
		{"log", old.Log, cfg.Log},
		{"plugins", old.Plugins, cfg.Plugins},
		{"executor", old.Executor, cfg.Executor},
		{"traces", old.Traces, cfg.Traces},
		{"metrics", old.Metrics, cfg.Metrics},
	} {
		if !reflect.DeepEqual(s.old, s.new) {
			warnings = append(warnings, fmt.Sprintf("%s has changed, which takes a restart of the host", s.key))
		}
	}
	return warnings
}

// keepFixed keeps in force what a running host cannot change.
func keepFixed(cfg, old *config.Config) {
	cfg.App, cfg.Node, cfg.DataDir, cfg.Store = old.App, old.Node, old.DataDir, old.Store
	cfg.ConsoleOnly = old.ConsoleOnly
	cfg.HTTP, cfg.Cluster, cfg.Log = old.HTTP, old.Cluster, old.Log
	cfg.Plugins, cfg.Executor = old.Plugins, old.Executor
	cfg.Traces, cfg.Metrics = old.Traces, old.Metrics
}
