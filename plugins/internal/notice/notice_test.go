package notice

import (
	"reflect"
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

// What the host has written in Chinese needs no translation, whatever the
// language of the settings; a name alone does not make a text Chinese.
func TestChineseOfTheHost(t *testing.T) {
	t.Parallel()
	msg := message()
	msg.Title, msg.Text = "任务 sync 失败 3 次", "应用 shop 的任务 sync 失败 3 次。\n最近的错误：\nboom\nat line 7"
	want := Notice{Title: msg.Title, Prose: "应用 shop 的任务 sync 失败 3 次。\n最近的错误：", Error: "boom\nat line 7"}
	for _, lang := range []string{English, Chinese} {
		if got := Of(msg, lang); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", lang, got, want)
		}
	}
	msg = message()
	msg.Task, msg.App, msg.Title = "同步", "同步商店", "同步 failed 3 times"
	if got := Of(msg, Chinese); got.Title != "同步 失败（共 3 次）" || len(got.Facts) == 0 {
		t.Errorf("got %+v", got)
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

// The error gives way first, then the prose, and never more than needed.
func TestShrink(t *testing.T) {
	t.Parallel()
	n := Notice{Title: "题", Prose: "一二三四五", Error: "六七八九十"}
	size := func(n Notice) int { return len([]rune(n.Title + n.Prose + n.Error)) }
	tests := []struct {
		limit        int
		prose, error string
		ok           bool
	}{
		{11, "一二三四五", "六七八九十", true},
		{10, "一二三四五", "六七八…", true},
		{7, "一二三四五", "…", true},
		{6, "一二三四五", "", true},
		{5, "一二三…", "", true},
		{2, "…", "", true},
		{1, "", "", true},
		{0, "一二三四五", "六七八九十", false},
	}
	for _, tt := range tests {
		got, ok := n.Shrink(func(n Notice) bool { return size(n) <= tt.limit })
		if want := (Notice{Title: "题", Prose: tt.prose, Error: tt.error}); !reflect.DeepEqual(got, want) || ok != tt.ok {
			t.Errorf("limit %d: got %+v, %v", tt.limit, got, ok)
		}
	}
}
