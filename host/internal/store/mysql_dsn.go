package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Times after which a server that does not answer counts as away.
const (
	dialTimeout = 5 * time.Second
	ioTimeout   = 30 * time.Second
)

// newMySQL reads what follows "mysql:" in a DSN. There are two forms:
//
//	mysql://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE&…
//	mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE?…   as go-sql-driver/mysql has it
//
// In the first one special characters of USER and PASSWORD may be written as %XX,
// as in a URL; without PORT it is 3306. The options are:
//
//   - tls: false (the default), true, preferred, skip-verify
//   - tls_ca, tls_cert, tls_key: PEM files; tls_ca alone is enough for tls=true
//   - socket: path of a Unix socket, instead of HOST and PORT
//   - timeout: for connecting, 5s if not given
//   - io_timeout: for each answer, 30s if not given
//
// Errors never show the password.
func newMySQL(rest string) (mySQL, error) {
	read := readDriverDSN
	if strings.HasPrefix(rest, "//") {
		read = readURL
	}
	c, err := read(strings.TrimPrefix(rest, "//"))
	if err == nil && c.DBName == "" {
		err = errors.New("the name of the database is missing: end the address with /DATABASE")
	}
	if err != nil {
		return mySQL{}, fmt.Errorf("database: %w; expected mysql://USER:PASSWORD@HOST:PORT/DATABASE", err)
	}
	force(c)
	return mySQL{config: c}, nil
}

// force sets what the store relies on, whatever the DSN or the server say.
func force(c *mysql.Config) {
	c.ClientFoundRows = true    // an UPDATE reports the rows that it matched
	c.InterpolateParams = true  // one round trip a statement, not three
	c.MultiStatements = false   // no text is ever two statements
	c.ParseTime = false         // times are integers
	c.RejectReadOnly = false    // told apart in mySQLErrors
	c.Collation = "utf8mb4_bin" // also of texts in statements
	c.MaxAllowedPacket = 0      // that of the server
	c.CheckConnLiveness = true
	c.Logger = &mysql.NopLogger{} // what it would print is in the errors
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	maps.Copy(c.Params, map[string]string{
		"autocommit": "1",
		// Too long texts are errors, and backslashes and double quotes mean what the
		// driver takes them to mean.
		"sql_mode":  "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
		"time_zone": "'+00:00'",
		// Seconds. A lock that is held for longer belongs to a host that is gone.
		"innodb_lock_wait_timeout": "5",
		// A machine that is gone cannot close its connections, and its open transaction
		// would hold locks for hours: the server ends it before the host counts as dead.
		"wait_timeout": "12",
	})
}

// readDriverDSN reads the form of the driver.
func readDriverDSN(dsn string) (*mysql.Config, error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil { // its text may repeat parts of the DSN
		return nil, errors.New("what follows mysql: is neither a URL nor in the form of go-sql-driver/mysql")
	}
	if c.Timeout == 0 {
		c.Timeout = dialTimeout
	}
	if c.ReadTimeout == 0 {
		c.ReadTimeout = ioTimeout
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = ioTimeout
	}
	return c, nil
}

// readURL reads the form of a URL, by hand: the errors of package url repeat
// what they could not read, and passwords hold all kinds of characters.
func readURL(rest string) (*mysql.Config, error) {
	c := mysql.NewConfig()
	c.Net, c.Timeout, c.ReadTimeout, c.WriteTimeout = "tcp", dialTimeout, ioTimeout, ioTimeout
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		var user, password string
		user, password, _ = strings.Cut(rest[:at], ":")
		var err, err2 error
		c.User, err = url.PathUnescape(user)
		c.Passwd, err2 = url.PathUnescape(password)
		if err != nil || err2 != nil {
			return nil, errors.New("user or password: a % that is not followed by two hex digits is written %25")
		}
		rest = rest[at+1:]
	}
	rest, options, _ := strings.Cut(rest, "?")
	var host string
	host, c.DBName, _ = strings.Cut(rest, "/")
	if strings.Contains(c.DBName, "/") {
		return nil, errors.New("the name of the database has a / in it")
	}
	if err := readOptions(c, options); err != nil {
		return nil, err
	}
	if c.Net == "unix" {
		return c, nil
	}
	var err error
	c.Addr, err = withPort(host)
	return c, err
}

// withPort completes HOST, HOST:PORT, [V6] or [V6]:PORT.
func withPort(host string) (string, error) {
	if host == "" {
		return "", errors.New("the name of the server is missing")
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "3306"
	}
	if _, err := net.LookupPort("tcp", port); err != nil || name == "" {
		return "", fmt.Errorf("expected HOST or HOST:PORT after the @, with a port from 1 to 65535")
	}
	return net.JoinHostPort(name, port), nil
}

func readOptions(c *mysql.Config, text string) error {
	values, err := url.ParseQuery(text)
	if err != nil {
		return errors.New("the options after ? cannot be read")
	}
	var mode, ca, cert, key string
	known := map[string]func(string) error{
		"tls":      func(v string) error { mode = v; return nil },
		"tls_ca":   func(v string) error { ca = v; return nil },
		"tls_cert": func(v string) error { cert = v; return nil },
		"tls_key":  func(v string) error { key = v; return nil },
		"socket":   func(v string) error { c.Net, c.Addr = "unix", v; return nil },
		"timeout":  func(v string) (err error) { c.Timeout, err = time.ParseDuration(v); return err },
		"io_timeout": func(v string) (err error) {
			c.ReadTimeout, err = time.ParseDuration(v)
			c.WriteTimeout = c.ReadTimeout
			return err
		},
	}
	for name, all := range values {
		set := known[name]
		if set == nil {
			return fmt.Errorf("option %q is not known: expected tls, tls_ca, tls_cert, tls_key, socket, timeout or io_timeout", name)
		}
		if err := set(all[len(all)-1]); err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
	}
	return setTLS(c, mode, ca, cert, key)
}

func setTLS(c *mysql.Config, mode, ca, cert, key string) error {
	if !slices.Contains([]string{"", "false", "true", "preferred", "skip-verify"}, mode) {
		return fmt.Errorf("option tls is %q, expected false, true, preferred or skip-verify", mode)
	}
	if ca == "" && cert == "" && key == "" {
		if c.TLSConfig = mode; mode == "" {
			c.TLSConfig = "false"
		}
		return nil
	}
	if mode == "false" {
		return errors.New("options tls_ca, tls_cert and tls_key need tls=true")
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: mode == "skip-verify"} //nolint:gosec // only if asked for
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("option tls_ca: %w", err)
		}
		if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("option tls_ca: %s holds no certificate", ca)
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("options tls_cert and tls_key: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	c.TLS, c.AllowFallbackToPlaintext = t, mode == "preferred"
	return nil
}

// setUp runs on each new connection. The isolation has to be set by a statement
// of its own: the variable has different names on different servers.
const setUp = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"

// connector opens connections and prepares them.
type connector struct{ driver.Connector }

func newConnector(c *mysql.Config) (driver.Connector, error) {
	inner, err := mysql.NewConnector(c)
	return connector{inner}, err
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, setUp, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
