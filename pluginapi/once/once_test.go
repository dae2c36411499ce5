package once_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // a database for the work

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/once"
)

var errFailed = errors.New("the work failed")

// openDB makes a database with a table for keys and one for work.
func openDB(t *testing.T, table once.Table) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "work.db")+"?_pragma=busy_timeout(20000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := table.Create(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := table.Create(t.Context(), db); err != nil {
		t.Errorf("made a second time: %v", err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE work (what TEXT)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func write(t *testing.T, what string) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO work VALUES (?)", what)
		return err
	}
}

func work(t *testing.T, db *sql.DB) string {
	t.Helper()
	var all sql.NullString
	if err := db.QueryRowContext(t.Context(), "SELECT group_concat(what) FROM (SELECT what FROM work ORDER BY what)").Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all.String
}

func fire(instance string, fence int64) pluginapi.Fire {
	return pluginapi.Fire{InstanceID: instance, Fence: fence}
}

func TestWorkIsDoneOnce(t *testing.T) {
	t.Parallel()
	for _, table := range []once.Table{{}, {Name: "main.own_keys"}} {
		db := openDB(t, table)
		do := func(f pluginapi.Fire, key, what string) error {
			return table.Do(t.Context(), db, f, key, write(t, what))
		}
		if err := do(fire("7", 1), "day 1", "a"); err != nil {
			t.Fatal(err)
		}
		err := do(fire("8", 1), "day 1", "b") // another run of the same day
		done, ok := errors.AsType[*once.DoneError](err)
		if !errors.Is(err, once.ErrDone) || !ok || done.InstanceID != "7" || time.Since(done.At).Abs() > time.Minute || done.Key != "day 1" {
			t.Errorf("a second time: %v", err)
		}
		for _, key := range []string{"Day 1", "day 1 ", "day 2", "", strings.Repeat("今", 300), strings.Repeat("今", 301)} {
			if err := do(fire("9", 1), key, "c"); err != nil {
				t.Errorf("key %q: %v", key, err)
			}
			if err := do(fire("9", 2), key, "d"); !errors.Is(err, once.ErrDone) {
				t.Errorf("key %q again: %v", key, err)
			}
		}
		if got := work(t, db); got != "a,c,c,c,c,c,c" {
			t.Errorf("done was %s", got)
		}
	}
}

// TestFailedWorkIsNotClaimed: an attempt whose work fails leaves the key to the next.
func TestFailedWorkIsNotClaimed(t *testing.T) {
	t.Parallel()
	var table once.Table
	db := openDB(t, table)
	err := table.Do(t.Context(), db, fire("7", 1), "", func(tx *sql.Tx) error {
		return errors.Join(write(t, "half")(tx), errFailed)
	})
	if !errors.Is(err, errFailed) {
		t.Fatal(err)
	}
	if err := table.Do(t.Context(), db, fire("7", 2), "", write(t, "whole")); err != nil {
		t.Fatal(err)
	}
	if got := work(t, db); got != "whole" {
		t.Errorf("done was %q", got)
	}
}

// TestManyAtOnce: of many that do the same at once one does it.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	var table once.Table
	db := openDB(t, table)
	const all = 20
	results := make(chan error, all)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { results <- table.Do(t.Context(), db, fire("7", int64(i)), "k", write(t, "w")) })
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
	if got := work(t, db); good != 1 || got != "w" {
		t.Errorf("%d did it: %s", good, got)
	}
}

// TestStaleAttempt: once a newer attempt has begun, an older one gets no further.
func TestStaleAttempt(t *testing.T) {
	t.Parallel()
	var table once.Table
	db := openDB(t, table)
	step := func(f pluginapi.Fire, what string) error {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback() //nolint:errcheck // after a commit it says only that
		if err := table.Guard(t.Context(), tx, f); err != nil {
			return err
		}
		if err := write(t, what)(tx); err != nil {
			return err
		}
		return tx.Commit()
	}
	older, newer, other := fire("7", 3), fire("7", 5), fire("8", 1)
	for i, s := range []struct {
		fire pluginapi.Fire
		want error
	}{{older, nil}, {older, nil}, {newer, nil}, {older, once.ErrStale}, {newer, nil}, {other, nil}, {older, once.ErrStale}} {
		if err := step(s.fire, string(rune('a'+i))); !errors.Is(err, s.want) {
			t.Errorf("step %d with fence %d: %v, want %v", i, s.fire.Fence, err, s.want)
		}
	}
	if got := work(t, db); got != "a,b,c,e,f" {
		t.Errorf("done was %s", got)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	var table once.Table
	db := openDB(t, table)
	for range 2 {
		if err := table.Do(t.Context(), db, fire("7", 1), "k", write(t, "w")); err != nil {
			t.Fatal(err)
		}
		if n, err := table.Forget(t.Context(), db, time.Now().Add(-time.Hour)); n != 0 || err != nil {
			t.Errorf("forgot %d that are new, %v", n, err)
		}
		if n, err := table.Forget(t.Context(), db, time.Now().Add(time.Hour)); n != 1 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	db := openDB(t, once.Table{})
	for what, err := range map[string]error{
		"a name with a blank": once.Table{Name: "x; DROP TABLE work"}.Create(t.Context(), db),
		"no key":              once.Table{}.Do(t.Context(), db, pluginapi.Fire{}, "", write(t, "w")),
		"no table":            once.Table{Name: "missing"}.Do(t.Context(), db, fire("7", 1), "k", write(t, "w")),
	} {
		if err == nil || errors.Is(err, once.ErrDone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := work(t, db); got != "" {
		t.Errorf("done was %s", got)
	}
}
