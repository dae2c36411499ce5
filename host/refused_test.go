package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
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

// TestRefusedConfiguration: that an edit was refused is told by the health until
// it is repaired, by whichever way the file is read again.
func TestRefusedConfiguration(t *testing.T) {
	t.Parallel()
	const good = "- {name: report, every: 1h, job: {use: log}}\n"
	h, path, log := started(t, good)
	told := func() string {
		for _, reason := range (backend{h}).Health(t.Context()).Reasons {
			if strings.HasPrefix(reason, "config: ") {
				return reason
			}
		}
		return ""
	}
	if got := told(); got != "" {
		t.Errorf("a good configuration: %s", got)
	}
	writeTasks(t, path, good+"- {name: report, evry: 1h}\n")
	if _, err := h.Reload(t.Context(), "test"); err == nil {
		t.Fatal("faults are taken")
	}
	first := told()
	if !strings.HasPrefix(first, "config: refused since 20") || !strings.Contains(first, path+":7:") || !strings.Contains(first, " more)") {
		t.Errorf("health says %q", first)
	}
	if status := (backend{h}).Health(t.Context()).Status; status != api.HealthDegraded {
		t.Errorf("the host is %s", status)
	}
	writeTasks(t, path, "- {nme: x}\n")
	h.reloadChanged() // as the watcher does
	if got := told(); !strings.HasPrefix(got, first[:len("config: refused since 2026-03-01 10:00:00")]) || !strings.Contains(got, path+":6:") {
		t.Errorf("after another edit health says %q, at first %q", got, first)
	}
	writeTasks(t, path, good)
	h.reloadChanged()
	if got := told(); got != "" {
		t.Errorf("after the repair: %s", got)
	}
	if text := log.take(); !strings.Contains(text, "is not put in force, the one before goes on") || !strings.Contains(text, "the configuration is good again") {
		t.Errorf("the log says:\n%s", text)
	}
}

// TestReloadTellsWhatWaits: tasks that wait for a plugin are no fault, but a
// warning, one for all that wait for the same.
func TestReloadTellsWhatWaits(t *testing.T) {
	t.Parallel()
	h, path, log := started(t, "- {name: a, every: 1h, job: {use: exec}}\n")
	want := path + `:6:35: no plugin offers the job "exec"; the plugin folder ` + filepath.Join(filepath.Dir(path), "plugins") +
		" is empty; what needs it waits until there is one"
	if text := log.take(); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	writeTasks(t, path, "- {name: a, every: 1h, job: {use: exec}}\n- {name: b, every: 1h, job: {use: exec}}\n")
	report, err := h.Reload(t.Context(), "test")
	if err != nil || len(report.Warnings) != 1 || report.Warnings[0] != want+" (needed in 2 places)" {
		t.Errorf("%v, %q", err, report.Warnings)
	}
	plan, err := backend{h}.Plan(t.Context(), nil)
	if err != nil || len(plan.Warnings) != 1 {
		t.Errorf("plan: %v, %q", err, plan.Warnings)
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
