package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
	"github.com/axsched/ax/schema"
)

// accounts are the DSNs of the three accounts of grants.sql for a database.
type accounts struct{ owner, host, console string }

// grant makes a database with tables and its accounts as grants.sql says.
func grant(t *testing.T, prefixes ...string) accounts {
	t.Helper()
	dsn := mysqltest.DSN(t)
	server := dsn[strings.LastIndex(dsn, "@")+1:]
	database := server[strings.Index(server, "/")+1:]
	// Names of its own, since accounts are the server's and tests run at once.
	suffix := strings.TrimPrefix(database, "ax_test")
	text := strings.NewReplacer("`ax`", "`"+database+"`",
		"'ax_owner'", "'owner"+suffix+"'", "'ax_host'", "'host"+suffix+"'", "'ax_console'", "'console"+suffix+"'").Replace(schema.Grants)
	first, second, found := strings.Cut(text, "\n-- Part 2")
	if !found {
		t.Fatal("grants.sql has no part 2")
	}
	a := accounts{
		owner:   "mysql://owner" + suffix + ":change-me-owner@" + server,
		host:    "mysql://host" + suffix + ":change-me-host@" + server,
		console: "mysql://console" + suffix + ":change-me-console@" + server,
	}
	t.Cleanup(func() {
		mysqltest.Exec(t, "DROP USER 'owner"+suffix+"'@'%', 'host"+suffix+"'@'%', 'console"+suffix+"'@'%'")
	})
	mysqltest.Exec(t, store.Statements(first)...)
	for _, prefix := range append(prefixes, "") {
		s, err := store.Open(t.Context(), store.Options{DSN: a.owner, Prefix: prefix, PartitionDays: 2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	mysqltest.Exec(t, store.Statements("-- Part 2"+second)...)
	return a
}

// TestMySQLHostAccount: a host may do everything with an account that cannot
// change the schema.
func TestMySQLHostAccount(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Options {
		return store.Options{DSN: grant(t, "second_").host, PartitionDays: 2}
	})
}

func TestMySQLHostAccountChangesNoSchema(t *testing.T) {
	t.Parallel()
	a := grant(t)
	s, err := store.Open(t.Context(), store.Options{DSN: a.host, Prefix: "none_"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Migrate(t.Context())
	if err == nil || !strings.Contains(err.Error(), "ax migrate") || !strings.Contains(err.Error(), "grants.sql") {
		t.Errorf("migrate: %v, want the cure in it", err)
	}
	s = storetest.OpenWith(t, store.Options{DSN: a.host, PartitionDays: 5})
	r, err := s.MaintainPartitions(t.Context(), store.PartitionParams{Kept: ax.Kept{App: "a"}, Ahead: 5})
	if !errors.Is(err, store.ErrNotPermitted) || len(r.Added) > 0 || r.Until.IsZero() {
		t.Errorf("partitions: %+v, %v; want ErrNotPermitted", r, err)
	}
}

// TestMySQLConsoleAlerts: in a console people silence alerts, send dead letters
// again and drop them, and write no messages.
func TestMySQLConsoleAlerts(t *testing.T) {
	t.Parallel()
	a := grant(t)
	host := storetest.OpenWith(t, store.Options{DSN: a.host})
	lease, ok, err := host.TakeAlertLease(t.Context(), "a", "h1", time.Hour, true)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	letter := ax.AlertRow{
		ID: 1, App: "a", TaskID: 7, Notifier: "ops", Event: "failed", State: ax.AlertGivenUp,
		WindowStart: now, WindowEnd: now, Count: 1, FirstAt: now, LastAt: now, NextTryAt: now,
	}
	other := letter
	other.ID, other.State, other.NextTryAt = 2, ax.AlertOpen, now.Add(time.Hour)
	batch := ax.AlertBatch{Lease: lease, TTL: time.Hour, Rows: []ax.AlertRow{letter, other}}
	if err := host.WriteAlerts(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{DSN: a.console})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	silence := ax.AlertSilence{ID: 9, App: "a", Until: now.Add(time.Hour), At: now}
	for _, step := range []struct {
		what string
		err  error
	}{
		{"silence", s.Silence(t.Context(), silence)},
		{"end a silence", s.EndSilence(t.Context(), "a", silence.ID)},
		{"let held ones go", s.AdvanceAlerts(t.Context(), "a", now, now)},
		{"drop", s.DropAlert(t.Context(), "a", letter.ID)},
	} {
		if step.err != nil {
			t.Errorf("%s: %v", step.what, step.err)
		}
	}
	letter.ID = 3
	batch.Rows = []ax.AlertRow{letter}
	if err := host.WriteAlerts(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if err := s.ResendAlert(t.Context(), "a", letter.ID, now); err != nil {
		t.Errorf("resend: %v", err)
	}
	if err := s.WriteAlerts(t.Context(), batch); err == nil || !strings.Contains(err.Error(), "lacks a right") {
		t.Errorf("the console writes messages: %v", err)
	}
}

// TestMySQLConsoleAccount: a console reads everything, shows that it is there,
// and lets people pause tasks. It cannot touch instances.
func TestMySQLConsoleAccount(t *testing.T) {
	t.Parallel()
	a := grant(t)
	host := storetest.OpenWith(t, store.Options{DSN: a.host})
	task := storetest.Task("a", "t", time.Now())
	if err := host.ApplyTasks(t.Context(), store.ApplyParams{App: "a", Now: time.Now(), Upsert: []ax.TaskRow{task}}); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{DSN: a.console})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	node := ax.Node{Incarnation: "console-1", App: "a", StartedAt: time.Now()}
	for what, err := range map[string]error{
		"schema":   s.CheckSchema(t.Context()),
		"register": s.RegisterNode(t.Context(), node),
		"pause":    s.SetPaused(t.Context(), store.PauseParams{Task: task.ID, Paused: true, Now: time.Now()}),
		"audit":    s.Audit(t.Context(), ax.AuditRow{App: "a", At: time.Now()}),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Heartbeat(t.Context(), node); err != nil {
		t.Error(err)
	}
	if rows, err := s.Tasks(t.Context(), "a"); err != nil || len(rows) != 1 || !rows[0].Paused {
		t.Errorf("tasks: %+v, %v", rows, err)
	}
	answer := make(chan error, 1)
	now := time.Now()
	s.Submit(ax.Change{
		Insert: []ax.Instance{{ID: 1, App: "a", TaskID: task.ID, ScheduledAt: now, CreatedAt: now, Kind: ax.KindManual, Status: ax.StatusRunning}},
		Done:   func(_ bool, err error) { answer <- err },
	})
	if err := <-answer; err == nil || !strings.Contains(err.Error(), "lacks a right") {
		t.Errorf("inserting an instance: %v, want the right to be missing", err)
	}
	if err := s.ApplyTasks(t.Context(), store.ApplyParams{App: "a", Now: now, Delete: []ax.TaskID{task.ID}}); err == nil {
		t.Error("the console deletes tasks")
	}
}
