// Package notice is what notifiers share: a message in parts for people, texts
// within limits, and the pace that a receiver allows.
package notice

import (
	"sort"
	"strings"

	"github.com/axsched/ax/pluginapi"
)

// Languages of messages.
const (
	English = "en"
	Chinese = "zh"
)

const (
	maxTitle = 200 // runes
	maxFact  = 200 // runes
)

// Notice is a message in parts, so that each notifier can lay it out its way.
type Notice struct {
	// Title is one line without control characters.
	Title string
	// Facts say in other languages what Prose says in English.
	Facts []Fact
	// Prose is what the host wrote, without the error at its end.
	Prose string
	// Error is the newest error, perhaps of several lines.
	Error string
}

// Fact is a name and a value, each one line.
type Fact struct{ Name, Value string }

// Of takes a message apart. lang is English or Chinese.
func Of(msg pluginapi.Message, lang string) Notice {
	n := Notice{Title: OneLine(msg.Title, maxTitle), Error: tidy(msg.LastError), Prose: tidy(msg.Text)}
	if prose, found := strings.CutSuffix(n.Prose, n.Error); found {
		n.Prose = strings.TrimSpace(prose)
	}
	if lang == Chinese && !inChinese(msg) {
		n.Title, n.Facts = chineseTitle(msg), chineseFacts(msg)
	}
	return n
}

// Shrink cuts the end of the details until fits says yes: first of the error,
// then of the prose. Title and facts stay; ok is false if they alone are too
// much. fits must not say yes to the longer of two texts and no to the shorter.
func (n Notice) Shrink(fits func(Notice) bool) (shrunk Notice, ok bool) {
	if fits(n) {
		return n, true
	}
	prose, all := len([]rune(n.Prose)), len([]rune(n.Prose))+len([]rune(n.Error))
	keep := func(runes int) Notice {
		kept := n
		if runes < prose {
			kept.Prose, kept.Error = Cut(n.Prose, runes), ""
		} else {
			kept.Error = Cut(n.Error, runes-prose)
		}
		return kept
	}
	tooMuch := sort.Search(all, func(runes int) bool { return !fits(keep(runes)) })
	if tooMuch == 0 {
		return n, false
	}
	return keep(tooMuch - 1), true
}

// tidy makes a text valid UTF-8, so that its length is that of what is sent.
func tidy(text string) string { return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")) }

// Plain writes a notice as lines of text; below is what stands below the title,
// or empty.
func (n Notice) Plain(below string) string {
	parts := []string{n.Title, below}
	for _, fact := range n.Facts {
		parts = append(parts, fact.Name+": "+fact.Value)
	}
	return Join(append(parts, n.Prose, n.Error), "\n")
}

// Recovered reports whether a message is good news.
func Recovered(msg pluginapi.Message) bool { return msg.Event == "recovered" }

// IsError reports whether a message is about something that went wrong for good.
func IsError(msg pluginapi.Message) bool { return msg.Severity == "error" }

// Mark is a sign for the severity of a message.
func Mark(msg pluginapi.Message) string {
	switch {
	case Recovered(msg):
		return "🟢"
	case IsError(msg):
		return "🔴"
	case msg.Severity == "warning":
		return "🟠"
	}
	return "🔵"
}

// Colour is the colour of Mark, as #RRGGBB.
func Colour(msg pluginapi.Message) string {
	switch {
	case Recovered(msg):
		return "#2E7D32"
	case IsError(msg):
		return "#C62828"
	case msg.Severity == "warning":
		return "#E65100"
	}
	return "#1565C0"
}
