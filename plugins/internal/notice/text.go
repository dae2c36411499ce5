package notice

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/axsched/ax/pluginapi"
)

const cutMark = "…"

// Cut returns text if it has at most limit runes, else its beginning with a
// mark, limit runes together. A limit below 1 leaves nothing.
func Cut(text string, limit int) string {
	runes := []rune(text)
	switch {
	case len(runes) <= limit:
		return text
	case limit < 1:
		return ""
	}
	return string(runes[:limit-1]) + cutMark
}

// OneLine makes text a single line without control characters and with at most
// limit runes, so that it cannot begin a header or a paragraph of its own.
func OneLine(text string, limit int) string {
	isSpace := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return Cut(strings.Join(strings.FieldsFunc(text, isSpace), " "), limit)
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
