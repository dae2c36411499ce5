package alert

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Languages of messages.
const (
	English = "en"
	Chinese = "zh"
)

// words is a language.
type words struct {
	// phrases say what became of a task, once and several times.
	phrases map[string][2]string
	// was is what parked tasks are called that go on.
	was string
	// Titles, of messages about several tasks and of others.
	sameError, sameOther, like, summary, others string
	// What a recovery ended: after how long and how many failures.
	fixed, fixedOnly string
	// When something happened: what and when, and the forms of a time.
	when, at, fromTo, goesOn string
	// text is the default template.
	text string
}

func wordsOf(language string) *words {
	if language == Chinese {
		return &chinese
	}
	return &english
}

var english = words{
	phrases: map[string][2]string{
		failed:       {"failed", "failed %d times"},
		attempt:      {"failed in an attempt", "failed in %d attempts"},
		timeout:      {"timed out", "timed out %d times"},
		lost:         {"lost a run", "lost %d runs"},
		missed:       {"missed a due time", "missed due times %d times"},
		skipped:      {"skipped a due time", "skipped %d due times"},
		slow:         {"has a slow run", "has had %d slow runs"},
		late:         {"did not start in time", "did not start in time %d times"},
		overdue:      {"has a due time without a record", "has %d due times without a record"},
		parked:       {"is parked", "was parked %d times"},
		recovered:    {"recovered", "recovered %d times"},
		PluginDown:   {"is down", "went down %d times"},
		NodeLost:     {"is lost", "was lost %d times"},
		calendarEnds: {"lacks a list of holidays", "lacks a list of holidays, as said %d times"},
	},
	was:       "was parked",
	sameError: "same error in %d tasks", sameOther: "%d tasks: %s",
	like: "%s, like %d other tasks", summary: "%d tasks while it was quiet", others: ", and %s",
	fixed: "fixed after %s, %s", fixedOnly: "fixed after %s",
	when: "%[1]s %[2]s", at: "at %s", fromTo: "from %s to %s", goesOn: " It goes on since %s.",
	text: textEnglish,
}

const textEnglish = `{{if .Tasks}}{{.Opening}}
{{range .Tasks}}- {{.Name}} {{.What}}
{{end}}{{if .TasksMore}}- and {{.TasksMore}} more
{{end}}{{else}}{{.Opening}}
{{range .More}}It {{.}}
{{end}}{{if .Like}}{{.Like}} other tasks say the same.
{{end}}{{if gt .Streak 1}}That makes {{.Streak}} failures in a row.
{{end}}{{end}}{{if gt .Attempts .Failures}}{{if gt .Failures 1}}They{{else}}It{{end}} took {{.Attempts}} attempts{{if .Hosts}} on {{join .Hosts ", "}}{{end}}.
{{else if gt (len .Hosts) 1}}The hosts were {{join .Hosts ", "}}.
{{end}}{{if and .Instance (not .Tasks)}}{{if gt .Count 1}}Newest run{{else}}Run{{end}}: instance {{.Instance}}{{if .Attempt}}, attempt {{.Attempt}}{{end}}{{if .Host}} on host {{.Host}}{{end}}.
{{end}}{{if .Held}}It was held back until now.
{{end}}{{if .Error}}{{if gt .Count 1}}Newest error{{else}}Error{{end}}:
{{.Error}}{{end}}`

var chinese = words{
	phrases: map[string][2]string{
		failed:       {"失败", "失败 %d 次"},
		attempt:      {"有一次尝试失败", "有 %d 次尝试失败"},
		timeout:      {"超时", "超时 %d 次"},
		lost:         {"运行丢失", "运行丢失 %d 次"},
		missed:       {"错过计划时间", "错过计划时间 %d 次"},
		skipped:      {"跳过计划时间", "跳过计划时间 %d 次"},
		slow:         {"运行过久", "%d 次运行过久"},
		late:         {"未按时开始", "%d 次未按时开始"},
		overdue:      {"到期未见记录", "%d 次到期未见记录"},
		parked:       {"已搁置", "搁置 %d 次"},
		recovered:    {"已恢复", "恢复 %d 次"},
		PluginDown:   {"不可用", "不可用 %d 次"},
		NodeLost:     {"失联", "失联 %d 次"},
		calendarEnds: {"节假日数据即将用完", "节假日数据即将用完（已提示 %d 次）"},
	},
	was:       "曾被搁置",
	sameError: "%d 个任务出现同样的错误", sameOther: "%d 个任务%s",
	like: "%s（另有 %d 个任务相同）", summary: "静默期间 %d 个任务有消息", others: "，另有其他 %s",
	fixed: "历时 %s、失败 %s后修复", fixedOnly: "失败 %s后修复",
	when: "于 %[2]s %[1]s", at: "%s", fromTo: "%s 至 %s", goesOn: "%s 起继续。",
	text: textChinese,
}

