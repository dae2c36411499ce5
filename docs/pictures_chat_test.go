package docs_test

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

// receiver answers requests and hands them on.
func receiver(t *testing.T, answer func(n int) string) (serverURL string, bodies <-chan string) {
	t.Helper()
	got := make(chan string, 10)
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(body)
		n++
		fmt.Fprint(w, answer(n))
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// sendDingTalk returns the Markdown of a message to a group.
func sendDingTalk(t *testing.T, lang string, msg pluginapi.Message) string {
	t.Helper()
	robot, bodies := receiver(t, func(int) string { return `{"errcode":0,"errmsg":"ok"}` })
	notify(t, "dingtalk", map[string]any{"url": robot + "/robot/send?access_token=sample", "secret": "SECsample", "lang": lang, "at_all": true}, msg)
	var sent struct {
		Markdown struct{ Text string }
		At       struct{ IsAtAll bool }
	}
	if err := json.Unmarshal([]byte(<-bodies), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.At.IsAtAll { // which DingTalk shows at the end
		sent.Markdown.Text += "\n\n@all"
	}
	return sent.Markdown.Text
}

var escaped = regexp.MustCompile(`\\([\\*_\[\]<>#` + "`" + `])`)

// dingTalkPage shows the part of Markdown that DingTalk knows and the plugin
// uses: a title, lists, quotes, and lines that end with two spaces.
func dingTalkPage(t *testing.T, markdown string) string {
	t.Helper()
	var out strings.Builder
	for paragraph := range strings.SplitSeq(markdown, "\n\n") {
		text := html.EscapeString(escaped.ReplaceAllString(paragraph, "$1"))
		if title, ok := strings.CutPrefix(text, "### "); ok {
			fmt.Fprintf(&out, "<h3>%s</h3>\n", title)
		} else if list, ok := strings.CutPrefix(text, "- "); ok {
			fmt.Fprintf(&out, "<ul><li>%s</ul>\n", strings.ReplaceAll(list, "\n- ", "<li>"))
		} else if quote, ok := strings.CutPrefix(text, "&gt; "); ok {
			fmt.Fprintf(&out, "<blockquote>%s</blockquote>\n", strings.ReplaceAll(quote, "  \n&gt; ", "<br>"))
		} else {
			fmt.Fprintf(&out, "<p>%s</p>\n", strings.ReplaceAll(text, "  \n", "<br>"))
		}
	}
	return page(t, "dingtalk.html", raw(out.String()))
}

// slackPost is a message as Slack gets it.
type slackPost struct {
	Head    template.HTML
	Colour  string
	Blocks  []slackBlock
	Reply   bool
	Changed bool
}

type slackBlock struct {
	Text   template.HTML
	Fields []template.HTML
}

// sendSlack returns a thread as people see it in the end: the first message,
// which was changed, and the replies.
func sendSlack(t *testing.T, lang string, msgs []pluginapi.Message) []slackPost {
	t.Helper()
	api, bodies := receiver(t, func(n int) string { return fmt.Sprintf(`{"ok":true,"channel":"C1","ts":"1.%d"}`, n) })
	notify(t, "slack", map[string]any{"token": "xoxb-sample", "channel": "#ops", "api_url": api, "lang": lang}, msgs...)
	var posts []slackPost
	for range len(msgs) + 1 { // and the change of the first
		form, err := url.ParseQuery(<-bodies)
		if err != nil {
			t.Fatal(err)
		}
		post := readSlack(t, form)
		if form.Get("ts") == "" {
			posts = append(posts, post)
		} else {
			post.Changed = true
			posts[0] = post
		}
	}
	return posts
}

func readSlack(t *testing.T, form url.Values) slackPost {
	t.Helper()
	var attachments []struct {
		Color  string
		Blocks []struct {
			Text   struct{ Text string }
			Fields []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(form.Get("attachments")), &attachments); err != nil {
		t.Fatal(err)
	}
	post := slackPost{Head: slackMarkup(form.Get("text")), Reply: form.Get("thread_ts") != ""}
	for _, attachment := range attachments {
		post.Colour = attachment.Color
		for _, b := range attachment.Blocks {
			block := slackBlock{Text: slackMarkup(b.Text.Text)}
			for _, field := range b.Fields {
				block.Fields = append(block.Fields, slackMarkup(field.Text))
			}
			post.Blocks = append(post.Blocks, block)
		}
	}
	return post
}

var (
	slackBold   = regexp.MustCompile(`(?m)^(.{0,3})\*(.+)\*$`)
	slackStrike = regexp.MustCompile(`(?m)^~(.+)~$`)
)

// slackMarkup shows the part of Slack's markup that the plugin uses. The text is
// escaped as HTML is.
func slackMarkup(text string) template.HTML {
	if code, ok := strings.CutPrefix(text, "```\n"); ok {
		return raw("<pre>" + strings.TrimSuffix(code, "\n```") + "</pre>")
	}
	text = slackBold.ReplaceAllString(text, "$1<b>$2</b>")
	return raw(strings.ReplaceAll(slackStrike.ReplaceAllString(text, "<s>$1</s>"), "\n", "<br>"))
}

func slackPage(t *testing.T, posts []slackPost) string {
	t.Helper()
	return page(t, "slack.html", posts)
}
