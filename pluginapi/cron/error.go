package cron

import (
	"strconv"
	"strings"
)

// Error says why a text is no schedule. Every error of [Parse] is an *Error.
type Error struct {
	Expr    string // the whole text as it was given
	Field   string // "second" to "year", "zone", or "expression" for the text as a whole
	Text    string // the offending part of the field; may be empty
	Problem string // what is wrong with it
	Hint    string // how to put it right; may be empty
}

// Error joins the parts into one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("cron: ")
	b.WriteString(e.Field)
	if e.Text != "" && e.Text != e.Expr {
		b.WriteString(" " + strconv.Quote(e.Text))
	}
	b.WriteString(": " + e.Problem)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	b.WriteString(" (in " + strconv.Quote(e.Expr) + ")")
	return b.String()
}
