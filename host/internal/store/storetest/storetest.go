// Package storetest is the conformance suite of package store: what every
// dialect must do. It also opens stores for the tests of other packages.
package storetest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
)

// Open returns a migrated store on a new SQLite file, closed with the test.
func Open(t testing.TB) *store.Store {
	s, _ := OpenFile(t)
	return s
}

// OpenFile is Open, and tells where the file is.
func OpenFile(t testing.TB) (s *store.Store, path string) {
	path = filepath.Join(t.TempDir(), "ax.db")
	return OpenWith(t, store.Options{DSN: "sqlite:" + path}), path
}

// OpenWith opens and migrates a store, and closes it with the test.
func OpenWith(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Task returns a plain task that is due first at next.
func Task(app, name string, next time.Time) ax.TaskRow {
	return ax.TaskRow{
		Task: ax.Task{
			ID: ax.NewTaskID(app, name), App: app, Name: name, Enabled: true,
			Schedule: ax.Schedule{Every: time.Second, Timezone: "UTC", Version: "v1"},
			Job:      ax.Use{Name: "noop"}, Retry: ax.DefaultRetry(), Concurrency: 1,
			Overlap: ax.OverlapSkip, Misfire: ax.Misfire{Policy: ax.MisfireSkip, Threshold: time.Minute},
			Source: "tasks.yaml:1",
		},
		TaskState: ax.TaskState{NextAt: next, AnchorAt: next, PlanVersion: "v1"},
	}
}
