package alert

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxDigest bounds the digest of an error, in bytes.
	maxDigest = 3000
	// headLines and tailLines are what is shown of a long error: most languages
	// put the cause first, some last.
	headLines = 10
	tailLines = 3
)

// digest returns the part of an error or a stack that people want to see: its
// first and last lines, without control characters.
func digest(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c // bytes that are no UTF-8 come as U+FFFD
	}, text)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	note := -1
	if left := len(lines) - headLines - tailLines; left > 1 {
		note = headLines
		lines = append(append(lines[:headLines:headLines], fmt.Sprintf("… %d lines left out …", left)), lines[len(lines)-tailLines:]...)
	}
	for i := range lines {
		if i != note {
			lines[i] = cut(strings.TrimRight(lines[i], " \t"), maxDigest/len(lines)-1)
		}
	}
	return strings.Join(lines, "\n")
}

const cutMark = "…"

// cut returns s if it has at most limit bytes, else its beginning up to a border
// between two runes, and a mark; with it there are at most limit bytes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit - len(cutMark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cutMark
}
