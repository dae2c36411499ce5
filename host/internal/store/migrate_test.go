package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/store/mysqltest"
	"github.com/axsched/ax/host/internal/store/storetest"
)

// openEmpty opens a database without tables.
func openEmpty(t *testing.T, path string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: "sqlite:" + path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func dbPath(t *testing.T) string { return filepath.Join(t.TempDir(), "ax.db") }

// schemaOf returns the text of all tables, indexes and views.
func schemaOf(t *testing.T, s *store.Store) []string {
	t.Helper()
	return texts(t, s, "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
}

// texts returns the last column of each row of a query.
func texts(t *testing.T, s *store.Store, query string) []string {
	t.Helper()
	rows, err := s.ReadDB().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(string)
	}
	var all []string
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		all = append(all, *values[len(values)-1].(*string))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// firstFiles returns the first n migrations.
func firstFiles(t *testing.T, all fs.FS, n int) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(all, "*.sql")
	if err != nil || len(names) < n {
		t.Fatalf("%d migrations, want at least %d (%v)", len(names), n, err)
	}
	some := fstest.MapFS{}
	for _, name := range names[:n] {
		data, err := fs.ReadFile(all, name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: data}
	}
	return some
}

// TestMigrateFromEachVersion brings databases of every older version to the
// newest one; they must look like a fresh one.
func TestMigrateFromEachVersion(t *testing.T) {
	t.Parallel()
	fresh := storetest.Open(t)
	want := schemaOf(t, fresh)
	all, err := fresh.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	newest := len(must(fs.Glob(all, "*.sql"))(t))
	for version := range newest {
		s := openEmpty(t, dbPath(t))
		if _, err := s.MigrateFrom(t.Context(), firstFiles(t, all, version)); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchemaOld) {
			t.Errorf("version %d: check says %v, want ErrSchemaOld", version, err)
		}
		report, err := s.Migrate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if report.From != version || report.To != newest || len(report.Applied) != newest-version {
			t.Errorf("version %d: %+v", version, report)
		}
		if got := schemaOf(t, s); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("version %d became\n%v\na fresh database is\n%v", version, got, want)
		}
		if err := s.CheckSchema(t.Context()); err != nil {
			t.Errorf("version %d, migrated: %v", version, err)
		}
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	files := func(texts ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for i, text := range texts {
			m[fmt.Sprintf("%04d_x.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
		}
		return m
	}
	one, two := "CREATE TABLE ax_a (x INTEGER);\n", "CREATE TABLE ax_b (x INTEGER);\n"
	for name, c := range map[string]struct {
		first, then fstest.MapFS
		want        error // nil: any error
	}{
		"a newer schema":  {withBreaking(files(one), two), files(one), store.ErrSchemaNew},
		"an edited file":  {files(one, two), files(one, two+"-- edited\n"), store.ErrSchemaChanged},
		"an earlier edit": {files(one), files("-- edited\n"+one, two), store.ErrSchemaChanged},
		"a gap":           {files(one), fstest.MapFS{"0001_x.sql": {Data: []byte(one)}, "0003_x.sql": {Data: []byte(two)}}, nil},
		"no number":       {files(one), fstest.MapFS{"first.sql": {Data: []byte(one)}}, nil},
		"a broken file":   {files(one), files(one, two+"CREATE NONSENSE;\n"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openEmpty(t, dbPath(t))
			if _, err := s.MigrateFrom(t.Context(), c.first); err != nil {
				t.Fatal(err)
			}
			before := fmt.Sprint(schemaOf(t, s))
			_, err := s.MigrateFrom(t.Context(), c.then)
			if err == nil || (c.want != nil && !errors.Is(err, c.want)) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if after := fmt.Sprint(schemaOf(t, s)); after != before {
				t.Errorf("the refusal changed the schema from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// withBreaking adds a file that older programs cannot go on with.
func withBreaking(m fstest.MapFS, text string) fstest.MapFS {
	m[fmt.Sprintf("%04d_breaking_x.sql", len(m)+1)] = &fstest.MapFile{Data: []byte(text)}
	return m
}

// TestGoesOnWithNewerSchema: a program goes on with what a later one has added,
// and does not touch it.
func TestGoesOnWithNewerSchema(t *testing.T) {
	t.Parallel()
	one, more := "CREATE TABLE ax_a (x INTEGER);\n", "CREATE TABLE ax_b (x INTEGER);\n"
	for name, dsn := range map[string]string{"SQLite": "sqlite:" + dbPath(t), "MySQL": mysqltest.DSN(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(t.Context(), store.Options{DSN: dsn})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			first := fstest.MapFS{"0001_x.sql": {Data: []byte(one)}}
			later := fstest.MapFS{"0001_x.sql": {Data: []byte(one)}, "0002_not_breaking_x.sql": {Data: []byte(more)}}
			for _, step := range []struct {
				files fstest.MapFS
				want  store.MigrateReport
			}{
				{later, store.MigrateReport{From: 0, To: 2, Applied: []string{"0001_x.sql", "0002_not_breaking_x.sql"}}},
				{first, store.MigrateReport{From: 2, To: 2}},
				{later, store.MigrateReport{From: 2, To: 2}},
			} {
				got, err := s.MigrateFrom(t.Context(), step.files)
				if err != nil || !reflect.DeepEqual(got, step.want) {
					t.Errorf("%d files: %+v, %v", len(step.files), got, err)
				}
			}
			if _, err := s.MigrateFrom(t.Context(), fstest.MapFS{"0001_x.sql": {Data: []byte(one + "-- edited\n")}}); !errors.Is(err, store.ErrSchemaChanged) {
				t.Errorf("of another origin: %v, want ErrSchemaChanged", err)
			}
		})
	}
}

// TestAdditiveFiles: what hosts of the version before go on with takes nothing
// away from them, and their rows fit.
func TestAdditiveFiles(t *testing.T) {
	t.Parallel()
	taken := regexp.MustCompile(`(?i)\b(DROP TABLE|DROP COLUMN|RENAME|MODIFY|CHANGE COLUMN)\b`)
	column := regexp.MustCompile(`(?i)\bADD (COLUMN )?(ax_)?[a-z_]+ +[A-Z]+.*\bNOT NULL\b`)
	for name, dsn := range map[string]string{"SQLite": "sqlite:" + dbPath(t), "MySQL": mysqltest.DSN(t)} {
		s, err := store.Open(t.Context(), store.Options{DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		files := must(s.Migrations())(t)
		for _, file := range must(fs.Glob(files, "*.sql"))(t) {
			if strings.Contains(file, "_breaking_") {
				continue
			}
			for line := range strings.Lines(string(must(fs.ReadFile(files, file))(t))) {
				if taken.MatchString(line) || column.MatchString(line) && !strings.Contains(line, "DEFAULT") {
					t.Errorf("%s, %s: older programs cannot go on with %q: name it NNNN_breaking_…", name, file, strings.TrimSpace(line))
				}
			}
		}
	}
}

func TestMigrateOtherLineEnds(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, dbPath(t))
	for _, text := range []string{"CREATE TABLE ax_a (\n x INTEGER);\n", "CREATE TABLE ax_a (\r\n x INTEGER);\r\n"} {
		if _, err := s.MigrateFrom(t.Context(), fstest.MapFS{"0001_x.sql": {Data: []byte(text)}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMigrateAtOnce lets several hosts start on an empty database, in this
// process and in others. Each file must be applied exactly once, and nobody may
// fail.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{"SQLite": "sqlite:" + dbPath(t), "MySQL": mysqltest.DSN(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			migrateAtOnce(t, dsn)
		})
	}
}

func migrateAtOnce(t *testing.T, dsn string) {
	var mu sync.Mutex
	var applied []string
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			files, err := openAndMigrate(dsn)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			applied = append(applied, files...)
		})
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), migrateDSN+"="+dsn)
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			applied = append(applied, strings.Fields(string(out))...)
		})
	}
	wg.Wait()
	s, err := store.Open(t.Context(), store.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := must(fs.Glob(must(s.Migrations())(t), "*.sql"))(t)
	if slices.Sort(applied); !slices.Equal(applied, want) {
		t.Errorf("applied %v, want each once: %v", applied, want)
	}
	if err := s.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
}

func openAndMigrate(dsn string) (applied []string, err error) {
	s, err := store.Open(context.Background(), store.Options{DSN: dsn, PartitionDays: 2})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	report, err := s.Migrate(context.Background())
	return report.Applied, err
}

// migrateOnce is the whole of a process started by TestMigrateAtOnce.
func migrateOnce(dsn string) {
	applied, err := openAndMigrate(dsn)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(applied, "\n"))
}
