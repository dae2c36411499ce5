package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// batch are rows of a table as they come.
type batch struct {
	columns []string
	rows    [][]any
	last    int64 // the key of the last one
	end     bool  // none follows
}

// read returns the rows after a key, as many as go into one transaction.
func (t *transfer) read(ctx context.Context, table moved, after int64) (batch, error) {
	text, args := "SELECT * FROM "+table.name, []any(nil)
	if table.key != "" {
		text, args = text+" WHERE "+table.key+" > ? ORDER BY "+table.key+" LIMIT ?", []any{after, transferRows}
	}
	rows, err := t.from.query(ctx, text, args...)
	if err != nil {
		return batch{}, t.from.wrap("read", err)
	}
	defer rows.Close()
	b := batch{last: after}
	if b.columns, err = rows.Columns(); err != nil {
		return b, t.from.wrap("read", err)
	}
	size := 0
	for rows.Next() {
		row, bytes, err := scanRow(rows, len(b.columns))
		if err != nil {
			return b, t.from.wrap("read", err)
		}
		if size += bytes; size > transferBytes && len(b.rows) > 0 && table.key != "" {
			return b, nil
		}
		if table.key != "" {
			if b.last, err = keyOf(b.columns, row, table.key); err != nil {
				return b, err
			}
		}
		b.rows = append(b.rows, row)
	}
	b.end = len(b.rows) < transferRows || table.key == ""
	return b, t.from.wrap("read", rows.Err())
}

// scanRow reads a row, with its texts as strings, and tells how long they are.
func scanRow(rows *sql.Rows, columns int) (row []any, bytes int, err error) {
	row = make([]any, columns)
	to := make([]any, columns)
	for i := range row {
		to[i] = &row[i]
	}
	if err := rows.Scan(to...); err != nil {
		return nil, 0, err
	}
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			row[i] = clean(string(v))
			bytes += len(v)
		case string:
			row[i] = clean(v)
			bytes += len(v)
		}
	}
	return row, bytes, nil
}

func keyOf(columns []string, row []any, key string) (int64, error) {
	for i, name := range columns {
		if id, ok := row[i].(int64); ok && name == key {
			return id, nil
		}
	}
	return 0, fmt.Errorf("a row has no %s", key)
}

// perInsert bounds the parameters of a statement: SQLite takes 32,766.
const perInsert = 30_000

func (b batch) insert(ctx context.Context, to *Store, tx *sql.Tx, table string) error {
	each := perInsert / len(b.columns)
	for begin := 0; begin < len(b.rows); begin += each {
		some := b.rows[begin:min(begin+each, len(b.rows))]
		args := make([]any, 0, len(some)*len(b.columns))
		for _, row := range some {
			args = append(args, row...)
		}
		values := strings.TrimSuffix(strings.Repeat("("+placeholders(len(b.columns))+"), ", len(some)), ", ")
		text := "INSERT INTO " + table + " (" + strings.Join(b.columns, ", ") + ") VALUES " + values
		if _, err := tx.ExecContext(ctx, to.sql(text), args...); err != nil {
			return err
		}
	}
	return nil
}
