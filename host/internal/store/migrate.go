package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// Errors about the schema of a database.
var (
	// ErrSchemaOld: migrations are missing; run Migrate.
	ErrSchemaOld = errors.New("the database schema is older than this program")
	// ErrSchemaNew: a newer program has changed the schema in a way that this one
	// cannot go on with.
	ErrSchemaNew = errors.New("the database schema is newer than this program")
	// ErrSchemaChanged: a migration that the database has seen was edited since.
	ErrSchemaChanged = errors.New("a migration differs from the one the database was made with")
)

// breaking begins the name of a file, behind its number, if programs that do not
// know it cannot go on with what it makes. All other files only add: tables, and
// columns that may be null or have a default. So hosts of the version before go
// on while others are upgraded, also if they are started anew meanwhile.
const breaking = "breaking_"

// breaks reports whether older programs have to stop.
func (m migration) breaks() bool {
	_, name, _ := strings.Cut(m.name, "_")
	return strings.HasPrefix(name, breaking)
}

// migration is one numbered file.
type migration struct {
	version  int
	name     string // of the file
	text     string
	checksum string // SHA-256 of the text, in hex
}

// MigrateReport tells what Migrate did.
type MigrateReport struct {
	// From and To are schema versions, 0 for an empty database.
	From, To int
	// Applied names the files that this call ran.
	Applied []string
}

const createVersions = `CREATE TABLE ax_schema (
  version    INTEGER PRIMARY KEY,
  name       VARCHAR(190) NOT NULL,
  checksum   CHAR(64)     NOT NULL,
  applied_at BIGINT       NOT NULL
)`

// Migrate brings the schema to the newest version. A call that was cut short is
// resumed by the next, and of two calls at once one waits and then finds nothing
// left to do. It refuses with ErrSchemaNew or ErrSchemaChanged before it changes
// anything. With nothing left to do it needs no right to change the schema.
func (s *Store) Migrate(ctx context.Context) (MigrateReport, error) {
	files, err := s.dialect.migrations()
	if err != nil {
		return MigrateReport{}, fmt.Errorf("migrate: %w", err)
	}
	return s.migrate(ctx, files)
}

func (s *Store) migrate(ctx context.Context, files fs.FS) (MigrateReport, error) {
	if s.writeDB == nil {
		return MigrateReport{}, fmt.Errorf("migrate: %w", ErrReadOnly)
	}
	known, err := readMigrations(files)
	if err != nil {
		return MigrateReport{}, fmt.Errorf("migrate: %w", err)
	}
	report, err := s.dialect.migrate(ctx, s, known)
	if err != nil {
		return report, s.wrap("migrate", err)
	}
	if report.From > len(known) {
		s.log.Warn("the database schema is newer than this program, which goes on with it until it is upgraded too",
			"schema", report.From, "known", len(known))
	}
	for _, name := range report.Applied {
		s.log.Info("schema migrated", "file", name, "version", report.To)
	}
	return report, nil
}

// migrateInTransactions is for databases whose transactions hold changes of the
// schema. Each file runs in one together with its row in ax_schema.
func (s *Store) migrateInTransactions(ctx context.Context, known []migration) (MigrateReport, error) {
	report := MigrateReport{From: -1}
	for {
		var have int
		var applied string
		err := s.tryTx(ctx, func(tx *sql.Tx) (err error) {
			have, applied, err = s.migrateStep(ctx, tx, known)
			return err
		})
		if err != nil {
			return report, because(ctx, err)
		}
		if report.From < 0 {
			report.From = have
		}
		if report.To = have; applied == "" {
			return report, nil
		}
		report.To++
		report.Applied = append(report.Applied, applied)
	}
}

// migrateStep applies the first missing file. It returns the version before and
// the name of the file, which is empty if none was missing.
func (s *Store) migrateStep(ctx context.Context, tx *sql.Tx, known []migration) (have int, applied string, err error) {
	have, err = s.checkApplied(ctx, tx, known)
	if err != nil && !errors.Is(err, ErrSchemaOld) {
		return have, "", err
	}
	if have >= len(known) {
		return have, "", nil
	}
	m := known[have]
	if have == 0 {
		if _, err := tx.ExecContext(ctx, s.sql(createVersions)); err != nil {
			return have, "", fmt.Errorf("make the table of versions: %w", err)
		}
	}
	for _, stmt := range statements(m.text) {
		if _, err := tx.ExecContext(ctx, s.sql(stmt)); err != nil {
			return have, "", fmt.Errorf("%s: %w", m.name, err)
		}
	}
	_, err = tx.ExecContext(ctx, s.sql("INSERT INTO ax_schema (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)"),
		m.version, m.name, m.checksum, time.Now().UnixMicro())
	return have, m.name, err
}

