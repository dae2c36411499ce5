package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// column is the head of a candidate's column.
func column(c candidate) string {
	if c.name == "ax" {
		return c.name
	}
	return c.name + " " + c.version
}

// writeTable writes rows as Markdown; the first one is the head.
func writeTable(w io.Writer, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|---|%s\n", strings.Repeat("--:|", len(row)-1))
		}
	}
	fmt.Fprintln(w)
}

func writeMachine(w io.Writer, rounds int) {
	fmt.Fprintf(w, "%s, %s/%s, %d CPUs, %d rounds.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds)
}

// times gathers the table of times with its notes.
type times struct {
	rows  [][]string
	notes []string
}

func newTimes(all []candidate) *times {
	head := []string{"kind of expression"}
	for _, c := range all {
		head = append(head, column(c))
	}
	return &times{rows: [][]string{append(head, "best peer ÷ ax")}}
}

// add adds the row of a kind.
func (t *times) add(k kind, all []candidate, entries []*entry) {
	row := []string{fmt.Sprintf("%s `%s`", k.name, k.expr)}
	best := 0.0
	for i, e := range entries {
		row = append(row, t.cell(k, all[i], e))
		if i == 0 || len(e.samples) == 0 {
			continue
		}
		if ns := e.median().ns; best == 0 || ns < best {
			best = ns
		}
	}
	ratio := "–"
	if best > 0 {
		ratio = fmt.Sprintf("%.1f", best/entries[0].median().ns)
	}
	t.rows = append(t.rows, append(row, ratio))
}

func (t *times) cell(k kind, c candidate, e *entry) string {
	switch e.verdict {
	case refused:
		return "–"
	case wrong:
		return t.note("wrong", k, c, e.note)
	case otherRule:
		return t.note(cost(e.median()), k, c, "leaves out the day on which the clock skips the time")
	default:
		return cost(e.median())
	}
}

// note marks a cell with the number of a note.
func (t *times) note(cell string, k kind, c candidate, text string) string {
	t.notes = append(t.notes, fmt.Sprintf("%s, %s: %s.", c.name, k.name, text))
	return fmt.Sprintf("%s (%d)", cell, len(t.notes))
}

// cost writes the time of a call and its allocations.
func cost(s sample) string {
	return fmt.Sprintf("%s, %.0f", span(s.ns), s.allocs)
}

func span(ns float64) string {
	switch {
	case ns < 1000:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.1f ms", ns/1e6)
	}
}

func (t *times) write(w io.Writer) {
	writeTable(w, t.rows)
	for i, note := range t.notes {
		fmt.Fprintf(w, "%d. %s\n", i+1, note)
	}
	if len(t.notes) > 0 {
		fmt.Fprintln(w)
	}
}

// writeScores writes how the candidates answer a set of vectors.
func writeScores(w io.Writer, all []candidate, scores []score) {
	rows := [][]string{{"library", "right", "right by another rule", "not read", "wrong"}}
	for i, c := range all {
		s := scores[i]
		rows = append(rows, []string{
			column(c), fmt.Sprint(s[right]), fmt.Sprint(s[otherRule]), fmt.Sprint(s[refused]), fmt.Sprint(s[wrong]),
		})
	}
	writeTable(w, rows)
}
