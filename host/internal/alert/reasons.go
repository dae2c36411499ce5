package alert

import (
	"fmt"
	"regexp"
	"strings"
)

// The host writes down in English why something happened, before it is known who
// will read it. What follows puts the sentences that are known into Chinese; a
// test sees to it that they still are what the host writes.

// chineseReasons are sentences in English and in Chinese. What stands for a verb
// such as %s is taken over, and may be such a sentence itself.
var chineseReasons = reasonsOf([][2]string{
	// Why a due time did not run.
	{"missed: %s", "%s"},
	{"skipped: %s", "%s"},
	{"%d due times missed: %s", "共错过 %s 次，%s"},
	{"late by more than %s", "延误超过 %s"},
	{"late, and the task runs just now", "已过计划时间，而任务正在运行"},
	{"late, and one after it has a row already", "已过计划时间，且其后一次已有记录"},
	{"late: only the newest due time runs", "已过计划时间，只补跑最近一次"},
	{"older than the window of %s", "早于补跑时间窗 %s"},
	{"more than %d missed due times", "错过的次数超过 %s"},
	{"the task was paused before it came to that", "此前任务已被暂停"},
	{"%d run and %d wait already", "已有 %s 个在运行，%s 个在等待"},
	{"an earlier run has not ended (limit %d)", "之前的运行尚未结束（上限 %s）"},
	{"the due time after it took its place", "其后一次计划时间取代了它"},
	// What the watch finds.
	{"runs since %s, longer than %s", "自 %s 起运行，已超过 %s"},
	{"due at %s and not started within %s", "应于 %s 开始，过了 %s 仍未开始"},
	{"due at %s, and nothing is recorded: its host hangs, is overloaded, or has lost it", "应于 %s 运行，却没有任何记录：所属主机卡死、过载或遗漏了它"},
	{"no sign of life since %s; others take over its tasks", "自 %s 起没有心跳，其任务由其他主机接管"},
	// Why a task is parked, or a plugin is down.
	{"no plugin offers the %s %q", "没有插件提供 %s %s"},
	{"plugin %s is not available: %s", "插件 %s 不可用：%s"},
	{"its file was refused: %s", "其文件被拒绝：%s"},
	{"its file is gone", "其文件已不存在"},
	{"it is in quarantine after too many crashes, until it is reset or replaced; the last one: %s", "崩溃次数过多，已被隔离，直到重置或更换；最近一次：%s"},
	{"it could not be started: %s", "无法启动：%s"},
	{"it was killed by signal %s", "被信号 %s 终止"},
	{"it was killed: %s", "已被终止：%s"},
	{"it exited with status %d", "已退出，退出码 %s"},
	{"its process ended during the call %s: %s", "进程在调用 %s 期间结束：%s"},
	{"its connection broke during the call %s", "连接在调用 %s 期间中断"},
	{"too many calls in a row were not answered in time", "连续多次调用未按时应答"},
	{"no answer to a health check within %v", "健康检查在 %s 内无应答"},
	// Of lists of holidays.
	{"calendar %q has lists of holidays %s: add the list for %d; without it the weekly pattern decides, %s", "日历 %s 的节假日数据%s：请补充 %s 年的数据，否则只按每周规律判断（%s）"},
	{"for no year that all of its layers know", "没有一年是完整的"},
	{"for %d only", "只有 %s 年"},
	{"for %d to %d only", "只有 %s 至 %s 年"},
	{"from %s on (days until then: %d)", "自 %s 起，还有 %s 天"},
	{"now", "即日起"},
})

// chineseErrors are the lines of errors that come from the host; all others are
// somebody else's words.
var chineseErrors = reasonsOf([][2]string{
	{"the host %s died while the job ran", "任务运行时主机 %s 失联"},
	{"the host was stopped before the job ended", "任务结束前主机已停止"},
	{"the host was cut off from the database before the job began", "任务开始前主机与数据库失去联系"},
	{"plugin %s: its process ended during the call %s: %s", "插件 %s：进程在调用 %s 期间结束：%s"},
	{"plugin %s: its connection broke during the call %s", "插件 %s：连接在调用 %s 期间中断"},
	{"its process was killed", "其进程被终止"},
	{"it did not end within its grace of %v, so its process was killed", "在宽限期 %s 内没有结束，其进程已被终止"},
	{"the task's timeout is over", "已超过任务的时限"},
	{"the task's timeout is over; %s", "已超过任务的时限；%s"},
	{"… %d lines left out …", "… 省略 %s 行 …"},
})

// chineseSubjects are the names of what is no task.
var chineseSubjects = reasonsOf([][2]string{
	{"plugin %s on %s", "插件 %s（主机 %s）"},
	{"host %s", "主机 %s"},
	{"calendar %s", "日历 %s"},
})

// reason is a sentence in two languages.
type reason struct {
	source  string // in English, with verbs
	english *regexp.Regexp
	chinese string
}

var verbs = regexp.MustCompile(`%[sdqv]`)

func reasonsOf(pairs [][2]string) []reason {
	list := make([]reason, len(pairs))
	for i, pair := range pairs {
		list[i] = reason{pair[0], regexp.MustCompile("^" + verbs.ReplaceAllLiteralString(regexp.QuoteMeta(pair[0]), "(.+?)") + "$"), pair[1]}
	}
	return list
}

// deepest is how many sentences may be one inside the other.
const deepest = 4

// inChinese returns a text in Chinese if it is one of the sentences, else the
// text itself.
func inChinese(known []reason, text string, depth int) string {
	for _, r := range known {
		found := r.english.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		parts := make([]any, len(found)-1)
		for i, part := range found[1:] {
			if depth < deepest {
				part = inChinese(chineseReasons, part, depth+1)
			}
			parts[i] = part
		}
		return fmt.Sprintf(r.chinese, parts...)
	}
	return text
}

// reason returns why something happened, in the language.
func (w *words) reason(text string) string {
	if w.isEnglish() {
		return text
	}
	return inChinese(chineseReasons, text, 0)
}

// error returns a digest in the language, as far as the host wrote it.
func (w *words) error(digest string) string {
	if w.isEnglish() {
		return digest
	}
	lines := strings.Split(digest, "\n")
	for i, line := range lines {
		lines[i] = inChinese(chineseErrors, line, 0)
	}
	return strings.Join(lines, "\n")
}

// name returns what a message is about.
func (w *words) name(r *row) string {
	if w.isEnglish() || !r.facts.Subject {
		return r.TaskName
	}
	return inChinese(chineseSubjects, r.TaskName, deepest)
}
