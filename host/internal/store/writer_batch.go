package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/axsched/ax/host/internal/ax"
)

// batchTx is one transaction of the writer. New rows are not written at once
// but gathered for multi-row statements, which cost much less than as many
// single ones; conditions are checked in the order of the items.
type batchTx struct {
	store *Store
	tx    *sql.Tx
	stmts *writerStmts
	mode  mode
	inTx  [stmtCount]*sql.Stmt

	sets
	instances [][]any
	waiting   map[int64]bool // the ids in instances
	events    [][]any
	alerts    [][]any
	requests  [][]any
}

// apply runs the statements of all items whose verdict is not final, and forms
// it. With apart each item gets a savepoint and may fail by itself; without, an
// error is that of the whole transaction, as are those that may pass.
func (b *batchTx) apply(ctx context.Context, batch []*item) error {
	for _, it := range batch {
		if it.final {
			continue
		}
		it.err = nil
		var err error
		switch b.mode {
		case inSets:
			err = b.gatherAll(ctx, it)
		case singly:
			it.applied, err = b.item(ctx, it)
		case apart:
			err = b.applyApart(ctx, it)
		}
		if err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// applyApart applies one item within a savepoint. It returns only errors that
// concern the whole transaction.
func (b *batchTx) applyApart(ctx context.Context, it *item) error {
	if _, err := b.tx.ExecContext(ctx, "SAVEPOINT item"); err != nil {
		return err
	}
	applied, err := b.item(ctx, it)
	if err == nil {
		err = b.flush(ctx)
	}
	if err == nil {
		it.applied = applied
		_, err = b.tx.ExecContext(ctx, "RELEASE SAVEPOINT item")
		return err
	}
	if b.store.dialect.transient(err) {
		return err
	}
	b.forget()
	if _, rollback := b.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT item"); rollback != nil {
		return rollback
	}
	it.applied, it.err = false, b.explain(ctx, it, err)
	_, err = b.tx.ExecContext(ctx, "RELEASE SAVEPOINT item")
	return err
}

// item checks the conditions of one item, which makes their changes, and
// gathers the rest. It returns false if a condition does not hold; then nothing
// of the item is left in the transaction.
func (b *batchTx) item(ctx context.Context, it *item) (bool, error) {
	if both := it.plan != nil && it.move != nil; both {
		return b.bothConditions(ctx, it)
	}
	return b.conditionsHold(ctx, it)
}

func (b *batchTx) conditionsHold(ctx context.Context, it *item) (bool, error) {
	if it.plan != nil {
		if ok, err := b.holds(ctx, stmtPlan, it.plan); err != nil || !ok {
			return false, err
		}
	}
	if it.move != nil {
		if b.waiting[int64(it.change.Move.New.ID)] {
			if err := b.flush(ctx); err != nil {
				return false, err
			}
		}
		if ok, err := b.holds(ctx, stmtMove, it.move); err != nil || !ok {
			return false, err
		}
	}
	b.gather(it)
	return true, nil
}

// bothConditions undoes the first change if the second condition fails.
func (b *batchTx) bothConditions(ctx context.Context, it *item) (bool, error) {
	if err := b.flush(ctx); err != nil { // the savepoint must not span other items' rows
		return false, err
	}
	if _, err := b.tx.ExecContext(ctx, "SAVEPOINT conditions"); err != nil {
		return false, err
	}
	ok, err := b.conditionsHold(ctx, it)
	if err != nil {
		return false, err
	}
	if !ok {
		if _, err := b.tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT conditions"); err != nil {
			return false, err
		}
	}
	_, err = b.tx.ExecContext(ctx, "RELEASE SAVEPOINT conditions")
	return ok, err
}

// gather takes the unconditional part of an item.
func (b *batchTx) gather(it *item) {
	for _, args := range it.inserts {
		if b.waiting == nil {
			b.waiting = map[int64]bool{}
		}
		b.instances = append(b.instances, args)
		b.waiting[args[0].(int64)] = true
	}
	b.events = append(b.events, it.events...)
	b.alerts = append(b.alerts, it.alerts...)
	if it.request != nil {
		b.requests = append(b.requests, it.request)
	}
}

