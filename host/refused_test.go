package host

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
)

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
