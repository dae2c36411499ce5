package host

import (
	"context"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/store"
)

// A host with console_only shows what others do. It works with an account that can
// change little of the database: see schema/mysql/grants.sql.

// onlyShows reports whether this is such a host.
func (h *Host) onlyShows() bool { return h.live.Load().cfg.ConsoleOnly }

// onlyCheckSchema stands in for a migration: the account may not change tables.
func (h *Host) onlyCheckSchema(ctx context.Context) (store.MigrateReport, error) {
	return store.MigrateReport{}, h.store.CheckSchema(ctx)
}

// startShowing takes in the tasks that are in the database, and what others do with
// them. To the others this host is one that has left scheduling.
func (h *Host) startShowing(ctx context.Context, cfg *config.Config) error {
	var err error
	if h.fleet.version, err = h.store.TasksVersion(ctx, cfg.App); err != nil {
		return err
	}
	c, err := h.adopt(ctx, cfg)
	if err != nil {
		return err
	}
	h.setLive(cfg, c.entries)
	h.refreshReadiness()
	h.fleet.drained.Store(true)
	h.fleet.view.Drain()
	if err := h.fleet.start(ctx); err != nil {
		return err
	}
	h.engine.Start(c.entries, func(*ax.Task) bool { return false }, nil)
	h.onUndo(func() { h.engine.Stop() })
	h.fleet.loops.Go(h.fleet.run)
	h.log.Info("this host only shows the console: it schedules and runs nothing")
	return nil
}

// acts returns an error if this host cannot do what would start or define something.
func (n narrow) acts() error {
	if n.all.h.onlyShows() {
		return &api.Conflict{Reason: "this host only shows the console: runs, and definitions of tasks, are for hosts that schedule"}
	}
	return nil
}
