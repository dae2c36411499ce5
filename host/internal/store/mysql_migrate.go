package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Changes of the schema commit by themselves on MySQL, so a file may be applied
// in part when a host dies. Its row in ax_schema is there from the beginning,
// with the number of its statements that are done; it counts as applied once
// applied_at is set.
var createMigration = []string{
	`CREATE TABLE IF NOT EXISTS ax_schema (
  version    INT          NOT NULL PRIMARY KEY,
  name       VARCHAR(190) NOT NULL,
  checksum   CHAR(64)     NOT NULL,
  statements INT          NOT NULL,
  applied_at BIGINT       NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
	`CREATE TABLE IF NOT EXISTS ax_lease (
  name     VARCHAR(64)  NOT NULL PRIMARY KEY,
  holder   VARCHAR(64)  NOT NULL,
  until_at BIGINT       NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
}

// migrate leaves everything alone if nothing is missing, so that hosts whose
// account may not change the schema can call it too.
func (d mySQL) migrate(ctx context.Context, s *Store, known []migration) (MigrateReport, error) {
	have, err := s.checkApplied(ctx, s.readDB, known)
	report := MigrateReport{From: have, To: have}
	if err == nil {
		return report, d.partitionAhead(ctx, s)
	}
	if !errors.Is(err, ErrSchemaOld) {
		return report, err
	}
	db, err := d.owner()
	if err != nil {
		return report, err
	}
	defer db.Close()
	for _, text := range createMigration {
		if _, err := db.ExecContext(ctx, s.sql(text)); err != nil {
			return report, fmt.Errorf("make the table of versions: %w", err)
		}
	}
	err = d.withLease(ctx, s, "migrate", func(ctx context.Context) error {
		have, err := s.checkApplied(ctx, db, known) // another host may have done it
		if err != nil && !errors.Is(err, ErrSchemaOld) {
			return err
		}
		report.From, report.To = have, have
		for _, m := range known[have:] {
			if err := d.apply(ctx, s, db, m); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			report.To = m.version
			report.Applied = append(report.Applied, m.name)
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	return report, d.partitionAhead(ctx, s)
}

// owner opens a connection for changes of the schema, which may take hours with
// large tables: the server answers when it is done.
func (d mySQL) owner() (*sql.DB, error) {
	config := d.config.Clone()
	config.ReadTimeout = 0
	connector, err := newConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// apply runs the statements of a file that are not done yet.
func (d mySQL) apply(ctx context.Context, s *Store, db *sql.DB, m migration) error {
	done := 0
	var checksum string
	err := db.QueryRowContext(ctx, s.sql("SELECT statements, checksum FROM ax_schema WHERE version = ?"), m.version).Scan(&done, &checksum)
	begun := err == nil
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = db.ExecContext(ctx, s.sql("INSERT INTO ax_schema (version, name, checksum, statements, applied_at) VALUES (?, ?, ?, 0, 0)"),
			m.version, m.name, m.checksum)
	case err == nil && checksum != m.checksum:
		return fmt.Errorf("%w, and was applied in part: finish it with the program that began", ErrSchemaChanged)
	}
	if err != nil {
		return err
	}
	for i, text := range statements(m.text)[done:] {
		_, err := db.ExecContext(ctx, s.sql(text))
		// The first one may have been done by a host that died before it could
		// note that.
		if maybeDone := begun && i == 0; err != nil && !(maybeDone && slices.Contains(alreadyThere, number(err))) {
			return fmt.Errorf("statement %d: %w", done+i+1, err)
		}
		if _, err := db.ExecContext(ctx, s.sql("UPDATE ax_schema SET statements = ? WHERE version = ?"), done+i+1, m.version); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, s.sql("UPDATE ax_schema SET applied_at = ? WHERE version = ?"), time.Now().UnixMicro(), m.version)
	return err
}

// alreadyThere are the errors of a change of the schema that was made before:
// table, column or key exists, or what is to be dropped does not.
var alreadyThere = []uint16{1050, 1060, 1061, 1051, 1091}
