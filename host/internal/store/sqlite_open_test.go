package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/storetest"
)

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("no database at all\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options store.Options
		want    string
	}{
		"no kind":            {store.Options{DSN: "ax.db"}, "expected sqlite:PATH"},
		"no path":            {store.Options{DSN: "sqlite:"}, "expected sqlite:PATH"},
		"unknown kind":       {store.Options{DSN: "oracle:x"}, `unknown kind "oracle"`},
		"password in a DSN":  {store.Options{DSN: "mysqlx:user:s3cret@tcp(db)/ax"}, `unknown kind "mysqlx"`},
		"directory":          {store.Options{DSN: "sqlite:" + dir}, "it is a directory"},
		"not a database":     {store.Options{DSN: "sqlite:" + file}, "not an SQLite database"},
		"below a file":       {store.Options{DSN: "sqlite:" + filepath.Join(file, "ax.db")}, "make its directory"},
		"none, to read only": {store.Options{DSN: "sqlite:" + filepath.Join(dir, "none.db"), ReadOnly: true}, "there is none yet"},
	} {
		s, err := store.Open(t.Context(), c.options)
		if err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %q, want %q in it", name, err, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made a file: %v", err)
	}
}

func TestOpenSettings(t *testing.T) {
	t.Parallel()
	s, path := storetest.OpenFile(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000",
	} {
		var got string
		if err := s.WriteDB().QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, want %q (%v)", pragma, got, want, err)
		}
	}
	var n int
	if err := s.WriteDB().QueryRow(`SELECT "no_such_column"`).Scan(&n); err == nil {
		t.Error("a misspelt column is taken for a text")
	}
	if _, err := s.ReadDB().Exec("DELETE FROM ax_task"); err == nil {
		t.Error("a reading connection can write")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v", info.Mode().Perm())
	}
}

// TestCloseLeavesOneFile: who copies the database of a host that was stopped has all
// of it.
func TestCloseLeavesOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ax.db")
	s := storetest.OpenWith(t, store.Options{DSN: "sqlite:" + path})
	if _, err := s.Tasks(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, companion := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + companion); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", companion, err)
		}
	}
}

func TestOpenOddPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, path := range []string{"plain.db", "./new/folder/ax.db", filepath.Join(dir, "sp ace", "a%20b?c#d&e=f;数据.db"), "mode=ro:x.db"} {
		s := storetest.OpenWith(t, store.Options{DSN: "sqlite:" + path})
		if _, err := s.Tasks(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("not where it should be: %v", err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	s, path := storetest.OpenFile(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	apply := store.ApplyParams{App: "a", Now: at, Upsert: []ax.TaskRow{storetest.Task("a", "t", at)}}
	if err := s.ApplyTasks(t.Context(), apply); err != nil {
		t.Fatal(err)
	}
	ro, err := store.Open(t.Context(), store.Options{DSN: "sqlite:" + path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if err := ro.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
	if tasks, err := ro.Tasks(t.Context(), "a"); err != nil || len(tasks) != 1 {
		t.Errorf("%d tasks, %v", len(tasks), err)
	}
	_, migrateErr := ro.Migrate(t.Context())
	verdict := make(chan error, 1)
	ro.Submit(ax.Change{Done: func(_ bool, err error) { verdict <- err }})
	for name, err := range map[string]error{
		"migrate": migrateErr, "submit": <-verdict, "apply": ro.ApplyTasks(t.Context(), apply),
		"audit": ro.Audit(t.Context(), ax.AuditRow{At: time.Now(), App: "a"}),
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", name, err)
		}
	}
}
