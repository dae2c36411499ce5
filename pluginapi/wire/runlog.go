package wire

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// runHandler is the slog.Handler behind Run.Log: it sends "message key=value".
type runHandler struct {
	min    slog.Leveler
	emit   func(level slog.Level, text string)
	attrs  slog.Handler // writes the attributes alone, into shared
	shared *sharedBuffer
}

// sharedBuffer is where all handlers derived from one write attributes.
type sharedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func newRunHandler(min slog.Leveler, emit func(slog.Level, string)) *runHandler {
	shared := &sharedBuffer{}
	attrs := slog.NewTextHandler(shared, &slog.HandlerOptions{Level: LevelTrace, ReplaceAttr: dropOwn})
	return &runHandler{min: min, emit: emit, attrs: attrs, shared: shared}
}

// dropOwn leaves out what a text handler writes of itself: the level, and the
// message, which [runHandler.Handle] makes empty. The time is zero and so not
// written.
func dropOwn(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	_, isLevel := a.Value.Any().(slog.Level)
	if a.Key == slog.LevelKey && isLevel || a.Key == slog.MessageKey && a.Value.String() == "" {
		return slog.Attr{}
	}
	return a
}

// Enabled implements slog.Handler.
func (h *runHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.min.Level() }

// Handle implements slog.Handler.
func (h *runHandler) Handle(ctx context.Context, r slog.Record) error {
	bare := slog.Record{Level: r.Level}
	r.Attrs(func(a slog.Attr) bool {
		bare.AddAttrs(a)
		return true
	})
	attrs, err := h.format(ctx, bare)
	h.emit(r.Level, strings.TrimSpace(r.Message+" "+attrs))
	return err
}

func (h *runHandler) format(ctx context.Context, bare slog.Record) (string, error) {
	h.shared.mu.Lock()
	defer h.shared.mu.Unlock()
	h.shared.Reset()
	err := h.attrs.Handle(ctx, bare)
	return strings.TrimSuffix(h.shared.String(), "\n"), err
}

// WithAttrs implements slog.Handler.
func (h *runHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	derived := *h
	derived.attrs = h.attrs.WithAttrs(attrs)
	return &derived
}

// WithGroup implements slog.Handler.
func (h *runHandler) WithGroup(name string) slog.Handler {
	derived := *h
	derived.attrs = h.attrs.WithGroup(name)
	return &derived
}
