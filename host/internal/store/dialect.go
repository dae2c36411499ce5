package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// dialect is what differs between the servers. Everything else is one SQL text
// that keeps to what they share: "?" for parameters; no RETURNING, no upsert,
// no JSON operators; duplicates are told by the code of the error, never by its
// text; an UPDATE reports the rows that it matched.
type dialect interface {
	// kind is "sqlite" or "mysql".
	kind() string
	// files are those that the database is in, none if it is on a server.
	files() []string
	// open opens the pools.
	open(ctx context.Context, o Options) (pools, error)
	// migrations returns the folder with the numbered SQL files.
	migrations() (fs.FS, error)
	// migrate applies what is missing of the files, one host at a time.
	migrate(ctx context.Context, s *Store, known []migration) (MigrateReport, error)
	// clock is an expression for the clock of the database, in microseconds.
	clock() string
	// now reads that clock.
	now(ctx context.Context, db *sql.DB) (time.Time, error)
	// stamp runs an UPDATE in which the first parameter, written "@now", is the
	// clock of the database, and returns that time and the number of rows.
	stamp(ctx context.Context, db *sql.DB, text string, args ...any) (time.Time, int64, error)
	// tableExists tells whether a table or view of that name is there.
	tableExists(ctx context.Context, q queryer, name string) (bool, error)
	// forUpdate ends a SELECT whose rows must not change before the transaction
	// ends. It is empty where a transaction that writes excludes all others.
	forUpdate() string
	// remote: the database is at the other end of a network. Each statement costs
	// a round trip, and answers can be lost.
	remote() bool
	// maintainPartitions makes and drops partitions, if the tables have any.
	maintainPartitions(ctx context.Context, s *Store, p PartitionParams) (PartitionReport, error)

	errorKinds
}

// errorKinds tells the errors of a server apart.
type errorKinds interface {
	// duplicate reports a violated unique or primary key; the transaction goes
	// on without the statement.
	duplicate(err error) bool
	// transient reports a fault that may pass: the same transaction can be
	// tried again.
	transient(err error) bool
	// collided reports a transient fault that another transaction was the cause
	// of, and that is over already: the same can be tried again at once.
	collided(err error) bool
	// unsure reports an error of COMMIT after which the transaction may have been
	// committed all the same.
	unsure(err error) bool
	// stale reports that the server does not take changes any more, while another
	// one may under the same name: connections had best be made anew.
	stale(err error) bool
	// explain puts what to do about it before an error that people meet.
	explain(err error) error
}

// pools are the connections of a store. writeDB and beatDB are nil if it was opened
// for reading only.
type pools struct {
	writeDB, readDB *sql.DB
	// beatDB is for heartbeats alone, so that a host that is busy does not look
	// dead. It may be the same as writeDB.
	beatDB *sql.DB
	// sent counts what goes to a server, nil if there is none.
	sent *sentCount
}

// close ends the one that writes last: the last connection to a file of SQLite
// brings it up to date and removes its companions, which one that reads cannot.
func (p pools) close() error {
	var errs []error
	for _, db := range []*sql.DB{p.readDB, p.writeDB, p.beatDB} {
		if db != nil {
			errs = append(errs, db.Close()) // a second Close does nothing
		}
	}
	return errors.Join(errs...)
}

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// dialectOf reads a DSN.
func dialectOf(dsn string) (dialect, error) {
	name, rest, ok := strings.Cut(dsn, ":")
	switch {
	case !ok || rest == "":
		// What is there may have a password in it.
		return nil, errors.New("database: expected sqlite:PATH or mysql://USER:PASSWORD@HOST:PORT/DATABASE")
	case name == "sqlite":
		return sqlite{path: rest}, nil
	case name == "mysql":
		return newMySQL(rest)
	}
	return nil, fmt.Errorf("database: unknown kind %q, expected sqlite or mysql", name)
}