// flush writes the gathered rows.
func (b *batchTx) flush(ctx context.Context) error {
	if err := b.flushSets(ctx); err != nil {
		return err
	}
	for _, rows := range []struct {
		first writerStmt
		rows  [][]any
	}{{stmtRequests, b.requests}, {stmtInstances, b.instances}, {stmtEvents, b.events}, {stmtAlerts, b.alerts}} {
		if _, err := b.inPieces(ctx, rows.first, rows.rows); err != nil {
			return err
		}
	}
	b.forget()
	return nil
}

func (b *batchTx) forget() {
	b.instances, b.events, b.alerts, b.requests = b.instances[:0], b.events[:0], b.alerts[:0], b.requests[:0]
	clear(b.waiting)
}

// inPieces runs statements, of which first is the first number, until all rows
// are written. It returns how many rows they matched.
func (b *batchTx) inPieces(ctx context.Context, first writerStmt, rows [][]any) (int64, error) {
	var args []any
	var matched int64
	for len(rows) > 0 {
		nth, n := b.stmts.next(len(rows))
		args = args[:0]
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		var m int64
		var err error
		if b.store.dialect.remote() {
			m, err = affected(b.tx.ExecContext(ctx, b.stmts.forRows(first, n), args...))
		} else {
			m, err = b.exec(ctx, first+nth, args)
		}
		if err != nil {
			return matched, err
		}
		matched += m
		rows = rows[n:]
	}
	return matched, nil
}

// holds runs a statement and reports whether it matched any row.
func (b *batchTx) holds(ctx context.Context, stmt writerStmt, args []any) (bool, error) {
	n, err := b.exec(ctx, stmt, args)
	return n > 0, err
}

// exec runs a statement and returns the number of rows that it matched.
func (b *batchTx) exec(ctx context.Context, stmt writerStmt, args []any) (int64, error) {
	return affected(b.result(ctx, stmt, args))
}

func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (b *batchTx) result(ctx context.Context, stmt writerStmt, args []any) (sql.Result, error) {
	prepared := b.stmts.stmts[stmt]
	if prepared == nil {
		return b.tx.ExecContext(ctx, b.stmts.texts[stmt], args...)
	}
	if b.inTx[stmt] == nil {
		b.inTx[stmt] = b.tx.StmtContext(ctx, prepared)
	}
	return b.inTx[stmt].ExecContext(ctx, args...)
}

// explain turns a violated key into ErrDuplicate if it is that of the due time,
// and into ErrRepeated if it is that of a request; a used id is another matter. The text of the error differs between servers,
// so the table is asked.
func (b *batchTx) explain(ctx context.Context, it *item, cause error) error {
	if !b.store.dialect.duplicate(cause) {
		return b.store.wrap("write a change", cause)
	}
	var there int
	if r := it.change.Request; r != nil {
		err := b.tx.QueryRowContext(ctx, b.store.sql("SELECT count(*) FROM ax_request WHERE app = ? AND request_key = ?"), r.App, r.Key).Scan(&there)
		if err == nil && there > 0 {
			return fmt.Errorf("write the request %q: %w", r.Key, ax.ErrRepeated)
		}
	}
	for _, n := range it.change.Insert {
		err := b.tx.QueryRowContext(ctx, b.store.sql(
			"SELECT count(*) FROM ax_instance WHERE task_id = ? AND scheduled_at = ? AND kind = ? AND shard = ?"),
			int64(n.TaskID), micros(n.ScheduledAt), string(n.Kind), n.Shard).Scan(&there)
		if err == nil && there > 0 {
			return fmt.Errorf("insert instance %d of %q, due %s: %w", n.ID, n.TaskName, n.ScheduledAt, ErrDuplicate)
		}
	}
	return fmt.Errorf("write a change: an id is used already: %w", cause)
}
