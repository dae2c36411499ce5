package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/store/mysqltest"
)

func TestMySQLDSN(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"mysql://ax:secret@db/ax":                       "ax secret tcp db:3306 ax",
		"mysql://ax:secret@db:3307/ax":                  "ax secret tcp db:3307 ax",
		"mysql://ax:p%40ss%2Fword@db/ax":                "ax p@ss/word tcp db:3306 ax",
		"mysql://ax:p@ss/w:rd?#@db/ax":                  "ax p@ss/w:rd?# tcp db:3306 ax",
		"mysql://ax@[::1]:3307/ax":                      "ax  tcp [::1]:3307 ax",
		"mysql://ax@[fd00::7]/ax":                       "ax  tcp [fd00::7]:3306 ax",
		"mysql://db/ax":                                 "  tcp db:3306 ax",
		"mysql://ax:secret@/ax?socket=/run/my.sock":     "ax secret unix /run/my.sock ax",
		"mysql:ax:secret@tcp(db:3307)/ax":               "ax secret tcp db:3307 ax",
		"mysql:ax:secret@unix(/run/my.sock)/ax":         "ax secret unix /run/my.sock ax",
		"mysql:ax@tcp(db:3307)/ax?multiStatements=true": "ax  tcp db:3307 ax",
	} {
		d, err := dialectOf(dsn)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		c := d.(mySQL).config
		if got := strings.Join([]string{c.User, c.Passwd, c.Net, c.Addr, c.DBName}, " "); got != want {
			t.Errorf("%s: %q, want %q", dsn, got, want)
		}
		if !c.ClientFoundRows || !c.InterpolateParams || c.MultiStatements || c.ParseTime || c.Collation != "utf8mb4_bin" || c.Timeout == 0 || c.ReadTimeout == 0 {
			t.Errorf("%s: settings that the store relies on are not set: %+v", dsn, c)
		}
	}
}

func TestMySQLOptions(t *testing.T) {
	t.Parallel()
	d, err := newMySQL("//ax@db/ax?tls=skip-verify&timeout=3s&io_timeout=7s")
	if err != nil {
		t.Fatal(err)
	}
	if c := d.config; c.TLSConfig != "skip-verify" || c.Timeout != 3*time.Second || c.ReadTimeout != 7*time.Second || c.WriteTimeout != 7*time.Second {
		t.Errorf("%+v", c)
	}
}

// TestMySQLDSNFaults: what is wrong is said, and never the password.
func TestMySQLDSNFaults(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for dsn, want := range map[string]string{
		"mysql://ax:hunter2@db":                             "name of the database is missing",
		"mysql://ax:hunter2@db/":                            "name of the database is missing",
		"mysql://ax:hunter2@/ax":                            "name of the server is missing",
		"mysql://ax:hunter2@db:port/ax":                     "port from 1 to 65535",
		"mysql://ax:hunter2@db:99999/ax":                    "port from 1 to 65535",
		"mysql://ax:hunter2@db/a/x":                         "has a / in it",
		"mysql://ax:hunter2%zz@db/ax":                       "%25",
		"mysql://ax:hunter2@db/ax?charset=latin1":           `option "charset" is not known`,
		"mysql://ax:hunter2@db/ax?timeout=soon":             "option timeout",
		"mysql://ax:hunter2@db/ax?tls=maybe":                `"maybe", expected false, true`,
		"mysql://ax:hunter2@db/ax?tls_ca=/none.pem":         "option tls_ca",
		"mysql://ax:hunter2@db/ax?tls=false&tls_ca=/no.pem": "need tls=true",
		"mysql://ax:hunter2@db/ax?%zz":                      "cannot be read",
		"mysql:ax:hunter2@tcp(db:3306":                      "neither a URL nor",
		"mysql:ax:hunter2@tcp(db:3306)/":                    "name of the database is missing",
		"mysql:":                                            "expected sqlite:PATH or mysql://",
		"ax:hunter2@tcp(db:3306)/ax":                        "unknown kind",
		"hunter2":                                           "expected sqlite:PATH or mysql://",
	} {
		_, err := Open(t.Context(), Options{DSN: dsn})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", dsn, err, want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the password is in the error: %v", dsn, err)
		}
	}
}

// TestMySQLOpenFaults: what people meet at the first start, with its cure.
func TestMySQLOpenFaults(t *testing.T) {
	t.Parallel()
	dsn := mysqltest.DSN(t)
	address, database, _ := strings.Cut(dsn[strings.LastIndex(dsn, "@")+1:], "/")
	for dsn, want := range map[string]string{
		fmt.Sprintf("mysql://nobody:hunter2@%s/%s", address, database): "refuses this user or password",
		dsn + "_none":                       "there is no such database",
		dsn + "?tls=true":                   "TLS",
		"mysql://ax:hunter2@127.0.0.1:1/ax": "does not answer",
	} {
		_, err := Open(t.Context(), Options{DSN: dsn})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q in it and no password", dsn, err, want)
		}
		if away := strings.Contains(want, "does not answer"); errors.Is(err, ErrUnavailable) != away {
			t.Errorf("%s: ErrUnavailable is %v in %v", dsn, !away, err)
		}
	}
}

// TestMySQLSession: the defaults of the server do not matter; those of the
// private one are as odd as can be.
func TestMySQLSession(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{DSN: mysqltest.DSN(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for expression, want := range map[string]string{
		"@@autocommit": "1", "@@time_zone": "+00:00", "@@collation_connection": "utf8mb4_bin", "@@character_set_client": "utf8mb4",
		"@@sql_mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION", "@@innodb_lock_wait_timeout": "5",
		"'\\\\'": `\`, `"text"`: "text", "1 || 0": "1",
		"IF(ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW())) < 2, 'utc', 'local')": "utc",
	} {
		var got string
		if err := s.readDB.QueryRowContext(t.Context(), "SELECT "+expression).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, want %q (%v)", expression, got, want, err)
		}
	}
	var levels []string
	for _, name := range []string{"tx_isolation", "transaction_isolation"} { // either, by the server
		var level string
		if s.readDB.QueryRowContext(t.Context(), "SELECT @@"+name).Scan(&level) == nil {
			levels = append(levels, level)
		}
	}
	if len(levels) == 0 || levels[0] != "READ-COMMITTED" {
		t.Errorf("isolation %v", levels)
	}
}
