package alert_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/alert"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/pluginapi"
)

// BenchmarkStorm is failures of 200 tasks, one after the other as fast as can be,
// while the Manager writes what it gathers.
func BenchmarkStorm(b *testing.B) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{DSN: "sqlite:" + filepath.Join(b.TempDir(), "ax.db"), Log: hclog.NewNullLogger()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(ctx); err != nil {
		b.Fatal(err)
	}
	m := alert.New(alert.Config{
		App: "shop", Node: "n1", IDs: ax.NewIDs(1), Store: s, Log: hclog.NewNullLogger(),
		Notify: func(context.Context, string, pluginapi.Message) error { return nil },
	})
	if err := m.Start(ctx); err != nil {
		b.Fatal(err)
	}
	defer m.Stop(ctx)
	w := &world{tasks: map[string]*ax.Task{}}
	var tasks []*ax.Task
	for i := range 200 {
		tasks = append(tasks, w.task(fmt.Sprintf("task-%d", i)))
	}
	var longest time.Duration
	for i := 0; b.Loop(); i++ {
		now := time.Now()
		m.Observe(ax.Happening{
			What: ax.AttemptEnded, At: now, Task: tasks[i%len(tasks)],
			Instance: ax.Instance{ID: ax.InstanceID(i + 1), Attempt: 1, Node: "n1"},
			Outcome:  ax.Outcome{Status: ax.StatusFailed, Error: "exit status 1: no space left on device"},
		})
		longest = max(longest, time.Since(now))
	}
	b.ReportMetric(float64(longest.Microseconds()), "µs-longest")
}
