package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// lostCommitError is a COMMIT whose answer did not come: the transaction is committed
// with all that it wrote, or rolled back, and its witness tells which.
type lostCommitError struct {
	witness witness
	cause   error
}

func (l *lostCommitError) Error() string { return "the answer to COMMIT was lost: " + l.cause.Error() }
func (l *lostCommitError) Unwrap() error { return l.cause }

// witness is a row that is in the database if and only if a transaction was
// committed.
type witness struct {
	text string // selects it, with its id as the parameter
	id   int64
}

const (
	eventWitness    = "SELECT id FROM ax_log WHERE id = ?"
	instanceWitness = "SELECT id FROM ax_instance WHERE id = ?"
	markWitness     = "SELECT id FROM ax_witness WHERE id = ?"
)

// witnessOf finds a new row among those of the items that were applied. changed
// tells whether the transaction has written anything at all.
func witnessOf(batch []*item) (w witness, changed bool) {
	for _, it := range batch {
		if !it.applied || it.final {
			continue
		}
		switch {
		case len(it.events) > 0:
			return witness{eventWitness, it.events[0][0].(int64)}, true
		case len(it.inserts) > 0:
			w = witness{instanceWitness, it.inserts[0][0].(int64)}
		}
		changed = changed || it.plan != nil || it.move != nil || len(it.inserts)+len(it.alerts) > 0
	}
	return w, changed
}

// commit ends a transaction. One without a row that could be its witness gets
// one, and takes that of the last such transaction away.
func (w *writer) commit(ctx context.Context, tx *sql.Tx, batch []*item) error {
	if !w.store.dialect.remote() {
		return tx.Commit()
	}
	mark, changed := witnessOf(batch)
	if changed && mark.text == "" {
		mark = witness{markWitness, randomID()}
		if err := w.writeMark(ctx, tx, mark.id); err != nil {
			return err
		}
	}
	err := tx.Commit()
	if changed && err != nil && w.store.dialect.unsure(err) {
		return &lostCommitError{mark, err}
	}
	if err == nil && mark.text == markWitness {
		w.mark = mark.id
	}
	return err
}

func (w *writer) writeMark(ctx context.Context, tx *sql.Tx, id int64) error {
	if w.mark != 0 {
		if _, err := tx.ExecContext(ctx, w.store.sql("DELETE FROM ax_witness WHERE id = ?"), w.mark); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, w.store.sql("INSERT INTO ax_witness (id) VALUES (?)"), id)
	return err
}

// randomID returns 63 random bits: among a million there is no pair, but for a
// chance below 10^-6.
func randomID() int64 {
	var b [8]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return int64(binary.BigEndian.Uint64(b[:]) >> 1)
}

// settle finds out what became of a transaction: nil if it was committed, the
// cause if it was rolled back, errUnknown if that could not be learnt in time.
func (w *writer) settle(batch []*item, lost *lostCommitError) error {
	until := time.Time{}
	for _, it := range batch {
		if end := it.at.Add(w.retryFor); end.After(until) {
			until = end
		}
	}
	for backoff := firstBackoff; ; backoff = min(2*backoff, maxBackoff) {
		there, err := w.isThere(lost.witness)
		switch {
		case err == nil && there:
			w.log.Info("the answer to COMMIT was lost, but it was committed", "changes", len(batch))
			return nil
		case err == nil:
			return lost.cause
		case time.Now().After(until):
			return fmt.Errorf("%w: %w", ErrUncertain, lost.cause)
		}
		w.log.Warn("cannot learn whether changes were committed, trying again", "changes", len(batch), "wait", backoff, "error", err)
		time.Sleep(backoff)
	}
}

// isThere looks for a witness. The transaction may still be going on in the
// server: the lock makes this wait for its end, or fail if that takes too long.
func (w *writer) isThere(what witness) (bool, error) {
	ctx := context.Background()
	conn, err := w.store.writeDB.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close() //nolint:errcheck // the connection goes back, or is broken
	// On a node of Galera this waits for what other nodes have committed. Servers
	// that do not know the variable have no such lag.
	waited := false
	if _, err := conn.ExecContext(ctx, "SET SESSION wsrep_sync_wait = 15"); err == nil {
		waited = true
	}
	var id int64
	err = conn.QueryRowContext(ctx, w.store.sql(what.text)+w.store.dialect.forUpdate(), what.id).Scan(&id)
	if waited {
		if _, end := conn.ExecContext(ctx, "SET SESSION wsrep_sync_wait = 0"); end != nil {
			return false, end
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
