// Package mysqltest starts private MariaDB servers for tests and measurements.
// A server lives in a directory of its own, is reached over loopback only, and
// ends with the process that started it, however that ends.
package mysqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// ErrMissing says that there is no MariaDB on this machine.
var ErrMissing = errors.New("MariaDB is not installed: run scripts/test-deps.sh (Debian's package mariadb-server), or name a server in " + EnvDSN)

// Options say how a server is set up. The zero value is for tests: small, and
// with defaults that nobody would choose, so that what the store needs but does
// not ask for is missed at once.
type Options struct {
	// BufferPool and RedoLog are sizes in MiB, 0 = 64 and 16.
	BufferPool, RedoLog int
	// Args are further arguments of mariadbd, such as "--max-connections=10".
	Args []string
}

// oddDefaults are settings of sessions that differ from what MariaDB has out of
// the box, as administrators may have set them.
var oddDefaults = []string{
	"--character-set-server=latin1", "--collation-server=latin1_german2_ci", "--default-time-zone=+05:30",
	"--sql-mode=ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,NO_UNSIGNED_SUBTRACTION",
	"--transaction-isolation=SERIALIZABLE", "--autocommit=OFF",
}

// Times that starting and stopping may take on a busy machine.
const (
	startWait = time.Minute
	stopWait  = 20 * time.Second
)

// Server is a running MariaDB.
type Server struct {
	dir, port string
	args      []string
	process   *os.Process
	exited    chan struct{} // closed when the process has ended
	exit      error         // how it has ended, once exited is closed
}

// Start makes the files of a new server and starts it. Each commit is flushed to
// the disk, as in production. Stop removes all of it.
func Start(ctx context.Context, o Options) (*Server, error) {
	program, err := find("mariadbd")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ax-db-") // a socket's path must be short
	if err != nil {
		return nil, fmt.Errorf("start MariaDB: %w", err)
	}
	s := &Server{dir: dir}
	// A server that starts deletes the temporary tables that it finds.
	tmp := "--tmpdir=" + filepath.Join(dir, "tmp")
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	// Containers allow only so much asynchronous I/O, and many servers at once
	// need more.
	redo, aio := fmt.Sprintf("--innodb-log-file-size=%dM", orDefault(o.RedoLog, 16)), "--innodb-use-native-aio=OFF"
	s.args = append([]string{
		program, "--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--socket=" + filepath.Join(dir, "sock"),
		"--pid-file=" + filepath.Join(dir, "pid"), "--log-error=" + filepath.Join(dir, "error.log"), "--bind-address=127.0.0.1",
		"--skip-name-resolve", "--skip-log-bin", "--max-connections=1000", "--innodb-flush-log-at-trx-commit=1",
		fmt.Sprintf("--innodb-buffer-pool-size=%dM", orDefault(o.BufferPool, 64)), redo, aio, tmp,
	}, oddDefaults...)
	s.args = append(s.args, o.Args...)
	if os.Geteuid() == 0 {
		s.args = append(s.args, "--user=root")
	}
	if err := s.install(ctx, redo, aio, tmp); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range 3 { // another process may take the port in between
		if s.port, err = freePort(); err == nil {
			err = s.Resume(ctx)
		}
		if err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

func orDefault(n, d int) int {
	if n == 0 {
		return d
	}
	return n
}

// find looks for a program also where the PATH of plain users does not lead.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec"} {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("look for %s: %w", program, ErrMissing)
}

// install makes the system tables; root has no password and only loopback.
func (s *Server) install(ctx context.Context, args ...string) error {
	program, err := find("mariadb-install-db")
	if err != nil {
		return err
	}
	args = append([]string{
		"--no-defaults", "--datadir=" + filepath.Join(s.dir, "data"), "--auth-root-authentication-method=normal",
		"--skip-test-db", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0",
	}, args...)
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	if out, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("make the system tables of MariaDB: %w\n%s", err, out)
	}
	return nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("look for a free port: %w", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// Resume starts a server again that Kill or Halt ended, with the same files and
// the same port, and waits until it answers.
func (s *Server) Resume(ctx context.Context) error {
	cmd := exec.Command(s.args[0], append(s.args[1:], "--port="+s.port)...)
	// The kernel kills it when the thread that started it ends: that one must
	// live as long as the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error, 1)
	s.exited = make(chan struct{})
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			s.exit = cmd.Wait()
			close(s.exited)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start MariaDB: %w", err)
	}
	s.process = cmd.Process
	err := s.waitReady(ctx)
	if err != nil {
		s.end(syscall.SIGKILL)
	}
	return err
}

// waitReady asks until the server answers.
func (s *Server) waitReady(ctx context.Context) error {
	db, err := sql.Open("mysql", s.driverDSN(""))
	if err != nil {
		return fmt.Errorf("reach MariaDB: %w", err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("MariaDB ended at its start (%w):\n%s", s.exit, s.Log())
		case <-ctx.Done():
			return fmt.Errorf("MariaDB does not answer: %w\n%s", err, s.Log())
		case <-tick.C:
		}
	}
}

// Log returns the end of the server's log.
func (s *Server) Log() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "error.log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// Address returns host:port.
func (s *Server) Address() string { return "127.0.0.1:" + s.port }

// Process returns the running process, for tests that stop and continue it.
func (s *Server) Process() *os.Process { return s.process }

// DSN returns the DSN of a database for the store, with all rights.
func (s *Server) DSN(database string) string {
	return "mysql://root@" + s.Address() + "/" + database
}

// Create makes an empty database.
func (s *Server) Create(ctx context.Context, database string) error {
	db, err := sql.Open("mysql", s.driverDSN(""))
	if err != nil {
		return fmt.Errorf("reach MariaDB: %w", err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+quote(database)); err != nil {
		return fmt.Errorf("create database %s: %w", database, err)
	}
	return nil
}

func (s *Server) driverDSN(database string) string {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "tcp", s.Address(), database
	c.Logger = &mysql.NopLogger{} // pings before it listens
	return c.FormatDSN()
}

// Kill ends the server at once, as a power cut does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Halt ends the server in good order and keeps its files.
func (s *Server) Halt() { s.end(syscall.SIGTERM) }

func (s *Server) end(signal syscall.Signal) {
	if s.process == nil {
		return
	}
	s.process.Signal(signal) //nolint:errcheck // it may have ended already
	select {
	case <-s.exited:
	case <-time.After(stopWait):
		s.process.Kill() //nolint:errcheck // as above
		<-s.exited
	}
	s.process = nil
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	s.end(syscall.SIGKILL) // nobody will read the files again
	return os.RemoveAll(s.dir)
}

// quote makes an identifier of a name.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
