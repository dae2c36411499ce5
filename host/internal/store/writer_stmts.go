package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// rowCounts are the sizes of the multi-row statements that are kept prepared; a
// batch is written with as few of them as will do. Over a network each statement
// costs a round trip, so there is one of any size up to the largest.
var rowCounts = [...]int{64, 16, 4, 1}

// writerStmt numbers the prepared statements of the writer.
type writerStmt int

// Those for several rows are followed by one more for each further number of
// rowCounts.
const (
	stmtPlan writerStmt = iota
	stmtMove
	stmtInstances
	stmtEvents   = stmtInstances + writerStmt(len(rowCounts))
	stmtAlerts   = stmtEvents + writerStmt(len(rowCounts))
	stmtRequests = stmtAlerts + writerStmt(len(rowCounts))
	stmtPlans    = stmtRequests + writerStmt(len(rowCounts))
	stmtMoves    = stmtPlans + writerStmt(len(rowCounts))
	stmtCount    = stmtMoves + writerStmt(len(rowCounts))
)

// writerStmts keeps the statements of the writer, prepared once where that pays.
type writerStmts struct {
	store *Store
	texts [stmtCount]string
	ready bool
	stmts [stmtCount]*sql.Stmt
	sized map[[2]int]string // texts by their first number and their rows
}

func newWriterStmts(s *Store) writerStmts {
	p := writerStmts{store: s, texts: writerTexts(), ready: s.dialect.remote(), sized: map[[2]int]string{}}
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
	texts := [stmtCount]string{stmtPlan: updatePlan, stmtMove: updateInstance}
	for _, first := range []writerStmt{stmtInstances, stmtEvents, stmtAlerts, stmtRequests, stmtPlans, stmtMoves} {
		for i, rows := range rowCounts {
			texts[int(first)+i] = rowsText(first, rows)
		}
	}
	return texts
}

// rowsText returns the statement for a number of rows.
func rowsText(first writerStmt, rows int) string {
	switch first {
	case stmtInstances:
		return insertRows("ax_instance", instanceColumns, rows)
	case stmtEvents:
		return insertRows("ax_log", eventColumns, rows)
	case stmtAlerts:
		return insertRows("ax_alert_event", alertEventColumns, rows)
	case stmtRequests:
		return insertRows("ax_request", requestColumns, rows)
	case stmtPlans:
		return planSet.text(rows)
	default:
		return moveSet.text(rows)
	}
}

// next returns how many rows the next statement takes of those that wait: the
// largest prepared number that fits, which is the nth of rowCounts, or over a
// network as many as there are.
func (p *writerStmts) next(waiting int) (nth writerStmt, rows int) {
	if p.store.dialect.remote() {
		return 0, min(waiting, rowCounts[0])
	}
	i := slices.IndexFunc(rowCounts[:], func(n int) bool { return n <= waiting })
	return writerStmt(i), rowCounts[i]
}

// forRows returns the statement for a number of rows, at most the largest of
// rowCounts.
func (p *writerStmts) forRows(first writerStmt, rows int) string {
	key := [2]int{int(first), rows}
	text, made := p.sized[key]
	if !made {
		text = p.store.sql(rowsText(first, rows))
		p.sized[key] = text
	}
	return text
}

func insertRows(table, columns string, rows int) string {
	row := "(" + placeholders(strings.Count(columns, ",")+1) + ")"
	return "INSERT INTO " + table + " (" + columns + ") VALUES " + row + strings.Repeat(", "+row, rows-1)
}
