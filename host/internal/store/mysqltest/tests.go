package mysqltest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// EnvDSN names a server to use instead of a private one, as
// mysql://USER:PASSWORD@HOST:PORT/ with the rights to make databases and accounts.
const EnvDSN = "AX_TEST_MYSQL_DSN"

// shared is the server of this test binary. Only the first test that asks
// starts it, and Main stops it: a binary has no other place for that.
var shared = struct {
	sync.Mutex
	server *Server
	err    error
}{}

// quick leaves the disk alone: making hundreds of databases is what takes time,
// and nobody cuts the power of this server.
var quick = []string{
	"--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--innodb-doublewrite=OFF", "--sync-frm=OFF",
}

// Main runs the tests of a package and stops the server that they used:
//
//	func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }
func Main(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop MariaDB:", err)
			return max(code, 1)
		}
	}
	return code
}

// DSN makes an empty database, dropped with the test, and returns its DSN for
// the store. A test fails if there is no server to be had.
func DSN(t testing.TB) string {
	t.Helper()
	name := "ax_test_" + strings.ToLower(rand.Text()[:12])
	server := serverDSN(t)
	run(t, server, "CREATE DATABASE "+quote(name))
	t.Cleanup(func() { run(t, server, "DROP DATABASE "+quote(name)) })
	return server + name
}

// Exec runs statements with all rights on the server of a DSN made by DSN.
func Exec(t testing.TB, statements ...string) {
	t.Helper()
	run(t, serverDSN(t), statements...)
}

// Shared returns the private server of this test binary, for tests that end and
// resume it. It is nil if another one was named.
func Shared(t testing.TB) *Server {
	t.Helper()
	if os.Getenv(EnvDSN) != "" {
		return nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = Start(context.Background(), Options{Args: quick})
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Private starts a server for one test, with every commit on disk, and returns it with the DSN of an empty
// database on it.
func Private(t testing.TB, o Options) (s *Server, dsn string) {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop MariaDB: %v", err)
		}
	})
	if err := s.Create(t.Context(), "ax"); err != nil {
		t.Fatal(err)
	}
	return s, s.DSN("ax")
}

// serverDSN ends with a slash.
func serverDSN(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv(EnvDSN); dsn != "" {
		return strings.TrimSuffix(dsn, "/") + "/"
	}
	return Shared(t).DSN("")
}

func run(t testing.TB, server string, statements ...string) {
	t.Helper()
	// The context of the test has ended when databases are dropped.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := sql.Open("mysql", DriverDSN(server))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// DriverDSN turns a DSN made by DSN into what the driver reads.
func DriverDSN(dsn string) string {
	rest := strings.TrimPrefix(dsn, "mysql://")
	c := mysql.NewConfig()
	c.Net = "tcp"
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		c.User, c.Passwd, _ = strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
	}
	c.Addr, c.DBName, _ = strings.Cut(rest, "/")
	return c.FormatDSN()
}
