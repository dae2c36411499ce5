package cli

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// cells returns how many columns of a terminal a rune takes.
func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x1100: // all before Hangul Jamo is narrow
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// textWidth returns how many columns a text takes.
func textWidth(text string) int {
	n := 0
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// fit cuts a text to a number of columns, with an ellipsis if it is longer.
func fit(text string, limit int) string {
	if textWidth(text) <= limit {
		return text
	}
	n := 0
	for i, r := range text {
		if n += cells(r); n > limit-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// cut makes a text fit on a terminal; in pipes and files nothing is cut.
func (p *program) cut(text string, limit int) string {
	if !p.Narrow {
		return text
	}
	return fit(text, limit)
}

// oneLine returns the first line of a text, fit for a table.
func oneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return printable(line)
}

// printable takes out what could control the terminal: names, messages and
// output come from elsewhere.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}
