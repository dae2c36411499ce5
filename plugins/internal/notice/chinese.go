package notice

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/axsched/ax/pluginapi"
)

// inChinese reports whether the host has written a message in Chinese already: its
// title holds Han characters that are not those of a name.
func inChinese(msg pluginapi.Message) bool {
	names := strings.NewReplacer(pairs(msg.Task, msg.App, msg.Node)...)
	return strings.ContainsFunc(names.Replace(msg.Title), func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// pairs makes arguments of a Replacer that takes names away.
func pairs(names ...string) []string {
	var all []string
	for _, name := range names {
		if name != "" {
			all = append(all, name, "")
		}
	}
	return all
}

// chineseEvents are the events that [pluginapi.Message] lists.
var chineseEvents = map[string]string{
	"failed": "失败", "attempt": "有一次尝试失败", "timeout": "超时", "lost": "运行丢失",
	"missed": "错过计划时间", "skipped": "跳过计划时间",
	"slow": "运行过久", "late": "未按时开始", "overdue": "到期未见记录",
	"parked": "已搁置", "recovered": "已恢复",
	"plugin": "不可用", "node": "失联", "calendar": "节假日数据即将用完",
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
