package main

import (
	"strings"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
)

// Limits of Slack's texts, in characters. Slack counts what it gets, escapes
// included; we count as JavaScript does, where an emoji makes two.
const (
	maxSection = 3000
	maxField   = 2000
	// maxHead is our own: the head is for a glance at the phone, whereas Slack
	// takes 40,000.
	maxHead = 1000
)

// fence stands around a block of code.
const fence = "```"

// post is a message as Slack wants it: a head, which phones show, and details
// beside a bar of colour.
type post struct {
	head    string
	details []slack.Attachment // one, or none if the head says it all
}

// newPost lays a message out.
func newPost(msg pluginapi.Message, lang string) post {
	n := notice.Of(msg, lang)
	return post{
		head:    notice.Mark(msg) + " *" + fit(n.Title, maxHead) + "*",
		details: details(n, notice.Colour(msg)),
	}
}

// solved is the first message of a thread once its task has recovered.
func solved(first notice.Notice, recovery pluginapi.Message, lang string) post {
	return post{
		head:    newPost(recovery, lang).head + "\n~" + fit(first.Title, maxHead) + "~",
		details: details(first, notice.Colour(recovery)),
	}
}

func details(n notice.Notice, colour string) []slack.Attachment {
	blocks := blocksOf(n)
	if len(blocks) == 0 {
		return nil
	}
	return []slack.Attachment{{Color: colour, Blocks: slack.Blocks{BlockSet: blocks}}}
}

func blocksOf(n notice.Notice) []slack.Block {
	var blocks []slack.Block
	var fields []*slack.TextBlockObject
	for _, fact := range n.Facts { // fewer than the ten that Slack takes; the name needs room as well
		fields = append(fields, marked("*"+fact.Name+"*\n"+fit(fact.Value, maxField/2)))
	}
	if len(fields) > 0 {
		blocks = append(blocks, slack.NewSectionBlock(nil, fields, nil))
	}
	if n.Prose != "" {
		blocks = append(blocks, slack.NewSectionBlock(marked(fit(n.Prose, maxSection)), nil, nil))
	}
	if n.Error != "" {
		const begin, end = fence + "\n", "\n" + fence
		code := fit(strings.ReplaceAll(n.Error, "``", "`\u200b`"), maxSection-len(begin+end)) // looks the same
		blocks = append(blocks, slack.NewSectionBlock(marked(begin+code+end), nil, nil))
	}
	return blocks
}

// marked is text in Slack's markup, in which names and URLs become no links.
func marked(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.MarkdownType, text, false, true)
}

// fit escapes a text and cuts it to limit characters with a mark, never within
// an escape or between the halves of a character.
func fit(text string, limit int) string {
	return escaper.Replace(notice.Fit(strings.ToValidUTF8(text, "\uFFFD"), limit, size))
}

// escaper keeps a text from being markup, such as <!channel>.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// size is what Slack counts for a character of a text that is to be escaped.
func size(r rune) int {
	if strings.ContainsRune("&<>", r) {
		return len(escaper.Replace(string(r)))
	}
	return utf16.RuneLen(r)
}
