package notice

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

func message() pluginapi.Message {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	return pluginapi.Message{
		ID: "7", App: "shop", Node: "host-1", Task: "sync", Event: "failed", Severity: "error",
		Title: "sync failed 3 times", Text: "Task sync of app shop failed 3 times.\nNewest error:\nboom\nat line 7",
		Count: 3, First: at.Add(-time.Hour), Last: at, LastError: "boom\nat line 7", InstanceID: "42", Zone: "Asia/Shanghai",
	}
}

func TestEnglish(t *testing.T) {
	t.Parallel()
	want := Notice{
		Title: "sync failed 3 times",
		Prose: "Task sync of app shop failed 3 times.\nNewest error:",
		Error: "boom\nat line 7",
	}
	if got := Of(message(), English); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestChinese(t *testing.T) {
	t.Parallel()
	want := Notice{
		Title: "sync 失败（共 3 次）",
		Facts: []Fact{
			{"任务", "sync"},
			{"应用", "shop"},
			{"主机", "host-1"},
			{"次数", "3"},
			{"时间", "2026-03-01 17:00:00 CST – 2026-03-01 18:00:00 CST"},
			{"运行", "42"},
		},
		Prose: "Task sync of app shop failed 3 times.\nNewest error:",
		Error: "boom\nat line 7",
	}
	if got := Of(message(), Chinese); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*pluginapi.Message)
		en, zh string
	}{
		"injection": {func(m *pluginapi.Message) {
			m.Task, m.Title, m.Count = "x\r\nBcc: a@b", "x\r\nBcc: a@b failed", 1
		}, "x Bcc: a@b failed", "x Bcc: a@b 失败"},
		"test":       {func(m *pluginapi.Message) { m.Event, m.Title = "test", "A test" }, "A test", "测试消息"},
		"new event":  {func(m *pluginapi.Message) { m.Event, m.Title = "exploded", "it exploded" }, "it exploded", "it exploded"},
		"many tasks": {func(m *pluginapi.Message) { m.Task, m.Title = "", "20 tasks failed" }, "20 tasks failed", "20 tasks failed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			msg := message()
			tt.change(&msg)
			if en, zh := Of(msg, English).Title, Of(msg, Chinese).Title; en != tt.en || zh != tt.zh {
				t.Errorf("got %q and %q, want %q and %q", en, zh, tt.en, tt.zh)
			}
		})
	}
}

// A text that does not end with the error keeps all of its words.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, lastError := range []string{"", "other"} {
		msg := message()
		msg.LastError = lastError
		if got := Of(msg, English); got.Prose != msg.Text || got.Error != lastError {
			t.Errorf("got %+v", got)
		}
	}
}

func TestFactsWithoutTimes(t *testing.T) {
	t.Parallel()
	msg := pluginapi.Message{Task: "a\nb", Count: 1}
	if got, want := Of(msg, Chinese).Facts, []Fact{{"任务", "a b"}, {"次数", "1"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	msg.First, msg.Zone = message().First, "No/Where"
	if got := Of(msg, Chinese).Facts[2].Value; got != "2026-03-01 09:00:00 UTC" {
		t.Errorf("time %q", got)
	}
}

func TestMarksAndColours(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, msg := range []pluginapi.Message{
		{Event: "failed", Severity: "error"}, {Event: "missed", Severity: "warning"},
		{Event: "recovered", Severity: "info"}, {Event: "test", Severity: "info"},
	} {
		seen[Mark(msg)+Colour(msg)] = true
	}
	if len(seen) != 4 {
		t.Errorf("marks and colours %v", seen)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"日本語", 3, "日本語"},
		{"日本語日", 3, "日本…"},
		{"日本", 1, "…"},
		{"日本", 0, ""},
		{"", 0, ""},
	}
	for _, tt := range tests {
		if got := Cut(tt.text, tt.limit); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                     "",
		" a\r\n\tb\x00\x1b c ": "a b c",
		"a\u2028b\u0085c":      "a b c",
		"\r\n":                 "",
	}
	for text, want := range tests {
		if got := OneLine(text, 100); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := OneLine(strings.Repeat("好", 300), 200); len([]rune(got)) != 200 {
		t.Errorf("%d runes", len([]rune(got)))
	}
}