// PendingMigrations tells what Migrate would do, and changes nothing.
func (s *Store) PendingMigrations(ctx context.Context) (MigrateReport, error) {
	files, err := s.dialect.migrations()
	if err != nil {
		return MigrateReport{}, fmt.Errorf("check the schema: %w", err)
	}
	known, err := readMigrations(files)
	if err != nil {
		return MigrateReport{}, fmt.Errorf("check the schema: %w", err)
	}
	have, err := s.checkApplied(ctx, s.readDB, known)
	if err != nil && !errors.Is(err, ErrSchemaOld) {
		return MigrateReport{}, s.wrap("check the schema", err)
	}
	report := MigrateReport{From: have, To: max(have, len(known))}
	for _, m := range known[min(have, len(known)):] {
		report.Applied = append(report.Applied, m.name)
	}
	return report, nil
}

// CheckSchema compares the schema with what this program needs, and changes
// nothing. It returns nil, or an error that is ErrSchemaOld, ErrSchemaNew or
// ErrSchemaChanged.
func (s *Store) CheckSchema(ctx context.Context) error {
	_, err := s.schemaAhead(ctx)
	return err
}

// schemaAhead is CheckSchema that also tells by how many versions the schema is
// ahead of this program, which can go on with it all the same.
func (s *Store) schemaAhead(ctx context.Context) (int, error) {
	files, err := s.dialect.migrations()
	if err != nil {
		return 0, fmt.Errorf("check the schema: %w", err)
	}
	known, err := readMigrations(files)
	if err != nil {
		return 0, fmt.Errorf("check the schema: %w", err)
	}
	have, err := s.checkApplied(ctx, s.readDB, known)
	return max(have-len(known), 0), s.wrap("check the schema", err)
}

// checkApplied returns the version of the database, and an error if that was not
// reached by the files known, lacks some of them, or was broken by later ones.
func (s *Store) checkApplied(ctx context.Context, q queryer, known []migration) (int, error) {
	have, err := s.appliedMigrations(ctx, q)
	if err != nil {
		return 0, err
	}
	for i, m := range have {
		if i >= len(known) {
			if m.breaks() {
				return len(have), fmt.Errorf("%w: it is at version %d, this program knows %d, and %s is not for older ones: "+
					"install the version of ax that ran it, or a later one", ErrSchemaNew, len(have), len(known), m.name)
			}
			continue
		}
		if m.version != known[i].version || m.checksum != known[i].checksum {
			return len(have), fmt.Errorf("%w: %s", ErrSchemaChanged, m.name)
		}
	}
	if len(have) < len(known) {
		return len(have), fmt.Errorf("%w: it is at version %d of %d", ErrSchemaOld, len(have), len(known))
	}
	return len(have), nil
}

func (s *Store) appliedMigrations(ctx context.Context, q queryer) ([]migration, error) {
	there, err := s.dialect.tableExists(ctx, q, s.sql("ax_schema"))
	if err != nil || !there {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, s.sql("SELECT version, name, checksum FROM ax_schema WHERE applied_at > 0 ORDER BY version"))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var have []migration
	for rows.Next() {
		var m migration
		if err := rows.Scan(&m.version, &m.name, &m.checksum); err != nil {
			return nil, err
		}
		have = append(have, m)
	}
	return have, rows.Err()
}

// readMigrations reads the files, which must be numbered from 1 without gaps.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("%s: expected a file numbered %04d", name, i+1)
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		// A checkout with other line ends is still the same migration.
		text := strings.ReplaceAll(string(b), "\r\n", "\n")
		sum := sha256.Sum256([]byte(text))
		all = append(all, migration{version, name, text, hex.EncodeToString(sum[:])})
	}
	return all, nil
}

// statements splits a file at each semicolon that ends a line, for drivers
// that take one statement at a time.
func statements(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ";\n") {
		if part = strings.TrimSpace(part); !onlyComments(part) {
			all = append(all, part)
		}
	}
	return all
}

func onlyComments(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return false
		}
	}
	return true
}
