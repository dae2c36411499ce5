package host

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/store"
)

func writeConfig(t *testing.T, dir, tasks string) string {
	t.Helper()
	path := filepath.Join(dir, "ax.yaml")
	text := "app: a\ndata_dir: data\nplugins: {dir: plugins}\ncalendars: {work: {weekly: MON-FRI}}\ntasks:\n" + tasks
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// storeTasks writes the tasks of a configuration into its database, as a host
// does.
func storeTasks(t *testing.T, path string) {
	t.Helper()
	cfg, err := loadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{DSN: cfg.Store.DSN})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows []ax.TaskRow
	for _, task := range cfg.Tasks {
		rows = append(rows, ax.TaskRow{Task: task, TaskState: ax.TaskState{AnchorAt: time.Now().Add(-time.Hour), PlanVersion: task.Schedule.Version}})
	}
	if err := s.ApplyTasks(t.Context(), store.ApplyParams{App: cfg.App, Actor: "test", Now: time.Now(), Upsert: rows}); err != nil {
		t.Fatal(err)
	}
}

func planOffline(t *testing.T, path string) *preview.Plan {
	t.Helper()
	plan, err := PlanOffline(t.Context(), path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestPlanOffline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	same := "- {name: same, every: 1h, repeat_count: 5, job: {use: exec}}\n- {name: cal, every: 1h, calendar: work, job: {use: exec}}\n"
	path := writeConfig(t, dir, same+"- {name: gone, every: 1h, job: {use: exec}}\n")
	if plan := planOffline(t, path); len(plan.Added) != 3 || !plan.Added[0].After[0].After(time.Now()) {
		t.Errorf("without a database: %+v", plan)
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); !os.IsNotExist(err) {
		t.Error("a plan made files: ", err)
	}
	storeTasks(t, path)
	if plan := planOffline(t, path); !plan.Empty() || plan.Unchanged != 3 {
		t.Errorf("with the same tasks: %+v", plan)
	}
	writeConfig(t, dir, strings.Replace(same, "1h", "2h", 1)+"- {name: new, every: 1h, job: {use: exec}}\n")
	plan := planOffline(t, path)
	if len(plan.Added) != 1 || len(plan.Removed) != 1 || len(plan.Changed) != 1 || plan.Unchanged != 1 {
		t.Fatalf("%+v", plan)
	}
	changed := plan.Changed[0]
	if changed.Task != "same" || len(changed.Fields) != 1 || changed.Fields[0] != (preview.Field{Field: "every", Before: "1h", After: "2h"}) {
		t.Errorf("%+v", changed)
	}
	if len(changed.Before) != 4 || len(changed.After) != 5 { // one of the five repeats is over
		t.Errorf("due times: %v before, %v after", changed.Before, changed.After)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), "MON-FRI", "MON-SAT", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if plan := planOffline(t, path); len(plan.Changed) != 2 || plan.Changed[0].Fields[0].Field != "days of calendar one of its calendars" {
		t.Errorf("after a change of the calendar: %+v", plan.Changed)
	}
}

// TestCandidateHasNoSecrets: what is sent to a host does not show them.
func TestCandidateHasNoSecrets(t *testing.T) {
	t.Setenv("AX_TEST_TOKEN", "s3cret-token")
	path := writeConfig(t, t.TempDir(),
		"- {name: a, every: 1h, calendar: work, job: {use: http, with: {url: \"http://x/${env:AX_TEST_TOKEN}\"}}, params: {p: \"${env:AX_TEST_TOKEN}\"}}\n")
	c, err := ReadCandidate(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil || strings.Contains(string(text), "s3cret") || !strings.Contains(string(text), `"work"`) {
		t.Errorf("%v: %s", err, text)
	}
}