const textChinese = `{{if .Tasks}}{{.Opening}}
{{range .Tasks}}- {{.Name}} {{.What}}
{{end}}{{if .TasksMore}}- 另有 {{.TasksMore}} 个任务
{{end}}{{else}}{{.Opening}}
{{range .More}}{{.}}
{{end}}{{if .Like}}另有 {{.Like}} 个任务情况相同。
{{end}}{{if gt .Streak 1}}已连续失败 {{.Streak}} 次。
{{end}}{{end}}{{if gt .Attempts .Failures}}共尝试 {{.Attempts}} 次{{if .Hosts}}，主机：{{join .Hosts "、"}}{{end}}。
{{else if gt (len .Hosts) 1}}主机：{{join .Hosts "、"}}。
{{end}}{{if and .Instance (not .Tasks)}}{{if gt .Count 1}}最近一次运行{{else}}运行{{end}}：实例 {{.Instance}}{{if .Attempt}}，第 {{.Attempt}} 次尝试{{end}}{{if .Host}}，主机 {{.Host}}{{end}}。
{{end}}{{if .Held}}此消息曾被延后发送。
{{end}}{{if .Error}}{{if gt .Count 1}}最近的错误{{else}}错误{{end}}：
{{.Error}}{{end}}`

func (w *words) isEnglish() bool { return w == &english }

// phrase says what became of a task.
func (w *words) phrase(event string, count int) string {
	p := w.phrases[event]
	if count == 1 {
		return p[0]
	}
	return fmt.Sprintf(p[1], count)
}

func (w *words) tallyPhrase(t *tally) string {
	if t.Event == parked && !t.Over.IsZero() && t.Count == 1 {
		return w.was
	}
	return w.phrase(t.Event, t.Count)
}

// fixedAfter says what a recovery ended.
func (w *words) fixedAfter(t *tally) string {
	failures := number(t.Ended, "failure")
	took := short(t.Took)
	if !w.isEnglish() {
		failures, took = fmt.Sprintf("%d 次", t.Ended), chineseShort(t.Took)
	}
	if t.Took < time.Second {
		return fmt.Sprintf(w.fixedOnly, failures)
	}
	return fmt.Sprintf(w.fixed, took, failures)
}

// span says when something happened.
func (w *words) span(first, last time.Time) string {
	end := time.DateTime
	switch {
	case first.Truncate(time.Second).Equal(last.Truncate(time.Second)):
		return fmt.Sprintf(w.at, first.Format(time.DateTime+" MST"))
	case first.Format(time.DateOnly) == last.Format(time.DateOnly):
		end = time.TimeOnly
	}
	return fmt.Sprintf(w.fromTo, first.Format(time.DateTime), last.Format(end+" MST"))
}

// sentence tells of the events, without the subject.
func (w *words) sentence(t *tally, zone *time.Location) string {
	stop, colon, comma := ".", ": ", ", "
	phrase := w.tallyPhrase(t)
	if w.isEnglish() {
		phrase = strings.Replace(phrase, "is ", "was ", 1)
		phrase = strings.Replace(phrase, "has ", "had ", 1)
		phrase = strings.Replace(phrase, "had had ", "had ", 1)
	} else {
		stop, colon, comma = "。", "：", "，"
	}
	s := fmt.Sprintf(w.when, phrase, w.span(t.First.In(zone), t.Last.In(zone)))
	switch {
	case t.Event == recovered:
		s += comma + w.fixedAfter(t)
	case t.Reason != "":
		s += colon + w.reason(t.Reason)
	}
	s = strings.TrimSuffix(s, ".") + stop
	if !t.Over.IsZero() {
		s += fmt.Sprintf(w.goesOn, t.Over.In(zone).Format(time.TimeOnly))
	}
	return s
}

func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// short writes a duration without zeros at its end: 37m instead of 37m0s.
func short(d time.Duration) string {
	s := d.Round(time.Second).String()
	for _, zero := range []string{"0s", "0m"} {
		if head, ok := strings.CutSuffix(s, zero); ok && head != "" && unicode.IsLetter(rune(head[len(head)-1])) {
			s = head
		}
	}
	return s
}

// chineseShort is short in Chinese: 1 小时 30 分钟.
func chineseShort(d time.Duration) string {
	return strings.TrimSpace(strings.NewReplacer("h", " 小时 ", "m", " 分钟 ", "s", " 秒 ").Replace(short(d)))
}
