package host

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/executor"
	"github.com/axsched/ax/host/internal/spool"
)

// openSpool opens the file for outcomes that the database does not take. A host
// with SQLite needs none: where its database cannot be written nothing else can.
func (h *Host) openSpool(ctx context.Context, cfg *config.Config) error {
	if !cfg.Store.Shared() || cfg.ConsoleOnly {
		return nil
	}
	var err error
	h.spool, err = spool.Open(ctx, spool.Config{
		Path: spoolPath(cfg), Keep: cfg.Cluster.SpoolFor, Node: cfg.Node,
		IDs: h.ids, Log: h.log.Named("spool"), Writer: h.writer, Events: h.store, Settled: h.settled,
	})
	if err != nil {
		return fmt.Errorf("open the spool of results: %w", err)
	}
	h.onUndo(func() {
		if err := h.spool.Close(); err != nil {
			h.log.Error("cannot close the spool of results in good order", "error", err)
		}
	})
	return nil
}

func spoolPath(cfg *config.Config) string { return filepath.Join(cfg.DataDir, "spool.db") }

// keeper returns what keeps the ends of attempts that the database does not take,
// nil if there is no spool.
func (h *Host) keeper() func(executor.Kept) error {
	if h.spool == nil {
		return nil
	}
	return func(k executor.Kept) error {
		return h.spool.Put(spool.Result{
			Move: *k.Change.Move, Events: k.Change.Events, Outcome: k.End.Outcome, WillRetry: k.End.WillRetry,
		})
	}
}

// settled is told what became of a result that was kept.
func (h *Host) settled(r spool.Result, fate spool.Fate) {
	if fate != spool.Delivered {
		return
	}
	task := h.taskOf(r.Move.New.TaskID)
	if task == nil {
		return
	}
	h.executor.Delivered(ax.Ended{Task: task, Instance: r.Move.New, Outcome: r.Outcome, WillRetry: r.WillRetry}, r.Move.Fence)
}
