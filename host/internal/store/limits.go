package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of texts in bytes. What is longer is cut when it is written, so that
// one chatty job cannot fill the database.
const (
	MaxMessage = 1 << 10  // messages and reasons
	MaxError   = 16 << 10 // errors with their stacks
	MaxData    = 64 << 10 // result data, output of one event
)

// Cut returns s if it has at most limit bytes, else its beginning, ending
// between two runes, and a mark with the number of bytes left out; with the
// mark it has at most limit bytes. Bytes that are not UTF-8, and NUL, become
// U+FFFD, since databases and their tools choke on them.
func Cut(s string, limit int) string {
	s = clean(s)
	if len(s) <= limit {
		return s
	}
	// The mark grows with the number in it: reserve for the longest one.
	room := max(limit-len(cutMark(len(s))), 0)
	head := runePrefix(s, room)
	return head + cutMark(len(s)-len(head))
}

func cutMark(n int) string { return fmt.Sprintf("… [%d bytes cut]", n) }

func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// runePrefix returns the longest beginning of s with at most n bytes that does
// not split a rune.
func runePrefix(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutJSON is Cut for a JSON value, whose result must be JSON too: what is too
// long becomes {"cut_bytes":N,"head":"…"}, and text that is no JSON a string.
func cutJSON(j json.RawMessage, limit int) json.RawMessage {
	if !utf8.Valid(j) { // inside a string of valid JSON this keeps it valid
		j = bytes.ToValidUTF8(j, []byte("\uFFFD"))
	}
	if len(j) <= limit && (len(j) == 0 || json.Valid(j)) {
		return j
	}
	text := clean(string(j))
	if len(j) <= limit && len(text)*2+2 <= limit {
		quoted, _ := plainJSON(text) // a string always marshals
		return quoted
	}
	// Quoting can double the length, rarely more: halve until it fits.
	for room := limit - 64; ; room /= 2 {
		head := runePrefix(text, max(room, 0))
		out, _ := plainJSON(map[string]any{"cut_bytes": len(text) - len(head), "head": head}) // as does this
		if len(out) <= limit || room <= 0 {
			return out
		}
	}
}

// plainJSON marshals v and leaves < > & as they are, for people who read it.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
