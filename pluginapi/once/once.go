// Package once lets a job do its work once in a database of its own, however often
// it is run.
//
// A scheduler cannot promise that: if a host dies after the work and before it could
// say so, nobody knows whether it was done, and with retries it is done again. The
// job can, if its work is a transaction: it claims a key in the same transaction, so
// that both are there or neither.
//
//	var table once.Table // ax_once, made by table.Create
//
//	func (j job) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
//		key := "invoices of " + run.ScheduledAt.Format(time.DateOnly)
//		err := table.Do(ctx, j.db, run.Fire, key, func(tx *sql.Tx) error {
//			return writeInvoices(ctx, tx, run.ScheduledAt)
//		})
//		if errors.Is(err, once.ErrDone) {
//			return pluginapi.Result{Message: "was done before"}, nil
//		}
//		return pluginapi.Result{}, err
//	}
//
// Work in many transactions begins each of them with Guard: once a newer attempt has
// begun, an older one that still goes on, on a host that was cut off for instance,
// gets no further.
//
// It works with MySQL, MariaDB and SQLite, and with what takes "?" for parameters and
// lets a transaction go on after a duplicate key.
package once

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/axsched/ax/pluginapi"
)

var (
	// ErrDone says that the work of a key was done before: its transaction is
	// committed. Roll back, and report success. A *DoneError tells by whom.
	ErrDone = errors.New("the work was done before")
	// ErrStale says that a newer attempt of the instance has begun. Roll back and
	// give up: the other one does the work.
	ErrStale = errors.New("a newer attempt has taken over")
)

// DoneError is an ErrDone that knows who did the work.
type DoneError struct {
	Key, InstanceID string
	At              time.Time
}

func (e *DoneError) Error() string {
	return fmt.Sprintf("the work of %q was done before, by instance %s at %s", e.Key, e.InstanceID, e.At.Format(time.RFC3339))
}

// Is makes it an ErrDone.
func (*DoneError) Is(target error) bool { return target == ErrDone }

// DefaultTable is the name of a Table that has none.
const DefaultTable = "ax_once"

// Table is where keys are kept, in the database that the work is in. The zero value
// is ready for use.
type Table struct {
	// Name of the table, DefaultTable if empty.
	Name string
}

var names = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}(\.[A-Za-z_][A-Za-z0-9_]{0,63})?$`)

// name is checked since it becomes part of statements.
func (t Table) name() (string, error) {
	switch {
	case t.Name == "":
		return DefaultTable, nil
	case !names.MatchString(t.Name):
		return "", fmt.Errorf("once: %q is no name of a table", t.Name)
	}
	return t.Name, nil
}

// Create makes the table if it is not there.
func (t Table) Create(ctx context.Context, db *sql.DB) error {
	name, err := t.name()
	if err != nil {
		return err
	}
	// The primary key is a hash, so that capitals and spaces count everywhere.
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+name+` (
  id CHAR(64) NOT NULL PRIMARY KEY,
  business_key VARCHAR(190) NOT NULL,
  instance_id VARCHAR(32) NOT NULL,
  fence BIGINT NOT NULL,
  touched BIGINT NOT NULL,
  claimed_at BIGINT NOT NULL)`)
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	return nil
}

// Do claims a key, does the work and commits. If work fails nothing is claimed. The
// error is ErrDone if the key was claimed before. An error of the commit does not
// say that nothing was done: the next attempt finds out.
func (t Table) Do(ctx context.Context, db *sql.DB, fire pluginapi.Fire, key string, work func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin the transaction of %q: %w", key, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it says only that
	if err := t.Claim(ctx, tx, fire, key); err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit the work of %q: %w", key, err)
	}
	return nil
}

// Claim claims a key in a transaction, best as its first statement. The key names
// the work, not the attempt: the id of the instance if each due time is work of its
// own, which an empty key stands for, or something like "invoices of 2026-03-09" if
// a run by hand or a backfill shall not repeat it either. Another transaction that
// claims the same key waits for this one to end. ErrDone says that the key was
// claimed before, and any error that the transaction must be rolled back.
func (t Table) Claim(ctx context.Context, tx *sql.Tx, fire pluginapi.Fire, key string) error {
	name, err := t.name()
	if err != nil {
		return err
	}
	if key == "" {
		key = fire.InstanceID
	}
	if key == "" {
		return errors.New("once: there is neither a key nor the id of an instance")
	}
	r := row{table: name, id: hash("claim", key), key: key}
	inserted := r.insert(ctx, tx, fire)
	if inserted == nil {
		return nil
	}
	held, err := r.read(ctx, tx)
	switch {
	case err == nil:
		return &DoneError{Key: key, InstanceID: held.instance, At: held.at}
	case !errors.Is(err, sql.ErrNoRows):
		return errors.Join(inserted, err)
	}
	// The transaction may look at an older state of the table; an UPDATE does not.
	if there, err := r.touch(ctx, tx); err != nil || !there {
		return errors.Join(inserted, err)
	}
	return ErrDone
}

// Guard begins a transaction of an attempt that has several: it notes the fence of
// the attempt. ErrStale says that a later attempt of the same instance has done so
// before. Until the transaction ends no other attempt gets past its Guard.
func (t Table) Guard(ctx context.Context, tx *sql.Tx, fire pluginapi.Fire) error {
	name, err := t.name()
	if err != nil {
		return err
	}
	if fire.InstanceID == "" {
		return errors.New("once: there is no id of an instance")
	}
	r := row{table: name, id: hash("guard", fire.InstanceID), key: fire.InstanceID}
	passed, err := r.raise(ctx, tx, fire.Fence)
	if err != nil || passed {
		return err
	}
	inserted := r.insert(ctx, tx, fire)
	if inserted == nil {
		return nil
	}
	// There is a row: of a later attempt, or one that has just been made.
	if passed, err = r.raise(ctx, tx, fire.Fence); err != nil || passed {
		return err
	}
	if there, err := r.touch(ctx, tx); err != nil || !there {
		return errors.Join(inserted, err)
	}
	return ErrStale
}

// Forget deletes keys that were claimed before a time, and returns how many. Keep
// them for longer than a due time may be run again: the host's retention at least.
func (t Table) Forget(ctx context.Context, db *sql.DB, before time.Time) (int64, error) {
	name, err := t.name()
	if err != nil {
		return 0, err
	}
	res, err := db.ExecContext(ctx, "DELETE FROM "+name+" WHERE claimed_at < ?", before.UnixMicro())
	if err != nil {
		return 0, fmt.Errorf("forget old keys of %s: %w", name, err)
	}
	return res.RowsAffected()
}

func hash(kind, key string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	return hex.EncodeToString(sum[:])
}
