package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/axsched/ax/pluginapi"
)

func TestKindsOfMessage(t *testing.T) {
	t.Parallel()
	mention := map[string]any{"at_mobiles": []string{"13800000001"}, "at_user_ids": []string{"zhang"}, "at_all": true}
	with := func(key string, value any) map[string]any {
		settings := map[string]any{key: value}
		maps.Copy(settings, mention)
		return settings
	}
	everybody := &at{Mobiles: []string{"13800000001"}, UserIDs: []string{"zhang"}, All: true}
	tests := map[string]struct {
		settings map[string]any
		want     request
	}{
		"markdown": {nil, request{Type: "markdown", At: &at{}, Markdown: &markdown{
			"🔴 sync_eu failed 3 times",
			"### 🔴 sync\\_eu failed 3 times\n\nTask sync\\_eu of app shop failed 3 times.  \nNewest error:\n\n> boom !\\[x\\](http://x)  \n> \\# line 2",
		}}},
		"mentions": {with("type", "markdown"), request{Type: "markdown", At: everybody, Markdown: &markdown{
			"🔴 sync_eu failed 3 times",
			"### 🔴 sync\\_eu failed 3 times\n\n@13800000001 @zhang\n\nTask sync\\_eu of app shop failed 3 times.  \nNewest error:\n\n> boom !\\[x\\](http://x)  \n> \\# line 2",
		}}},
		"text": {with("type", "text"), request{Type: "text", At: everybody, Text: &text{
			"🔴 sync_eu failed 3 times\n@13800000001 @zhang\nTask sync_eu of app shop failed 3 times.\nNewest error:\nboom ![x](http://x)\n# line 2",
		}}},
		"Chinese": {map[string]any{"type": "text", "lang": "zh"}, request{Type: "text", At: &at{}, Text: &text{
			"🔴 sync_eu 失败（共 3 次）\n任务: sync_eu\n应用: shop\n主机: host-1\n次数: 3\n时间: 2026-03-01 17:00:00 CST – 2026-03-01 18:00:00 CST\n运行: 7\n" +
				"Task sync_eu of app shop failed 3 times.\nNewest error:\nboom ![x](http://x)\n# line 2",
		}}},
		"card": {map[string]any{"type": "actionCard", "lang": "zh", "link": "https://ax.example/runs/{{.InstanceID}}?task={{.Task | urlquery}}"}, request{Type: "actionCard", ActionCard: &actionCard{
			markdown{
				"🔴 sync_eu 失败（共 3 次）",
				"### 🔴 sync\\_eu 失败（共 3 次）\n\n- 任务: sync\\_eu\n- 应用: shop\n- 主机: host-1\n- 次数: 3\n- 时间: 2026-03-01 17:00:00 CST – 2026-03-01 18:00:00 CST\n- 运行: 7\n\n" +
					"Task sync\\_eu of app shop failed 3 times.  \nNewest error:\n\n> boom !\\[x\\](http://x)  \n> \\# line 2",
			},
			"查看", "https://ax.example/runs/7?task=sync_eu",
		}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := new(robot)
			if err := newNotifier(t, r.start(t), tt.settings).Notify(t.Context(), message()); err != nil {
				t.Fatal(err)
			}
			if got, body := r.last(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %s\nwant %+v", body, tt.want)
			}
		})
	}
}

// Everybody is called by errors, not by good news, unless that is asked for.
func TestMentionsBySeverity(t *testing.T) {
	t.Parallel()
	good := message()
	good.Event, good.Severity = "recovered", "info"
	r := new(robot)
	url := r.start(t)
	for _, tt := range []struct {
		on   string
		msg  pluginapi.Message
		want *at
	}{
		{"error", message(), &at{All: true}},
		{"error", good, nil},
		{"always", good, &at{All: true}},
	} {
		if err := newNotifier(t, url, map[string]any{"at_all": true, "at_on": tt.on}).Notify(t.Context(), tt.msg); err != nil {
			t.Fatal(err)
		}
		if got, body := r.last(); !reflect.DeepEqual(got.At, tt.want) {
			t.Errorf("%s: %s", tt.on, body)
		}
	}
}

// Row B90: whatever is long is cut between two runes, and the head stays.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	long := map[string]pluginapi.Message{}
	for name, text := range map[string]string{
		"Chinese": strings.Repeat("数据库连接失败。", 30_000/8), "emoji": strings.Repeat("🔥", 30_000),
		"escapes": strings.Repeat("\"<*_`\\\x01\n", 30_000/8), "broken": strings.Repeat("a\xff", 30_000),
	} {
		inError, inText := message(), message()
		inError.LastError = text
		inText.Text, inText.LastError = "Task sync_eu failed.\n"+text, ""
		long[name+" error"], long[name+" text"] = inError, inText
	}
	everything := message()
	everything.Task, everything.Title = strings.Repeat("名", 30_000), strings.Repeat("t", 30_000)
	everything.LastError = strings.Repeat("错", 30_000)
	long["everything"] = everything
	for name, msg := range long {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []string{"text", "markdown", "actionCard"} {
				r := new(robot)
				n := newNotifier(t, r.start(t), map[string]any{"type": kind, "lang": "zh", "link": "https://ax.example/"})
				if err := n.Notify(t.Context(), msg); err != nil {
					t.Fatal(err)
				}
				_, body := r.last()
				if len(body) > maxBody || len(body) < maxBody-50 {
					t.Errorf("%s: %d bytes", kind, len(body))
				}
				if !utf8.ValidString(body) || !json.Valid([]byte(body)) || !strings.Contains(body, "…") {
					t.Errorf("%s: body %s", kind, body)
				}
				if !strings.Contains(body, "次数: 3") || !strings.Contains(body, "共 3 次") || !strings.Contains(body, "Task sync") {
					t.Errorf("%s: the head is not there: %s", kind, body)
				}
			}
		})
	}
}

func TestTooManyToMention(t *testing.T) {
	t.Parallel()
	many := make([]string, 2000)
	for i := range many {
		many[i] = "13800000001"
	}
	err := newNotifier(t, new(robot).start(t), map[string]any{"at_mobiles": many}).Notify(t.Context(), message())
	if !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "too many to mention") {
		t.Errorf("error %v", err)
	}
}

func TestKeyword(t *testing.T) {
	t.Parallel()
	r := &robot{keyword: "告警"}
	url := r.start(t)
	if err := newNotifier(t, url, map[string]any{"keyword": "告警"}).Notify(t.Context(), message()); err != nil {
		t.Error(err)
	}
	msg := message()
	msg.Title = "告警 " + msg.Title
	if err := newNotifier(t, url, map[string]any{"keyword": "告警"}).Notify(t.Context(), msg); err != nil {
		t.Error(err)
	}
	if got, _ := r.last(); got.Markdown.Title != "🔴 告警 sync_eu failed 3 times" {
		t.Errorf("title %q", got.Markdown.Title)
	}
	err := newNotifier(t, url, nil).Notify(t.Context(), message())
	if !pluginapi.IsPermanent(err) || !strings.HasSuffix(err.Error(), "errcode 310000: keywords not in content (set keyword to one of the words in the robot's security setting)") {
		t.Errorf("error %v", err)
	}
}
