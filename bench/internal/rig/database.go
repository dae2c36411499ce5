package rig

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql" // the driver
)

// Database is a private MariaDB, there until it is closed.
type Database struct {
	// DSN is for hosts.
	DSN string

	cmd  *exec.Cmd
	hold io.Closer
}

// NewDatabase starts one. It comes from dblimit, which gets the arguments and
// measures it first; each line of what that prints is handed to line.
func NewDatabase(ctx context.Context, line func(string), args ...string) (*Database, error) {
	args = append([]string{"run", "github.com/axsched/ax/bench/dblimit", "-hold"}, args...)
	d := &Database{cmd: exec.CommandContext(ctx, "go", args...)}
	d.cmd.Stderr = os.Stderr
	in, err := d.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	d.hold = in
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if dsn, found := strings.CutPrefix(lines.Text(), "dsn "); found {
			d.DSN = dsn
			return d, nil
		}
		line(lines.Text())
	}
	return nil, errors.Join(errors.New("dblimit has ended too early"), d.Close())
}

// Close ends the server and removes its data.
func (d *Database) Close() error { return errors.Join(d.hold.Close(), d.cmd.Wait()) }

// Open returns connections to it.
func (d *Database) Open() (*sql.DB, error) {
	u, err := url.Parse(d.DSN)
	if err != nil {
		return nil, err
	}
	return sql.Open("mysql", fmt.Sprintf("%s@tcp(%s)/%s", u.User, u.Host, filepath.Base(u.Path)))
}
