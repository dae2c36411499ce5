package e2e

import (
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/once"
)

// onceDB is a database of a job on a real server.
func onceDB(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", mysqltest.DriverDSN(mysqltest.DSN(t))+"?autocommit=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := (once.Table{}).Create(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE work (what INT)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func onceWork(t *testing.T, tx *sql.Tx) error {
	_, err := tx.ExecContext(t.Context(), "INSERT INTO work VALUES (1)")
	return err
}

func onceCount(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM work").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Of attempts that do the same work at the same time one does it.
func TestOnceAmongMany(t *testing.T) {
	t.Parallel()
	db := onceDB(t)
	const all = 16
	results := make(chan error, all)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			f := pluginapi.Fire{InstanceID: "7", Fence: int64(i)}
			results <- once.Table{}.Do(t.Context(), db, f, "day", func(tx *sql.Tx) error { return onceWork(t, tx) })
		})
	}
	group.Wait()
	good := 0
	for range all {
		switch err := <-results; {
		case err == nil:
			good++
		case !errors.Is(err, once.ErrDone):
			t.Error(err)
		}
	}
	if n := onceCount(t, db); good != 1 || n != 1 {
		t.Errorf("%d say that they did it, it was done %d times", good, n)
	}
}

// A transaction that has read before, and so looks at an older state of the table,
// finds out all the same.
func TestOnceInAnOldSnapshot(t *testing.T) {
	t.Parallel()
	db := onceDB(t)
	var table once.Table
	old, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Rollback() //nolint:errcheck // it is to be undone
	var n int
	if err := old.QueryRowContext(t.Context(), "SELECT count(*) FROM ax_once").Scan(&n); err != nil {
		t.Fatal(err)
	}
	f := pluginapi.Fire{InstanceID: "7", Fence: 2}
	if err := table.Do(t.Context(), db, f, "", func(tx *sql.Tx) error { return onceWork(t, tx) }); err != nil {
		t.Fatal(err)
	}
	if err := table.Claim(t.Context(), old, f, ""); !errors.Is(err, once.ErrDone) {
		t.Errorf("claimed a second time: %v", err)
	}
}

// An attempt that was given up and still goes on waits for the newer one, and then
// gets no further.
func TestOnceStaleAttempt(t *testing.T) {
	t.Parallel()
	db := onceDB(t)
	var table once.Table
	step := func(fence int64) error {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit it says only that
		if err := table.Guard(t.Context(), tx, pluginapi.Fire{InstanceID: "7", Fence: fence}); err != nil {
			return err
		}
		return errors.Join(onceWork(t, tx), tx.Commit())
	}
	if err := errors.Join(step(1), step(1)); err != nil {
		t.Fatal(err)
	}
	newer, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Guard(t.Context(), newer, pluginapi.Fire{InstanceID: "7", Fence: 2}); err != nil {
		t.Fatal(err)
	}
	stale := make(chan error, 1)
	go func() { stale <- step(1) }()
	if err := errors.Join(onceWork(t, newer), newer.Commit()); err != nil {
		t.Fatal(err)
	}
	if err := <-stale; !errors.Is(err, once.ErrStale) {
		t.Errorf("the older attempt: %v", err)
	}
	if err := step(2); err != nil {
		t.Errorf("the newer attempt goes on: %v", err)
	}
	if n := onceCount(t, db); n != 4 {
		t.Errorf("%d steps were done, want 4", n)
	}
}
