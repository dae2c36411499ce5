package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/axsched/ax/pluginapi"
)

const cutMark = "…"

// Fit returns text if its runes take at most limit together, else its beginning
// with a mark, limit together. size tells what a rune takes. A limit that is too
// small for the mark leaves nothing.
func Fit(text string, limit int, size func(rune) int) string {
	mark := size([]rune(cutMark)[0])
	taken, end := 0, 0 // end is how far a text goes that has room for the mark
	for i, r := range text {
		if taken+mark <= limit {
			end = i
		}
		if taken += size(r); taken > limit {
			if mark > limit {
				return ""
			}
			return text[:end] + cutMark
		}
	}
	return text
}

// Cut is [Fit] for a limit in runes.
func Cut(text string, limit int) string {
	return Fit(text, limit, func(rune) int { return 1 })
}

// CutBytes is [Fit] for a limit in bytes of UTF-8.
func CutBytes(text string, limit int) string {
	return Fit(tidy(text), limit, utf8.RuneLen)
}

// FirstLine returns the first line of text with something in it, cut to limit
// runes.
func FirstLine(text string, limit int) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return Cut(line, limit)
		}
	}
	return ""
}

// Join puts the parts together that are not empty.
func Join(parts []string, separator string) string {
	there := slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part == "" })
	return strings.Join(there, separator)
}

// OneLine makes text a single line without control characters and with at most
// limit runes, so that it cannot begin a header or a paragraph of its own.
func OneLine(text string, limit int) string {
	isSpace := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return Cut(strings.Join(strings.FieldsFunc(tidy(text), isSpace), " "), limit)
}

// In moves an instant to a zone by its IANA name. An unknown one means UTC,
// since a message must get through.
func In(zone string, at time.Time) time.Time {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return at.UTC()
	}
	return at.In(location)
}

// Sample is a message whose texts hold whatever makes templates stumble, for
// trying them out before there is trouble to report.
func Sample() pluginapi.Message {
	text := func(name string) string { return fmt.Sprintf("%s with \"quotes\", \\, a tab\t and\nlines", name) }
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	return pluginapi.Message{
		ID: "0", App: "app", Node: "node", Task: text("task"), Event: "test", Severity: "info",
		Title: text("title"), Text: text("text"), Count: 2, First: at, Last: at,
		LastError: text("error"), InstanceID: "0", Zone: "Asia/Shanghai",
	}
}
