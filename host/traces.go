package host

import (
	"context"

	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/traces"
)

// openTraces begins to send traces, if there is somebody to take them.
func (h *Host) openTraces(cfg config.Traces) (err error) {
	if cfg.URL == "" || cfg.Percent == 0 {
		return nil
	}
	live := h.live.Load().cfg
	h.traces, err = traces.New(traces.Config{
		URL: cfg.URL, Headers: cfg.Headers, Percent: cfg.Percent,
		App: live.App, Node: live.Node, Incarnation: h.incarnation, Version: h.opts.Version,
		Log: h.log.Named("traces"), Redact: h.redactor.String,
	})
	if err != nil {
		return err
	}
	h.onUndo(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLast)
		defer cancel()
		h.traces.Stop(ctx)
	})
	return nil
}
