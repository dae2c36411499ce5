package store

import (
	"context"
	"database/sql"
	"strings"
)

// rowCounts are the sizes of the multi-row INSERTs that are kept prepared; a
// batch is written with as few of them as will do.
var rowCounts = [...]int{64, 16, 4, 1}

// writerStmt numbers the prepared statements of the writer.
type writerStmt int

// Those for several rows are followed by one more for each further number of
// rowCounts.
const (
	stmtPlan writerStmt = iota
	stmtMove
	stmtFailures
	stmtInstances
	stmtEvents      = stmtInstances + writerStmt(len(rowCounts))
	stmtAlerts      = stmtEvents + writerStmt(len(rowCounts))
	stmtPlans       = stmtAlerts + writerStmt(len(rowCounts))
	stmtMoves       = stmtPlans + writerStmt(len(rowCounts))
	stmtFailuresSet = stmtMoves + writerStmt(len(rowCounts))
	stmtCount       = stmtFailuresSet + writerStmt(len(rowCounts))
)

// writerStmts keeps the statements of the writer, prepared once where that pays.
type writerStmts struct {
	store *Store
	texts [stmtCount]string
	ready bool
	stmts [stmtCount]*sql.Stmt
}

func newWriterStmts(s *Store) writerStmts {
	p := writerStmts{store: s, texts: writerTexts(), ready: s.dialect.remote()}
	for i := range p.texts {
		p.texts[i] = s.sql(p.texts[i])
	}
	return p
}

// prepare must not be called inside a transaction: the only connection would
// be taken.
func (p *writerStmts) prepare(ctx context.Context) error {
	if p.ready {
		return nil
	}
	for i, text := range p.texts[:stmtPlans] { // sets are for remote servers
		if p.stmts[i] != nil {
			continue
		}
		stmt, err := p.store.writeDB.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		p.stmts[i] = stmt
	}
	p.ready = true
	return nil
}

func (p *writerStmts) close() {
	for _, stmt := range p.stmts {
		if stmt != nil {
			stmt.Close()
		}
	}
}

func writerTexts() [stmtCount]string {
	texts := [stmtCount]string{stmtPlan: updatePlan, stmtMove: updateInstance, stmtFailures: setFailures}
	for i, rows := range rowCounts {
		texts[int(stmtInstances)+i] = insertRows("ax_instance", instanceColumns, rows)
		texts[int(stmtEvents)+i] = insertRows("ax_log", eventColumns, rows)
		texts[int(stmtPlans)+i] = planSet.text(rows)
		texts[int(stmtMoves)+i] = moveSet.text(rows)
		texts[int(stmtFailuresSet)+i] = failuresSet.text(rows)
		texts[int(stmtAlerts)+i] = insertRows("ax_alert_event", alertEventColumns, rows)
	}
	return texts
}

func insertRows(table, columns string, rows int) string {
	row := "(" + placeholders(strings.Count(columns, ",")+1) + ")"
	return "INSERT INTO " + table + " (" + columns + ") VALUES " + row + strings.Repeat(", "+row, rows-1)
}
