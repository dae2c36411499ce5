package store

import (
	"context"
	"database/sql"
	"io/fs"
)

// What the tests of the package see beyond its API.

func (s *Store) WriteDB() *sql.DB { return s.writeDB }
func (s *Store) ReadDB() *sql.DB  { return s.readDB }

func (s *Store) MigrateFrom(ctx context.Context, files fs.FS) (MigrateReport, error) {
	return s.migrate(ctx, files)
}

func (s *Store) Migrations() (fs.FS, error) { return s.dialect.migrations() }

func (s *Store) WriteTx(ctx context.Context, f func(*sql.Tx) error) error {
	return s.writeTx(ctx, "test", f)
}

var (
	CutJSON    = cutJSON
	Statements = statements
)
