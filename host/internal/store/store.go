// Package store keeps tasks, instances, events, nodes, alerts and the audit
// trail in a database, and holds all SQL of ax. Reads and rare changes are
// methods; the state changes of the hot path go through Submit, which writes
// many of them in one transaction.
//
// The SQL is one text for every dialect as far as it goes; what differs is in
// the dialect value. Times are stored as microseconds UTC: what is finer is cut
// off, and the zone is not kept.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// The errors of package ax under the names a user of the store looks for.
var (
	ErrNotFound    = ax.ErrNotFound
	ErrDuplicate   = ax.ErrDuplicate
	ErrUnavailable = ax.ErrUnavailable
	ErrClosed      = ax.ErrClosed
	// ErrUncertain comes with ErrUnavailable: the connection was lost in the middle
	// of a COMMIT, and the database stayed away for too long to learn whether the
	// change was written. Whoever has to know reads the rows again later.
	ErrUncertain = errors.New("it is not known whether the change was written")
	// ErrReadOnly: the store was opened for reading only.
	ErrReadOnly = errors.New("the store was opened for reading only")
)

// DefaultPrefix begins the names of all tables.
const DefaultPrefix = "ax_"

// Options say which database to open and how.
type Options struct {
	// DSN is "sqlite:PATH" or "mysql://USER:PASSWORD@HOST:PORT/DATABASE"; see
	// newMySQL for more.
	DSN string
	// Prefix begins the names of the tables, DefaultPrefix if empty.
	Prefix string
	// Log may be nil.
	Log hclog.Logger
	// ReadOnly opens an existing database without a way to change it.
	ReadOnly bool
	// RetryFor bounds how long a change waits while the database is busy, full
	// or away, counted from its Submit. 0 = 30 s.
	RetryFor time.Duration
	// MaxBatch bounds the changes in one transaction, 0 = 1,000; Buffer those
	// that wait for theirs, 0 = 8,192.
	MaxBatch, Buffer int
	// Observe is told of each piece of work, how long it took and whether the
	// database refused it. It must not block; nil for nobody.
	Observe func(op Operation, took time.Duration, fault Fault)
	// PartitionDays is how many days ahead Migrate makes partitions for where
	// tables have them, 0 = 30.
	PartitionDays int
}

// Store is an open database. All methods are safe for concurrent use.
type Store struct {
	dialect dialect
	prefix  string
	log     hclog.Logger
	pools
	options Options
	writer  *writer // nil if read-only
}

var prefixPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Open opens the database, making it if it is not there, and starts the
// writer. It does not touch the schema: call Migrate or CheckSchema next.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	if !prefixPattern.MatchString(o.Prefix) {
		return nil, fmt.Errorf("table prefix %q: expected small letters, digits and _, beginning with a letter, at most 32", o.Prefix)
	}
	d, err := dialectOf(o.DSN)
	if err != nil {
		return nil, err
	}
	s := &Store{dialect: d, prefix: o.Prefix, log: o.Log, options: o}
	if s.pools, err = d.open(ctx, o); err != nil {
		return nil, err
	}
	if s.writeDB != nil {
		s.writer = newWriter(s, o)
		s.writer.start()
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.RetryFor == 0 {
		o.RetryFor = 30 * time.Second
	}
	if o.MaxBatch == 0 {
		o.MaxBatch = 1000
	}
	if o.Buffer == 0 {
		o.Buffer = 8192
	}
	if o.PartitionDays == 0 {
		o.PartitionDays = defaultAhead
	}
	return o
}

// Close waits until every change submitted before is written or answered, for
// RetryFor at most, and closes the database. A second call does nothing.
func (s *Store) Close() error {
	if s.writer != nil {
		s.writer.close()
	}
	return s.pools.close()
}

// Files returns the paths of the files that the database is in, none if it is on a
// server. They stay the same files for as long as the store is open, and must not
// be opened by anybody else in this process.
func (s *Store) Files() []string { return s.dialect.files() }

// Now returns the time by the clock of the database, which is the clock that
// all hosts compare leases by.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	began := time.Now()
	now, err := s.dialect.now(ctx, s.readDB)
	s.observe(OpRead, began, err)
	return now, s.wrap("read the clock of the database", err)
}

// sql puts the table prefix into a statement. Every ax_ in the SQL of this
// package begins a name.
func (s *Store) sql(text string) string {
	if s.prefix == DefaultPrefix {
		return text
	}
	return strings.ReplaceAll(text, DefaultPrefix, s.prefix)
}

func (s *Store) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	began := time.Now()
	rows, err := s.readDB.QueryContext(ctx, s.sql(text), args...)
	s.observe(OpRead, began, err)
	return rows, err
}

// collisions is how often a transaction is tried that others get in the way of.
const collisions = 10

// errAgain: another host has just made the same row.
var errAgain = errors.New("somebody else did the same at the same time")

// writeTx runs f in a transaction for writing. f's error rolls it back. If other
// transactions get in the way f is called again: it must not rest on what an
// earlier call has left. An error that is ErrUnavailable does not say that
// nothing was written: the answer to COMMIT may have been lost.
func (s *Store) writeTx(ctx context.Context, what string, f func(*sql.Tx) error) error {
	if s.writeDB == nil {
		return fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	var err error
	for n := range collisions {
		began := time.Now()
		err = s.tryTx(ctx, f)
		s.observe(OpChange, began, err)
		if err == nil || !(s.dialect.collided(err) || errors.Is(err, errAgain)) || sleep(ctx, time.Duration(n)*firstBackoff) != nil {
			break
		}
	}
	if s.dialect.stale(err) {
		s.reconnect()
	}
	return s.wrap(what, because(ctx, err))
}

func (s *Store) tryTx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a Commit it says only that
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// because puts the end of ctx before an error that it may have led to: that of a
// statement that was closed, a transaction that was undone before its COMMIT, or
// another one's that could not be waited for.
func because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}

// reconnect closes the idle connections for writing, so that the next ones are
// made anew and may lead to another server.
func (s *Store) reconnect() {
	for _, db := range []*sql.DB{s.writeDB, s.beatDB} {
		db.SetMaxIdleConns(-1)
		db.SetMaxIdleConns(idleConns)
	}
}

// sleep waits, and returns the error of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// exec runs one statement in a transaction of its own and returns the number
// of rows that it matched.
func (s *Store) exec(ctx context.Context, what, text string, args ...any) (int64, error) {
	var n int64
	err := s.writeTx(ctx, what, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, s.sql(text), args...)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return n, err
}

// execOne is exec for a statement that must match a row.
func (s *Store) execOne(ctx context.Context, what, text string, args ...any) error {
	n, err := s.exec(ctx, what, text, args...)
	if err == nil && n == 0 {
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return err
}

// wrap says what failed, and marks the errors that callers decide on.
func (s *Store) wrap(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	case s.dialect.transient(err):
		return fmt.Errorf("%s: %w: %w", what, ErrUnavailable, s.dialect.explain(err))
	}
	return fmt.Errorf("%s: %w", what, s.dialect.explain(err))
}
