package store

import "strings"

// where gathers the conditions of a SELECT.
type where struct {
	text string
	args []any
}

// add adds a condition with its arguments.
func (w *where) add(condition string, args ...any) {
	if w.text == "" {
		w.text = " WHERE " + condition
	} else {
		w.text += " AND " + condition
	}
	w.args = append(w.args, args...)
}

// in adds "column IN (…)"; an empty list adds nothing.
func in[T ~string](w *where, column string, values []T) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = string(v)
	}
	w.add(column+" IN ("+placeholders(len(args))+")", args...)
}

// placeholders returns "?, ?, …" n times.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// limit returns n, or the default for 0 and less.
func limit(n, whenZero int) int {
	if n <= 0 {
		return whenZero
	}
	return n
}
