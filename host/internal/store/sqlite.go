package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	sqlite3driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/axsched/ax/schema"
)

// sqlite is the dialect of a database in a local file. It has one connection
// for writing, since SQLite has one writer at a time and a queue in front of it
// waits more fairly than its busy handler, and a few for reading.
type sqlite struct{ path string }

// openWait bounds how long Open waits for another process that is just
// changing the file to WAL; SQLite does not wait for that lock by itself.
const openWait = 5 * time.Second

func (d sqlite) open(ctx context.Context, o Options) (p pools, err error) {
	path := d.path
	if err := d.prepareFile(path, o); err != nil {
		return p, err
	}
	if note := networkFilesystem(filepath.Dir(path)); note != "" {
		o.Log.Warn("the database is on a network filesystem; SQLite needs a local disk, or it may be damaged",
			"path", path, "filesystem", note)
	}
	if !o.ReadOnly {
		p.writeDB, err = d.connect(ctx, path, url.Values{"_txlock": {"immediate"}, "_pragma": {
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"journal_size_limit(67108864)", // 64 MB: a burst does not keep its disk space
			"cache_size(-16000)",           // 16 MB: the index of due times is hit at random
		}})
		if err != nil {
			return p, err
		}
		p.writeDB.SetMaxOpenConns(1)
		p.writeDB.SetMaxIdleConns(1)
		p.beatDB = p.writeDB
	}
	p.readDB, err = d.connect(ctx, path, url.Values{"mode": {"ro"}, "_pragma": {
		"busy_timeout(5000)", "query_only(1)",
	}})
	if err != nil {
		return pools{}, errors.Join(err, p.close())
	}
	readers := max(4, runtime.GOMAXPROCS(0))
	p.readDB.SetMaxOpenConns(readers)
	p.readDB.SetMaxIdleConns(readers)
	return p, nil
}

// prepareFile turns the usual troubles with the path into plain words, and makes
// the file if there is none.
func (d sqlite) prepareFile(path string, o Options) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("open database %s: it is a directory, expected a file", path)
	case errors.Is(err, fs.ErrNotExist) && o.ReadOnly:
		return fmt.Errorf("open database %s: there is none yet: %w", path, fs.ErrNotExist)
	case err == nil || o.ReadOnly:
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("open database %s: make its directory: %w", path, err)
	}
	if err := d.makeFile(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("open database %s: %w", path, err)
	}
	return nil
}

// makeFile makes an empty file readable for its owner only, since params and
// results may be confidential. It is made under another name: a process that
// closes a file loses all locks that SQLite holds on it, so the file must never
// be opened here once SQLite may see it.
func (sqlite) makeFile(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".ax-new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	err = os.Link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A filesystem without hard links. Two stores that open a new file at the
	// same moment in one process would still harm each other; hosts do not.
	if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	return f.Close()
}

func (d sqlite) connect(ctx context.Context, path string, params url.Values) (*sql.DB, error) {
	params.Set("_dqs", "0")
	// An opaque file URI keeps relative paths relative; % ? and # are escaped.
	dsn := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: params.Encode()}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	var n int
	for start := time.Now(); ; {
		// Reading the schema is what finds a file that is no database.
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&n)
		if err == nil {
			return db, nil
		}
		if code(err) != sqlite3.SQLITE_BUSY || time.Since(start) > openWait {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	db.Close()
	return nil, fmt.Errorf("open database %s: %w", path, d.explain(err))
}

// explain puts a plain sentence before the errors people meet at start.
func (d sqlite) explain(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("the file is not an SQLite database, or its beginning is damaged, see \"When the database is damaged\" in docs/operations.md: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("the file cannot be written: %w", err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the file or its -wal and -shm companions cannot be opened, see the permissions of the file and its directory: %w", err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full: make room where %s is: %w", d.path, err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the file %s is damaged: restore a backup, see \"When the database is damaged\" in docs/operations.md: %w", d.path, err)
	}
	return err
}

func (sqlite) kind() string { return "sqlite" }

// files includes those that hold what is not yet in the database file, and the
// locks of those who use it.
func (d sqlite) files() []string { return []string{d.path, d.path + "-wal", d.path + "-shm"} }

func (sqlite) migrations() (fs.FS, error) { return fs.Sub(schema.Files, "sqlite") }

// migrate applies each file in a transaction of its own, which excludes all
// other writers. Isolation is serializable, and _txlock makes every transaction
// of the writing pool an immediate one.
func (sqlite) migrate(ctx context.Context, s *Store, known []migration) (MigrateReport, error) {
	return s.migrateInTransactions(ctx, known)
}

// clock is the same as now, but has only milliseconds.
func (sqlite) clock() string { return "CAST(unixepoch('subsec') * 1000 AS INTEGER) * 1000" }

// now is the clock of this process: the database lives in it.
func (sqlite) now(context.Context, *sql.DB) (time.Time, error) { return time.Now().UTC(), nil }

func (sqlite) stamp(ctx context.Context, db *sql.DB, text string, args ...any) (time.Time, int64, error) {
	now := time.Now().UTC()
	res, err := db.ExecContext(ctx, strings.Replace(text, "@now", "?", 1), append([]any{now.UnixMicro()}, args...)...)
	if err != nil {
		return now, 0, err
	}
	n, err := res.RowsAffected()
	return now, n, err
}

func (sqlite) forUpdate() string { return "" }
func (sqlite) remote() bool      { return false }

func (sqlite) maintainPartitions(context.Context, *Store, PartitionParams) (PartitionReport, error) {
	return PartitionReport{}, nil
}

func (sqlite) tableExists(ctx context.Context, q queryer, name string) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = ?", name).Scan(&n)
	return n > 0, err
}

func (sqlite) duplicate(err error) bool {
	e, ok := errors.AsType[*sqlite3driver.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE ||
		e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == sqlite3.SQLITE_CONSTRAINT_ROWID)
}

func (sqlite) transient(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// A transaction of SQLite is over when COMMIT has answered, within this process,
// and writers wait for one another.
func (sqlite) collided(error) bool { return false }
func (sqlite) unsure(error) bool   { return false }
func (sqlite) stale(error) bool    { return false }

// code returns the primary result code, 0 if the error is not SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite3driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
