package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// maxBody is what DingTalk takes, in bytes of JSON.
const maxBody = 20_000

// request is the body of a request; one of the kinds of content is set.
type request struct {
	Type       string      `json:"msgtype"`
	Text       *text       `json:"text,omitempty"`
	Markdown   *markdown   `json:"markdown,omitempty"`
	ActionCard *actionCard `json:"actionCard,omitempty"`
	At         *at         `json:"at,omitempty"`
}

type text struct {
	Content string `json:"content"`
}

type markdown struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type actionCard struct {
	markdown
	SingleTitle string `json:"singleTitle"`
	SingleURL   string `json:"singleURL"`
}

type at struct {
	Mobiles []string `json:"atMobiles,omitempty"`
	UserIDs []string `json:"atUserIds,omitempty"`
	All     bool     `json:"isAtAll"`
}

// layout makes bodies of messages.
type layout struct {
	*settings
	link *template.Template
}

// body encodes a message. If it is too long, the end of the details gives way;
// title, count and facts stay.
func (l *layout) body(msg pluginapi.Message) ([]byte, error) {
	n := notice.Of(msg, l.Lang)
	n.Title = notice.Mark(msg) + " " + n.Title
	if !strings.Contains(n.Title, l.Keyword) {
		n.Title += " " + l.Keyword
	}
	n, fits := n.Shrink(func(n notice.Notice) bool {
		raw, err := l.encode(msg, n)
		return err != nil || len(raw) <= maxBody
	})
	if !fits {
		return nil, errors.New("there are too many to mention in one message")
	}
	return l.encode(msg, n)
}

// encode writes a message as DingTalk wants it.
func (l *layout) encode(msg pluginapi.Message, n notice.Notice) ([]byte, error) {
	r := request{Type: l.Type}
	var mentioned string
	if l.Type != typeActionCard && l.mentions(msg) {
		r.At = &at{l.AtMobiles, l.AtUserIDs, l.AtAll}
		mentioned = r.At.names()
	}
	switch l.Type {
	case typeText:
		r.Text = &text{n.Plain(mentioned)}
	case typeActionCard:
		url, err := execute(l.link, msg)
		if err != nil {
			return nil, err
		}
		r.ActionCard = &actionCard{markdown{n.Title, markdownText(n, "")}, l.button(), url}
	default:
		r.Markdown = &markdown{n.Title, markdownText(n, mentioned)}
	}
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false) // each escaped < would cost six bytes
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("encode the message: %w", err)
	}
	return bytes.TrimSpace(raw.Bytes()), nil
}

func (l *layout) button() string {
	if l.Lang == notice.Chinese {
		return "查看"
	}
	return "Open"
}

// names is what a text must hold for the mentions of at to show.
func (a *at) names() string {
	var names []string
	for _, name := range append(append([]string{}, a.Mobiles...), a.UserIDs...) {
		names = append(names, "@"+name)
	}
	return strings.Join(names, " ")
}

// markdownText uses what DingTalk knows of Markdown: it has no blocks of code,
// and a line ends with two spaces.
func markdownText(n notice.Notice, mentioned string) string {
	var facts []string
	for _, fact := range n.Facts {
		facts = append(facts, "- "+fact.Name+": "+escape(fact.Value))
	}
	const newline = "  \n"
	prose := strings.ReplaceAll(escape(n.Prose), "\n", newline)
	quote := ""
	if n.Error != "" {
		quote = "> " + strings.ReplaceAll(escape(n.Error), "\n", newline+"> ")
	}
	return notice.Join([]string{"### " + escape(n.Title), mentioned, strings.Join(facts, "\n"), prose, quote}, "\n\n")
}

var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`)

// escape makes Markdown show a text as it is: an error must neither load
// images nor make links.
func escape(text string) string { return escaper.Replace(text) }

// execute makes a link; it must be one that can be opened.
func execute(link *template.Template, msg pluginapi.Message) (string, error) {
	var out strings.Builder
	if err := link.Execute(&out, msg); err != nil {
		return "", err
	}
	if _, err := webcall.ParseURL(out.String()); err != nil {
		return "", fmt.Errorf("link: %w", err)
	}
	return out.String(), nil
}
