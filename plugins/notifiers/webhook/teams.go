package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// maxTeams bounds the body, in bytes. Teams names 28 KB as its limit, but counts
// what it makes of the body.
const maxTeams = 20_000

// teams is a workflow of Microsoft Teams that posts what a webhook gets.
type teams struct{ lang string }

// teamsMessage is the body of a request.
type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	Type    string       `json:"contentType"`
	Content adaptiveCard `json:"content"`
}

// adaptiveCard is one in the format of https://adaptivecards.io, version 1.4.
type adaptiveCard struct {
	Schema   string            `json:"$schema"`
	Type     string            `json:"type"`
	Version  string            `json:"version"`
	Fallback string            `json:"fallbackText"`
	Width    map[string]string `json:"msteams"`
	Body     []any             `json:"body"`
}

type textBlock struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Wrap   bool   `json:"wrap"`
	Size   string `json:"size,omitempty"`
	Weight string `json:"weight,omitempty"`
	Colour string `json:"color,omitempty"`
	Font   string `json:"fontType,omitempty"`
}

type factSet struct {
	Type  string      `json:"type"`
	Facts []teamsFact `json:"facts"`
}

type teamsFact struct {
	Title string `json:"title"`
	Value string `json:"value"`
}

func (t teams) body(msg pluginapi.Message) ([]byte, error) {
	return encodeWithin(maxTeams, marked(msg, t.lang), func(n notice.Notice) any {
		return teamsMessage{"message", []teamsAttachment{{"application/vnd.microsoft.card.adaptive", newAdaptiveCard(msg, n)}}}
	})
}

func newAdaptiveCard(msg pluginapi.Message, n notice.Notice) adaptiveCard {
	body := []any{textBlock{
		Type: "TextBlock", Text: escapeCard(n.Title), Wrap: true, Size: "Medium", Weight: "Bolder", Colour: cardColour(msg),
	}}
	if len(n.Facts) > 0 {
		set := factSet{Type: "FactSet"}
		for _, fact := range n.Facts {
			set.Facts = append(set.Facts, teamsFact{fact.Name, escapeCard(fact.Value)})
		}
		body = append(body, set)
	}
	if n.Prose != "" {
		body = append(body, textBlock{Type: "TextBlock", Text: escapeCard(n.Prose), Wrap: true})
	}
	if n.Error != "" {
		body = append(body, textBlock{Type: "TextBlock", Text: escapeCard(n.Error), Wrap: true, Font: "Monospace"})
	}
	return adaptiveCard{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4",
		Fallback: n.Title, Width: map[string]string{"width": "Full"}, Body: body,
	}
}

// cardColour is a word for a severity; the client chooses the colour.
func cardColour(msg pluginapi.Message) string {
	switch {
	case notice.Recovered(msg):
		return "Good"
	case notice.IsError(msg):
		return "Attention"
	case msg.Severity == "warning":
		return "Warning"
	}
	return "Accent"
}

var cardEscaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"\r\n", "\n\n", "\n", "\n\n", // a line is a paragraph
)

// escapeCard keeps a text from being Markdown: an error must make no links.
func escapeCard(text string) string { return cardEscaper.Replace(text) }

// hiddenStatus matches what the connectors that came before workflows answer
// with status 200.
var hiddenStatus = regexp.MustCompile(`returned HTTP error ([45]\d\d)\b`)

func (teams) judge(answer *webcall.Answer) error {
	found := hiddenStatus.FindStringSubmatch(answer.Text)
	if !answer.Good() || found == nil {
		return nil
	}
	code, _ := strconv.Atoi(found[1]) // three digits always are a number
	r := &webcall.RefusalError{Key: "HTTP error", Code: code, Text: notice.FirstLine(answer.Text, maxQuote)}
	switch {
	case code == 429:
		r.Blocked = time.Minute
	case code == 413:
		r.Trouble = webcall.Trouble{Cure: "the message is too long", Permanent: true}
	case code < 500:
		r.Trouble = webcall.Trouble{Cure: unknownHook, Permanent: true}
	}
	return r
}
