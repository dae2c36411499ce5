package store_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

func openMySQL(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: mysqltest.DSN(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// TestMySQLMigrateResumes: a file that was applied in part is finished, from the
// statement on that is not known to be done.
func TestMySQLMigrateResumes(t *testing.T) {
	t.Parallel()
	s := openMySQL(t)
	files := fstest.MapFS{"0001_x.sql": file("CREATE TABLE ax_a (x INT);\nCREATE TABLE ax_b (x INT);\nCREATE TABLE ax_c (x INT);\n")}
	runSQL(t, s, "CREATE TABLE ax_b (x INT)") // in the way
	report, err := s.MigrateFrom(t.Context(), files)
	if err == nil || !strings.Contains(err.Error(), "0001_x.sql: statement 2") || len(report.Applied) > 0 {
		t.Fatalf("%+v, %v; want statement 2 to fail", report, err)
	}
	if err := s.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchemaOld) {
		t.Errorf("a schema in part: %v, want ErrSchemaOld", err)
	}
	// Edited since, it is not the file that was begun.
	edited := fstest.MapFS{"0001_x.sql": file("CREATE TABLE ax_a (x INT);\nCREATE TABLE ax_d (x INT);\n")}
	if _, err := s.MigrateFrom(t.Context(), edited); !errors.Is(err, store.ErrSchemaChanged) {
		t.Errorf("another file: %v, want ErrSchemaChanged", err)
	}
	// As if it had been done by a host that died before it could say so.
	report, err = s.MigrateFrom(t.Context(), files)
	if err != nil || report.From != 0 || report.To != 1 || len(report.Applied) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	runSQL(t, s, "INSERT INTO ax_a VALUES (1)", "INSERT INTO ax_c VALUES (1)")
}

func runSQL(t *testing.T, s *store.Store, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := s.WriteDB().ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func TestMySQLMigrateRefuses(t *testing.T) {
	t.Parallel()
	one, two := file("CREATE TABLE ax_a (x INT);\n"), file("CREATE TABLE ax_b (x INT);\n")
	for name, c := range map[string]struct {
		then fstest.MapFS
		want error
	}{
		"a newer schema": {fstest.MapFS{"0001_x.sql": one}, store.ErrSchemaNew},
		"an edited file": {fstest.MapFS{"0001_x.sql": one, "0002_x.sql": file("CREATE TABLE ax_b (y INT);\n")}, store.ErrSchemaChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openMySQL(t)
			all := fstest.MapFS{"0001_x.sql": one, "0002_x.sql": two, "0003_breaking_x.sql": file("CREATE TABLE ax_c (x INT);\n")}
			if _, err := s.MigrateFrom(t.Context(), all); err != nil {
				t.Fatal(err)
			}
			if _, err := s.MigrateFrom(t.Context(), c.then); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestMySQLMigrateWaits: who holds the lease is waited for, and not for ever: it
// may have died.
func TestMySQLMigrateWaits(t *testing.T) {
	t.Parallel()
	s := openMySQL(t)
	if _, err := s.MigrateFrom(t.Context(), fstest.MapFS{"0001_x.sql": file("CREATE TABLE ax_a (x INT);\n")}); err != nil {
		t.Fatal(err)
	}
	runSQL(t, s, "UPDATE ax_lease SET holder = 'dead', until_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 1000000")
	began := time.Now()
	files := fstest.MapFS{"0001_x.sql": file("CREATE TABLE ax_a (x INT);\n"), "0002_x.sql": file("CREATE TABLE ax_b (x INT);\n")}
	if _, err := s.MigrateFrom(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("the lease of another host was taken after %v", took)
	}
}

// TestMySQLViews: whoever opens the database sees times.
func TestMySQLViews(t *testing.T) {
	t.Parallel()
	s := storetest.OpenWith(t, store.Options{DSN: mysqltest.DSN(t), PartitionDays: 1})
	at := time.Date(2026, 2, 28, 23, 59, 59, 7000, time.UTC)
	viewsShowTimes(t, s, at, "2026-02-28 23:59:59.000007")
}
