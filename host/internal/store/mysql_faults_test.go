package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// begin opens a transaction of another client.
func begin(t *testing.T, dsn string) *sql.Tx {
	t.Helper()
	db, err := sql.Open("mysql", mysqltest.DriverDSN(dsn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func execTx(t *testing.T, tx *sql.Tx, text string, args ...any) {
	t.Helper()
	if _, err := tx.Exec(text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// TestMySQLLockedRows: another client holds a row for longer than the server
// lets anybody wait. The change waits for it, and so does a direct one.
func TestMySQLLockedRows(t *testing.T) {
	t.Parallel()
	dsn := mysqltest.DSN(t)
	s := storetest.OpenWith(t, store.Options{DSN: dsn, PartitionDays: 1})
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	task := storetest.Task("a", "t", at)
	apply := func() error {
		return s.ApplyTasks(t.Context(), store.ApplyParams{App: "a", Now: at, Upsert: []ax.TaskRow{task}})
	}
	if err := apply(); err != nil {
		t.Fatal(err)
	}
	tx := begin(t, dsn)
	execTx(t, tx, "UPDATE ax_task SET failures = failures + 1")
	answer := make(chan error, 2)
	s.Submit(ax.Change{
		Plan: &ax.Plan{Task: task.ID, From: at, To: at.Add(time.Hour)},
		Done: func(applied bool, err error) {
			if err == nil && !applied {
				err = errors.New("refused")
			}
			answer <- err
		},
	})
	task.Description = "new"
	go func() { answer <- apply() }()
	time.Sleep(5500 * time.Millisecond) // innodb_lock_wait_timeout is 5 s: the server has given up once
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-answer; err != nil {
			t.Error(err)
		}
	}
	if got, err := s.Task(t.Context(), "a", "t"); err != nil || !got.NextAt.Equal(at.Add(time.Hour)) || got.Description != "new" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMySQLDeadlocks: hosts that lock the same rows in another order get in each
// other's way. Nothing of it is seen from outside.
func TestMySQLDeadlocks(t *testing.T) {
	t.Parallel()
	o := store.Options{DSN: mysqltest.DSN(t), PartitionDays: 1}
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var tasks []ax.TaskRow
	for n := range 40 {
		tasks = append(tasks, storetest.Task("a", fmt.Sprintf("t%02d", n), at))
	}
	var wg sync.WaitGroup
	for h := range 3 {
		s := storetest.OpenWith(t, o)
		wg.Go(func() {
			for round := range 8 {
				rows := make([]ax.TaskRow, len(tasks))
				for n := range tasks { // another order for each host and round
					rows[n] = tasks[(n*7+h*13+round*5)%len(tasks)]
					rows[n].Description = fmt.Sprint(h, round)
				}
				if err := s.ApplyTasks(t.Context(), store.ApplyParams{App: "a", Now: at, Upsert: rows}); err != nil {
					t.Errorf("host %d: %v", h, err)
				}
				for n := range rows {
					wg.Add(1)
					s.Submit(ax.Change{Plan: &ax.Plan{Task: rows[n].ID, From: at, To: at, Prev: at}, Done: func(applied bool, err error) {
						defer wg.Done()
						if err != nil || !applied {
							t.Errorf("host %d: %v, %v", h, applied, err)
						}
					}})
				}
			}
		})
	}
	wg.Wait()
}

// TestMySQLServerEnds: the server is killed and stopped under load, again and
// again. What was answered is there, once, and nothing is answered with an error.
func TestMySQLServerEnds(t *testing.T) {
	t.Parallel()
	server, dsn := mysqltest.Private(t, mysqltest.Options{})
	s := storetest.OpenWith(t, store.Options{DSN: dsn, PartitionDays: 1, MaxBatch: 20})
	ids := ax.NewIDs(1)
	type answer struct {
		id      ax.InstanceID
		applied bool
		err     error
	}
	answers := make(chan answer, 10_000)
	stop := make(chan struct{})
	var sender sync.WaitGroup
	sent := 0
	sender.Go(func() {
		for at := time.Now(); ; at = at.Add(time.Millisecond) {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond): // some load
			}
			i := ax.Instance{ID: ax.InstanceID(ids.Next(at)), App: "a", TaskID: 1, ScheduledAt: at, CreatedAt: at, Kind: ax.KindScheduled, Status: ax.StatusRunning}
			sent++
			s.Submit(ax.Change{Insert: []ax.Instance{i}, Done: func(applied bool, err error) { answers <- answer{i.ID, applied, err} }})
		}
	})
	var promised []answer
	for _, end := range []func(){server.Kill, server.Halt, server.Kill} {
		for range 100 {
			promised = append(promised, <-answers)
		}
		end()
		if err := server.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	sender.Wait()
	for len(promised) < sent {
		promised = append(promised, <-answers)
	}
	rows, err := s.Instances(t.Context(), ax.InstanceFilter{App: "a", Limit: 2 * sent})
	if err != nil || len(rows) != sent {
		t.Errorf("%d rows, %d changes were sent (%v)", len(rows), sent, err)
	}
	for _, a := range promised {
		if a.err != nil || !a.applied {
			t.Errorf("instance %d: %v, %v", a.id, a.applied, a.err)
		}
	}
	t.Logf("%d changes, %d retries", sent, s.Stats().Retries)
}

// fill takes all connections that a server has left, and returns what gives them
// back.
func fill(t *testing.T, dsn string) (release func()) {
	t.Helper()
	var all []*sql.DB
	for {
		db, err := sql.Open("mysql", mysqltest.DriverDSN(dsn))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, db)
		if db.PingContext(t.Context()) != nil {
			return func() {
				for _, db := range all {
					db.Close()
				}
			}
		}
	}
}

// TestMySQLFullServer: the server has no connection left, and people are told
// what to do.
func TestMySQLFullServer(t *testing.T) {
	t.Parallel()
	_, dsn := mysqltest.Private(t, mysqltest.Options{Args: []string{"--max-connections=10"}})
	release := fill(t, dsn)
	defer release()
	_, err := store.Open(t.Context(), store.Options{DSN: dsn})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "raise its max_connections") {
		t.Errorf("got %v, want ErrUnavailable and the cure", err)
	}
}

// TestMySQLReadOnly: the server was demoted. Changes wait, on new connections,
// until it or its successor takes them.
func TestMySQLReadOnly(t *testing.T) {
	t.Parallel()
	_, dsn := mysqltest.Private(t, mysqltest.Options{})
	root, err := sql.Open("mysql", mysqltest.DriverDSN(dsn))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	run := func(text string) {
		t.Helper()
		if _, err := root.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	run("CREATE USER host@'%'") // root may write to a server that is read-only
	run("GRANT ALL ON ax.* TO host@'%'")
	troubled := make(lines, 100)
	s := storetest.OpenWith(t, store.Options{
		DSN: strings.Replace(dsn, "root@", "host@", 1), PartitionDays: 1,
		Log: hclog.New(&hclog.LoggerOptions{Output: troubled, Level: hclog.Warn}),
	})
	if err := s.RegisterNode(t.Context(), ax.Node{Incarnation: "x", App: "a", StartedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	run("SET GLOBAL read_only = 1")
	answer := make(chan error, 1)
	s.Submit(ax.Change{Events: []ax.Event{{ID: 1, InstanceID: 1, At: time.Now()}}, Done: func(_ bool, err error) { answer <- err }})
	if line := <-troubled; !strings.Contains(line, "read-only") {
		t.Errorf("logged %q, want the reason", line)
	}
	if _, err := s.Heartbeat(t.Context(), ax.Node{Incarnation: "x"}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("heartbeat: %v, want ErrUnavailable", err)
	}
	run("SET GLOBAL read_only = 0")
	if err := <-answer; err != nil {
		t.Error(err)
	}
	if _, err := s.Heartbeat(t.Context(), ax.Node{Incarnation: "x"}); err != nil {
		t.Errorf("heartbeat: %v", err)
	}
}
