package spool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	sqlite3driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/axsched/ax/host/internal/ax"
)

// pageSize is that of new files, in bytes.
const pageSize = 4096

const table = `CREATE TABLE IF NOT EXISTS ax_result_pending (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  instance_id INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  fence       INTEGER NOT NULL,
  failed_at   INTEGER NOT NULL, -- microseconds UTC, as expires_at
  expires_at  INTEGER NOT NULL,
  result      BLOB NOT NULL     -- JSON
)`

// row is a result as it is kept.
type row struct {
	id                  int64
	instance            ax.InstanceID
	attempt             int
	fence               int64
	failedAt, expiresAt time.Time
	result              []byte
}

// file is an SQLite file with results. One process holds it at a time. If it
// turns out to be damaged it is put aside, and a new one takes its place.
type file struct {
	path     string
	maxBytes int64
	log      hclog.Logger
	mu       sync.Mutex // guards db, and makes users take turns
	db       *sql.DB
}

func openFile(ctx context.Context, path string, maxBytes int64, log hclog.Logger) (*file, error) {
	f := &file{path: path, maxBytes: maxBytes, log: log}
	err := f.connect(ctx)
	if damaged(err) {
		err = f.renew(ctx, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the spool of results %s: %w", path, err)
	}
	return f, nil
}

// connect opens the file, makes it if there is none, and looks it over.
func (f *file) connect(ctx context.Context) error {
	// Results may be confidential. An empty file is a new database to SQLite,
	// which has not opened this one yet, so it can be closed here.
	if made, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		made.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	params := url.Values{"_dqs": {"0"}, "_pragma": {
		// Exclusive, from before the file is first read: no other process can
		// use it by mistake, and there is no shared memory that could be damaged.
		"locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(FULL)",
		fmt.Sprintf("max_page_count(%d)", f.maxBytes/pageSize), "journal_size_limit(4194304)",
	}}
	dsn := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: f.path}).EscapedPath(), RawQuery: params.Encode()}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // a second one would be shut out by the first
	db.SetMaxIdleConns(1)
	if err := prepare(ctx, db); err != nil {
		db.Close()
		return err
	}
	f.db = db
	return nil
}

// errDamaged says that SQLite's own check found faults.
var errDamaged = errors.New("the file is damaged")

func prepare(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, verdict)
	}
	_, err := db.ExecContext(ctx, table)
	return err
}

// renew puts the damaged file aside and begins a new one.
func (f *file) renew(ctx context.Context, why error) error {
	if f.db != nil {
		f.db.Close()
		f.db = nil
	}
	aside := f.path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000")
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Rename(f.path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put the damaged file aside: %w", err)
		}
	}
	f.log.Error("the spool of results is damaged; it was put aside, and results in it may be missing in the database",
		"path", f.path, "aside", aside, "error", why)
	return f.connect(ctx)
}

// use runs f with the database, a second time with a new one if the file turns
// out to be damaged.
func (f *file) use(ctx context.Context, do func(*sql.DB) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db == nil {
		return ErrClosed
	}
	err := do(f.db)
	if damaged(err) {
		if err = f.renew(ctx, err); err == nil {
			err = do(f.db)
		}
	}
	if code(err) == sqlite3.SQLITE_FULL {
		return fmt.Errorf("%w (%d MB, or the disk is): %w", ErrFull, f.maxBytes>>20, err)
	}
	return err
}

// insert writes all rows or none, to the disk.
func (f *file) insert(ctx context.Context, rows []row) error {
	return f.use(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
		for _, r := range rows {
			_, err := tx.ExecContext(ctx, `INSERT INTO ax_result_pending
  (instance_id, attempt, fence, failed_at, expires_at, result) VALUES (?, ?, ?, ?, ?, ?)`,
				int64(r.instance), r.attempt, r.fence, r.failedAt.UnixMicro(), r.expiresAt.UnixMicro(), r.result)
			if err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

// oldest returns up to n rows with ids above after, in the order in which they
// came.
func (f *file) oldest(ctx context.Context, after int64, n int) (all []row, err error) {
	err = f.use(ctx, func(db *sql.DB) error {
		all = nil
		rows, err := db.QueryContext(ctx, `SELECT id, instance_id, attempt, fence, failed_at, expires_at, result
  FROM ax_result_pending WHERE id > ? ORDER BY id LIMIT ?`, after, n)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r row
			var failed, expires int64
			if err := rows.Scan(&r.id, &r.instance, &r.attempt, &r.fence, &failed, &expires, &r.result); err != nil {
				return err
			}
			r.failedAt, r.expiresAt = time.UnixMicro(failed), time.UnixMicro(expires)
			all = append(all, r)
		}
		return rows.Err()
	})
	return all, err
}

func (f *file) remove(ctx context.Context, ids []int64) error {
	return f.use(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, "DELETE FROM ax_result_pending WHERE id = ?", id); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

func (f *file) pending(ctx context.Context) (n int, oldest time.Time, err error) {
	err = f.use(ctx, func(db *sql.DB) error {
		var first sql.NullInt64
		if err := db.QueryRowContext(ctx, "SELECT count(*), min(failed_at) FROM ax_result_pending").Scan(&n, &first); err != nil {
			return err
		}
		if first.Valid {
			oldest = time.UnixMicro(first.Int64).UTC()
		}
		return nil
	})
	return n, oldest, err
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db == nil {
		return nil
	}
	err := f.db.Close()
	f.db = nil
	return err
}

func damaged(err error) bool {
	c := code(err)
	return errors.Is(err, errDamaged) || c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

// code returns SQLite's primary result code, 0 if the error is not SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite3driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
