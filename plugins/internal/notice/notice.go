// Package notice is what notifiers share: a message in parts for people, texts
// within limits, and the pace that a receiver allows.
package notice

import (
	"strconv"
	"strings"
	"time"

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
	n := Notice{Title: OneLine(msg.Title, maxTitle), Error: strings.TrimSpace(msg.LastError)}
	n.Prose = strings.TrimSpace(msg.Text)
	if prose, found := strings.CutSuffix(n.Prose, n.Error); found {
		n.Prose = strings.TrimSpace(prose)
	}
	if lang == Chinese {
		n.Title, n.Facts = chineseTitle(msg), chineseFacts(msg)
	}
	return n
}

// chineseEvents are the events that [pluginapi.Message] lists.
var chineseEvents = map[string]string{
	"failed": "失败", "timeout": "超时", "lost": "运行丢失", "missed": "错过计划时间", "skipped": "跳过计划时间",
	"parked": "已搁置", "recovered": "已恢复", "calendar": "节假日数据即将用完",
}

// chineseTitle falls back to the host's title for events that it does not know.
func chineseTitle(msg pluginapi.Message) string {
	event, known := chineseEvents[msg.Event]
	switch {
	case msg.Event == "test":
		return "测试消息"
	case !known || msg.Task == "":
		return OneLine(msg.Title, maxTitle)
	}
	title := OneLine(msg.Task, maxTitle) + " " + event
	if msg.Count > 1 {
		title += "（共 " + strconv.Itoa(msg.Count) + " 次）"
	}
	return title
}

func chineseFacts(msg pluginapi.Message) []Fact {
	all := []Fact{
		{"任务", msg.Task},
		{"应用", msg.App},
		{"主机", msg.Node},
		{"次数", strconv.Itoa(msg.Count)},
		{"时间", span(msg)},
		{"运行", msg.InstanceID},
	}
	var facts []Fact
	for _, fact := range all {
		if fact.Value = OneLine(fact.Value, maxFact); fact.Value != "" {
			facts = append(facts, fact)
		}
	}
	return facts
}

// span writes First and Last in the task's zone.
func span(msg pluginapi.Message) string {
	if msg.First.IsZero() {
		return ""
	}
	const layout = time.DateTime + " MST"
	first, last := In(msg.Zone, msg.First).Format(layout), In(msg.Zone, msg.Last).Format(layout)
	if msg.Last.IsZero() || first == last {
		return first
	}
	return first + " – " + last
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
