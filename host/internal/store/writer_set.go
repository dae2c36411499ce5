package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// errRefused: a condition of a set did not hold, and it is not known whose.
var errRefused = errors.New("a condition does not hold")

// sets gathers conditional updates for statements that change many rows at once,
// which over a network cost little more than one that changes a single row. The
// rows of a set are different ones. If all match all conditions hold. If not, the
// writer tries the same changes again one by one, which is rare: hosts seldom
// want the same row.
type sets struct {
	plans, moves [][]any
	// Which of the rows gathered is whose.
	planOf, moveOf map[int64]int
}

// Places of the keys in planArgs and moveArgs.
const (
	planKey = 5
	moveKey = 17
)

func (s *sets) forget() {
	s.plans, s.moves = s.plans[:0], s.moves[:0]
	clear(s.planOf)
	clear(s.moveOf)
}

// put adds a row under its key, or puts it in the place of the one that has it.
func put(rows *[][]any, of *map[int64]int, key int64, row []any) {
	if n, there := (*of)[key]; there {
		(*rows)[n] = row
		return
	}
	if *of == nil {
		*of = map[int64]int{}
	}
	(*of)[key] = len(*rows)
	*rows = append(*rows, row)
}

// gatherAll takes a whole item. Whatever touches a row that is gathered already,
// and depends on what was there before, has the gathered ones written first.
func (b *batchTx) gatherAll(ctx context.Context, it *item) error {
	var again bool
	if it.plan != nil {
		_, again = b.planOf[it.plan[planKey].(int64)]
	}
	if it.move != nil {
		id := it.move[moveKey].(int64)
		_, moved := b.moveOf[id]
		again = again || moved || b.waiting[id]
	}
	if again {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	if it.plan != nil {
		put(&b.plans, &b.planOf, it.plan[planKey].(int64), it.plan)
	}
	if it.move != nil {
		put(&b.moves, &b.moveOf, it.move[moveKey].(int64), it.move)
	}
	b.gather(it)
	it.applied = true
	return nil
}

// flushSets writes the gathered updates in the order of their keys: two hosts
// that want the same rows lock them in the same order.
func (b *batchTx) flushSets(ctx context.Context) error {
	for _, set := range []struct {
		first writerStmt
		rows  [][]any
		key   int
	}{
		{stmtPlans, b.plans, planKey},
		{stmtMoves, b.moves, moveKey},
	} {
		slices.SortFunc(set.rows, func(x, y []any) int { return cmp.Compare(x[set.key].(int64), y[set.key].(int64)) })
		n, err := b.inPieces(ctx, set.first, set.rows)
		if err != nil {
			return err
		}
		if n != int64(len(set.rows)) {
			return errRefused
		}
	}
	b.sets.forget()
	return nil
}

// setStatement writes an UPDATE of n rows from a table of values that is part of
// the statement. It is read first and drives the join, whatever the optimizer
// thinks of its size.
type setStatement struct {
	table   string
	columns string // of the values
	match   string // of the row t and the value v
	set     string
}

func (s setStatement) text(n int) string {
	var first []string
	for column := range strings.SplitSeq(s.columns, ", ") {
		first = append(first, "? AS "+column)
	}
	next := " UNION ALL SELECT " + placeholders(len(first))
	return "UPDATE (SELECT " + strings.Join(first, ", ") + strings.Repeat(next, n-1) + ") AS v STRAIGHT_JOIN " + s.table + " AS t ON " + s.match + " SET " + s.set
}

// The columns are in the order of planArgs and moveArgs.
var (
	planSet = setStatement{
		table: "ax_task", columns: "next_at, prev_at, replaced, planned, plan_done, id, was",
		match: "t.id = v.id AND COALESCE(t.next_at, -1) = v.was AND t.deleted_at IS NULL",
		set: `t.next_at = v.next_at, t.prev_at = v.prev_at,
  t.planned = CASE WHEN v.replaced THEN v.planned ELSE t.planned END, t.plan_done = v.plan_done`,
	}
	moveSet = setStatement{
		table: "ax_instance", columns: movedColumns + ", id, scheduled_at, was, was_fence",
		match: "t.id = v.id AND t.scheduled_at = v.scheduled_at AND t.status = v.was AND t.fence = v.was_fence",
		set:   setFrom(movedColumns),
	}
)

// setFrom writes "t.a = v.a, …" for a list of columns.
func setFrom(columns string) string {
	var all []string
	for column := range strings.SplitSeq(columns, ", ") {
		all = append(all, "t."+column+" = v."+column)
	}
	return strings.Join(all, ", ")
}
