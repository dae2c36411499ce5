package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/cron"
)

// started returns a running host with the tasks of a configuration, its file and
// its log.
func started(t *testing.T, tasks string) (h *Host, path string, log *record) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	path, log = filepath.Join(dir, "ax.yaml"), &record{}
	writeTasks(t, path, tasks)
	h, err := New(Options{Config: path, Log: hclog.New(&hclog.LoggerOptions{Output: log})})
	if err == nil {
		err = h.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Stop(t.Context()) })
	return h, path, log
}

func writeTasks(t *testing.T, path, tasks string) {
	t.Helper()
	text := "app: a\ndata_dir: data\nhttp: {listen: off}\nplugins: {dir: plugins}\ntasks:\n" + tasks
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNextAfterPause: a paused task shows no due time within its pause.
func TestNextAfterPause(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, `- {name: nightly, cron: "0 0 2 * * ?", job: {use: exec}}
- {name: off, every: 1h, enabled: false, job: {use: exec}}
`)
	b := backend{h}
	until := time.Now().AddDate(0, 0, 10).Truncate(time.Second)
	if err := b.Pause(t.Context(), "nightly", until, "test"); err != nil {
		t.Fatal(err)
	}
	schedule, err := cron.Parse("0 0 2 * * ?", cron.Options{Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	if task, err := b.Task(t.Context(), "nightly"); err != nil || !task.NextAt.Equal(schedule.Next(until)) || task.State != api.TaskPaused {
		t.Errorf("paused until %s, next at %s, %v", until, task.NextAt, err)
	}
	if err := b.Pause(t.Context(), "nightly", time.Time{}, "test"); err != nil {
		t.Fatal(err)
	}
	if task, err := b.Task(t.Context(), "nightly"); err != nil || !task.NextAt.IsZero() {
		t.Errorf("paused for good, next at %s, %v", task.NextAt, err)
	}
	if err := b.Resume(t.Context(), "nightly", "test"); err != nil {
		t.Fatal(err)
	}
	if task, err := b.Task(t.Context(), "nightly"); err != nil || task.NextAt.IsZero() || task.NextAt.After(until) {
		t.Errorf("resumed, next at %s, %v", task.NextAt, err)
	}
	if task, err := b.Task(t.Context(), "off"); err != nil || task.State != api.TaskOff || !task.NextAt.IsZero() {
		t.Errorf("disabled, next at %s, %v", task.NextAt, err)
	}
}

// TestUnknownInstance: who asks for a run that is not there is told so.
func TestUnknownInstance(t *testing.T) {
	t.Parallel()
	h, _, _ := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	b := backend{h}
	ask := map[string]func(ax.InstanceID) error{
		"show":     func(id ax.InstanceID) error { _, err := b.Instance(t.Context(), id); return err },
		"cancel":   func(id ax.InstanceID) error { return b.Cancel(t.Context(), id, "test") },
		"follow":   func(id ax.InstanceID) error { _, err := b.Follow(t.Context(), id); return err },
		"callback": func(id ax.InstanceID) error { return b.Callback(t.Context(), id, "", api.CallbackResult{}) },
	}
	for name, f := range ask {
		if missing, ok := errors.AsType[*api.NotFound](f(1)); !ok || missing.Error() != `there is no instance "1"` {
			t.Errorf("%s: %v", name, f(1))
		}
	}
}
