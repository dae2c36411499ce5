package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/axsched/ax/schema"
)

// mySQL is the dialect of MySQL 5.7 and later, MariaDB 10.6 and later, and of
// servers that speak their language, such as TiDB and Galera. It keeps to what
// all of them share: no SKIP LOCKED, GET_LOCK, upserts or foreign keys.
//
// Transactions run at READ COMMITTED. What is decided by a value that another
// host may change is decided by the condition of an UPDATE.
type mySQL struct {
	mySQLErrors
	config *mysql.Config
}

// Connections of one host, at most: twelve of them, of which most are closed
// when there is nothing to do. Servers allow 151 in all if nobody asks for more.
const (
	writeConns = 4
	readConns  = 6
	beatConns  = 2
	idleConns  = 2
	// connLife bounds the life of a connection, so that hosts come back to a
	// server that was away, and leave one that a name no longer leads to.
	connLife = 5 * time.Minute
	// connIdle is longer than the time between two heartbeats, and shorter than
	// what the server allows, see wait_timeout.
	connIdle = 8 * time.Second
)

func (d mySQL) open(ctx context.Context, o Options) (p pools, err error) {
	connector, err := newConnector(d.config)
	if err != nil {
		return p, fmt.Errorf("open database %s: %w", d.config.DBName, err)
	}
	p.sent = &sentCount{}
	connect := func(n int) *sql.DB {
		db := sql.OpenDB(counted{connector, p.sent})
		db.SetMaxOpenConns(n)
		db.SetMaxIdleConns(idleConns)
		db.SetConnMaxLifetime(connLife)
		db.SetConnMaxIdleTime(connIdle)
		return db
	}
	p.readDB = connect(readConns)
	if !o.ReadOnly {
		p.writeDB, p.beatDB = connect(writeConns), connect(beatConns)
	}
	if err := p.readDB.PingContext(ctx); err != nil {
		err = fmt.Errorf("open database %s at %s: %w", d.config.DBName, d.config.Addr, d.explain(err))
		if d.transient(err) {
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return pools{}, errors.Join(err, p.close())
	}
	return p, nil
}

func (mySQL) kind() string { return "mysql" }

func (mySQL) files() []string { return nil }

func (mySQL) migrations() (fs.FS, error) { return fs.Sub(schema.Files, "mysql") }

// serverClock is the time of the server in microseconds UTC, whatever the time
// zone of the session.
const serverClock = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"

func (mySQL) clock() string { return serverClock }

func (mySQL) now(ctx context.Context, db *sql.DB) (time.Time, error) {
	var us int64
	err := db.QueryRowContext(ctx, "SELECT "+serverClock).Scan(&us)
	return time.UnixMicro(us).UTC(), err
}

// stamp gets the time back without another query: LAST_INSERT_ID(x) is x, and
// the server sends it along with the number of rows.
func (mySQL) stamp(ctx context.Context, db *sql.DB, text string, args ...any) (time.Time, int64, error) {
	res, err := db.ExecContext(ctx, strings.Replace(text, "@now", "LAST_INSERT_ID("+serverClock+")", 1), args...)
	if err != nil {
		return time.Time{}, 0, err
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 { // without a row nothing was evaluated
		return time.Time{}, 0, err
	}
	us, err := res.LastInsertId()
	return time.UnixMicro(us).UTC(), n, err
}

func (mySQL) tableExists(ctx context.Context, q queryer, name string) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx,
		"SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?", name).Scan(&n)
	return n > 0, err
}

func (mySQL) forUpdate() string { return " FOR UPDATE" }

func (mySQL) remote() bool { return true }
