package wire

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"
)

func TestRunHandler(t *testing.T) {
	t.Parallel()
	var got []string
	log := slog.New(newRunHandler(slog.LevelDebug, func(level slog.Level, text string) {
		got = append(got, LevelName(level)+": "+text)
	}))
	log.Info("plain")
	log.Warn("two words", "n", 1, "text", "a b", "err", errors.New("bad"))
	log.With("run", 7).WithGroup("http").Error("failed", "status", 500, slog.Group("req", "id", 3))
	log.Log(t.Context(), LevelTrace, "too low")
	log.Debug("own keys", "level", "mine", "msg", "kept", "time", time.Second)
	log.Info("", "only", "attributes")
	log.Info("not lost: " + log.Handler().WithGroup("").(*runHandler).min.Level().String())
	want := []string{
		"info: plain",
		`warn: two words n=1 text="a b" err=bad`,
		"error: failed run=7 http.status=500 http.req.id=3",
		"debug: own keys level=mine msg=kept time=1s",
		"info: only=attributes",
		"info: not lost: DEBUG",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestLevelNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"trace", "debug", "info", "warn", "error"} {
		if got := LevelName(ParseLevel(name)); got != name {
			t.Errorf("level %s becomes %s", name, got)
		}
	}
	if got := ParseLevel("loud"); got != slog.LevelInfo {
		t.Errorf("an unknown level becomes %v", got)
	}
}
