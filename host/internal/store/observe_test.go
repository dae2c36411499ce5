package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/axsched/ax/host/internal/ax"
)

// TestObserve: each kind of work is told of; an answer that is no is no fault.
func TestObserve(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[Operation]map[Fault]int{OpRead: {}, OpChange: {}, OpWrite: {}}
	s, err := Open(t.Context(), Options{
		DSN: "sqlite:" + filepath.Join(t.TempDir(), "ax.db"),
		Observe: func(op Operation, took time.Duration, fault Fault) {
			mu.Lock()
			defer mu.Unlock()
			seen[op][fault]++
			if took < 0 {
				t.Errorf("%s took %v", op, took)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	inst := ax.Instance{ID: 1, App: "a", TaskID: 1, TaskName: "t", Kind: ax.KindScheduled, Status: ax.StatusRunning, ScheduledAt: now, CreatedAt: now}
	var applied []bool
	done := make(chan struct{}, 2)
	for range 2 { // the second one is there already
		s.Submit(ax.Change{Insert: []ax.Instance{inst}, Done: func(ok bool, _ error) {
			applied = append(applied, ok)
			done <- struct{}{}
		}})
		<-done
	}
	if _, err := s.exec(t.Context(), "try", "DELETE FROM ax_instance"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.exec(t.Context(), "try", "DELETE FROM nowhere"); err == nil {
		t.Fatal("there is a table nowhere")
	}
	mu.Lock()
	defer mu.Unlock()
	if !applied[0] || applied[1] || seen[OpWrite][""] < 2 || seen[OpWrite][FaultOther] != 0 {
		t.Errorf("applied %v, writes %v", applied, seen[OpWrite])
	}
	if seen[OpRead][""] == 0 || seen[OpChange][""] == 0 || seen[OpChange][FaultOther] != 1 {
		t.Errorf("reads %v, changes %v", seen[OpRead], seen[OpChange])
	}
}

// TestFaults tells what the database refused from what it answered.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := &Store{dialect: &mySQL{}}
	for _, c := range []struct {
		err  error
		want Fault
	}{
		{nil, ""},
		{sql.ErrNoRows, ""},
		{errors.New("the task was changed meanwhile"), ""},
		{fmt.Errorf("x: %w", context.Canceled), ""},
		{&mysql.MySQLError{Number: 1062}, ""}, // a row that is there
		{fmt.Errorf("x: %w", &mysql.MySQLError{Number: 1213}), FaultCollision},
		{&mysql.MySQLError{Number: 1040}, FaultUnavailable},
		{driver.ErrBadConn, FaultUnavailable},
		{context.DeadlineExceeded, FaultUnavailable},
		{&mysql.MySQLError{Number: 1146}, FaultOther},
	} {
		if got := s.faultOf(c.err); got != c.want {
			t.Errorf("%v is %q, want %q", c.err, got, c.want)
		}
	}
}
