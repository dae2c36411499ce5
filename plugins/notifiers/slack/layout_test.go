package main

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/axsched/ax/pluginapi"
)

func section(text string) sentBlock {
	return sentBlock{Type: "section", Text: &sentText{"mrkdwn", text}}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	prose := section("Task sync of app shop failed 3 times.\nNewest error:")
	code := section("```\nboom &lt;!channel&gt; &amp; `\u200b``\n```")
	english := sentPost{
		Text:        "🔴 *sync &lt;eu&gt; &amp; us failed 3 times*",
		Attachments: []sentAttachment{{"#C62828", []sentBlock{prose, code}}},
	}
	fields := []sentText{
		{"mrkdwn", "*任务*\nsync"},
		{"mrkdwn", "*应用*\nshop"},
		{"mrkdwn", "*主机*\nhost-1"},
		{"mrkdwn", "*次数*\n3"},
		{"mrkdwn", "*时间*\n2026-03-01 17:00:00 CST – 2026-03-01 18:00:00 CST"},
		{"mrkdwn", "*运行*\n7"},
	}
	chinese := sentPost{
		Text:        "🔴 *sync 失败（共 3 次）*",
		Attachments: []sentAttachment{{"#C62828", []sentBlock{{Type: "section", Fields: fields}, prose, code}}},
	}
	s := &workspace{t: t}
	c := component(s, time.Now)
	for lang, want := range map[string]sentPost{"en": english, "zh": chinese} {
		n := newHook(t, c, map[string]any{"lang": lang, "webhook_url": hookTarget + lang})
		if err := n.Notify(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
		calls := s.all()
		if got := calls[len(calls)-1].post; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v\nwant %+v", lang, got, want)
		}
	}
}

// Row B93: texts that are too long are cut, in characters and not in bytes, and
// the message is sent.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"stack": strings.Repeat("at com.example.Sync(Sync.java:42)\n", 150), "Chinese": strings.Repeat("错", 5000),
		"emoji": strings.Repeat("🔥", 5000), "markup": strings.Repeat("<&>", 5000), "fences": strings.Repeat("`", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			msg := message()
			msg.Title, msg.Text, msg.LastError, msg.Task, msg.App = text, "Head. "+text+" End.", text, text, text
			s := &workspace{t: t}
			if err := newHook(t, component(s, time.Now), map[string]any{"lang": "zh"}).Notify(t.Context(), msg); err != nil {
				t.Fatal(err)
			}
			post := s.all()[0].post
			if !withinLimits(post) {
				t.Errorf("beyond Slack's limits: %+v", post)
			}
			blocks := post.Attachments[0].Blocks
			if prose := blocks[1].Text.Text; !strings.HasPrefix(prose, "Head. ") || !strings.HasSuffix(prose, "…") || len(utf16.Encode([]rune(prose))) < 2990 {
				t.Errorf("prose %q", prose)
			}
			if code := blocks[2].Text.Text; strings.Count(code, fence) != 2 || !strings.HasSuffix(code, "…\n```") {
				t.Errorf("code %q", code)
			}
		})
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"a&b", 7, "a&amp;b"},
		{"a&bc", 7, "a&amp;…"},
		{"a&b", 6, "a…"},
		{"🔥🔥", 4, "🔥🔥"},
		{"🔥🔥", 3, "🔥…"},
		{"🔥🔥", 2, "…"},
		{"日本\xff", 3, "日本\uFFFD"},
	}
	for _, tt := range tests {
		if got := fit(tt.text, tt.limit); got != tt.want {
			t.Errorf("fit(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}

// A message may be nothing but a title.
func TestBareMessage(t *testing.T) {
	t.Parallel()
	s := &workspace{t: t}
	if err := newHook(t, component(s, time.Now), nil).Notify(t.Context(), pluginapi.Message{Title: "hello"}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.all()[0].post, (sentPost{Text: "🔵 *hello*"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
