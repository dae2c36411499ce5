package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/trigger"
)

// What the harness expects of the tasks is what their configuration says, and they
// are due as often as was asked for.
func TestTasksAreDueAsConfigured(t *testing.T) {
	t.Parallel()
	const rate = 300
	tasks, err := makeTasks(rand.New(rand.NewPCG(3, 0)), options{Rate: rate, Outage: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2126, 5, 1, 12, 0, 0, 0, time.UTC) // a century ahead: nothing warns that it is past
	until := from.Add(time.Minute)
	path := filepath.Join(t.TempDir(), "ax.yaml")
	text := "app: chaos\nstore: {dsn: \"mysql://root@db/ax\"}\n" + configured(tasks, from, until, "/journal")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path, config.Options{Env: os.LookupEnv, Now: from.Add(-time.Hour), Node: "n"})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Warnings) > 0 {
		t.Errorf("warnings: %v", cfg.Warnings)
	}
	if len(cfg.Tasks) != len(tasks) {
		t.Fatalf("%d tasks are configured, want %d", len(cfg.Tasks), len(tasks))
	}
	sum := 0
	for i, task := range tasks {
		compiled, err := trigger.Compile(trigger.Spec{Schedule: cfg.Tasks[i].Schedule, Task: task.name})
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := compiled.Next(t.Context(), from.Add(-time.Hour), time.Time{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Time
		for due := task.next(from.Add(-1)); due.Before(until); due = task.next(due) {
			got = append(got, due)
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("%s, %s: expected %v, its trigger says %v", task.name, task.schedule, got, want)
		}
		sum += len(got)
	}
	if seconds := int(until.Sub(from) / time.Second); sum < rate*seconds || sum > rate*seconds*102/100 {
		t.Errorf("%d due times in %d seconds, want %d a second", sum, seconds, rate)
	}
}
