package host

import (
	"context"
	"time"

	"github.com/axsched/ax/pluginapi"
)

const (
	// stopPlugins bounds the end of the plugins once nothing runs any more.
	stopPlugins = 15 * time.Second
	// stopServer bounds the end of requests under way.
	stopServer = 2 * time.Second
	// stopLast bounds the last messages and notices.
	stopLast = 10 * time.Second
)

// Stop ends the host in good order: nothing is started any more, running jobs
// get their grace period, what they report is written, plugins end. ctx cuts
// the grace period short. It may be called again.
func (h *Host) Stop(ctx context.Context) {
	h.stopOnce.Do(func() {
		grace := h.live.Load().cfg.Executor.Grace
		running, queued := h.executor.Counts()
		h.log.Info("host is stopping; a second signal (Ctrl-C) ends it at once, and what runs with it", "running", running, "queued", queued, "grace", grace)
		h.draining.Store(true)
		h.fleet.drain()
		close(h.quit)
		h.loops.Wait()
		h.engine.StopFiring()
		wait, cancel := context.WithTimeoutCause(ctx, grace, pluginapi.ErrDrain)
		h.executor.Drain(wait)
		cancel()
		h.engine.Stop()
		h.undo()
		h.log.Info("host stopped")
	})
}
