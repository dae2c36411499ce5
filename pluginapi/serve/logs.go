package serve

import (
	"io"
	"log/slog"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/pluginapi/wire"
)

// logs writes the records of this process to the host: JSON in hclog's form,
// one record a line, whichever logger they come from.
type logs struct {
	level *slog.LevelVar
	slog  *slog.Logger
	hclog hclog.Logger
}

func newLogs(to io.Writer, plugin string) *logs {
	to = &lockedWriter{to: to}
	level := new(slog.LevelVar)
	handler := slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: hclogForm})
	return &logs{
		level: level,
		slog:  slog.New(handler).With("@module", plugin),
		hclog: hclog.New(&hclog.LoggerOptions{
			Name: plugin, Level: hclog.Info, Output: to, JSONFormat: true,
		}),
	}
}

// levelChanged takes over a new value of level.
func (l *logs) levelChanged() {
	l.hclog.SetLevel(hclog.LevelFromString(wire.LevelName(l.level.Level())))
}

// hclogForm renames the keys that slog adds to those of hclog.
func hclogForm(groups []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.String(a.Key, a.Value.Duration().String())
	}
	if len(groups) > 0 {
		return a
	}
	level, isLevel := a.Value.Any().(slog.Level)
	switch {
	case a.Key == slog.LevelKey && isLevel:
		return slog.String("@level", wire.LevelName(level))
	case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
		return slog.String("@timestamp", a.Value.Time().Format(hclog.TimeFormatJSON))
	case a.Key == slog.MessageKey:
		a.Key = "@message"
	}
	return a
}

// lockedWriter keeps the lines of two loggers apart.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
