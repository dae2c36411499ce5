package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// dialect is what differs between the servers. Everything else is one SQL text
// that keeps to what they share: "?" for parameters; no RETURNING, no upsert,
// no FOR UPDATE, no JSON operators; duplicates are told by the code of the
// error, never by its text; an UPDATE reports the rows that it matched.
type dialect interface {
	// open opens the pools for writing (nil if o.ReadOnly) and for reading.
	open(ctx context.Context, path string, o Options) (write, read *sql.DB, err error)
	// migrations returns the folder with the numbered SQL files.
	migrations() (fs.FS, error)
	// txOptions are those of every writing transaction.
	txOptions() *sql.TxOptions
	// now reads the clock of the database.
	now(ctx context.Context, db *sql.DB) (time.Time, error)
	// tableExists tells whether a table or view of that name is there.
	tableExists(ctx context.Context, q queryer, name string) (bool, error)
	// duplicate reports a violated unique or primary key; the transaction goes
	// on without the statement.
	duplicate(err error) bool
	// transient reports a fault that may pass: the same transaction can be
	// tried again.
	transient(err error) bool
}

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// dialectOf splits a DSN into its dialect and the rest.
func dialectOf(dsn string) (dialect, string, error) {
	name, rest, ok := strings.Cut(dsn, ":")
	if !ok || rest == "" {
		return nil, "", fmt.Errorf("database: expected sqlite:PATH, got %q", name)
	}
	if name == "sqlite" {
		return sqlite{}, rest, nil
	}
	return nil, "", fmt.Errorf("database: unknown kind %q, expected sqlite", name)
}
