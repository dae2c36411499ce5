package alert

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

var (
	tenOClock = time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC) // in Shanghai
	shanghai  = time.FixedZone("CST", 8*60*60)
)

func minute(n int) time.Time { return tenOClock.Add(time.Duration(n) * time.Minute) }

// told returns the row that gathers the events of a task.
func told(after int, events ...ax.AlertEvent) *row {
	task := &ax.Task{
		ID: 7, App: "shop", Name: "report", Schedule: ax.Schedule{Timezone: "Asia/Shanghai"},
		Notify: ax.Notify{To: []string{"ops"}, After: after, On: []string{
			failed, attempt, timeout, lost, missed, skipped, slow, late, overdue, parked, recovered, PluginDown, NodeLost, calendarEnds,
		}},
	}
	for i := range events {
		events[i].ID, events[i].TaskID = int64(i), 7
	}
	g := gathering{task: task, events: events, story: &story{}, settings: &Settings{Window: time.Hour}, ids: ax.NewIDs(1), now: tenOClock}
	rows := g.run()
	if len(rows) == 0 {
		return nil
	}
	rows[0].ID = 7
	return rows[0]
}

func event(name string, at time.Time, detail string) ax.AlertEvent {
	return ax.AlertEvent{Event: name, Count: 1, At: at, Detail: detail}
}

// ran is event for a run.
func ran(name string, at time.Time, detail, node string) ax.AlertEvent {
	return ax.AlertEvent{Event: name, Count: 1, At: at, Detail: detail, Instance: 42, Attempt: 3, Node: node}
}

// TestMessages shows what people read.
func TestMessages(t *testing.T) {
	t.Parallel()
	var dozen []ax.AlertEvent
	for i := range 12 {
		dozen = append(dozen, event(failed, minute(i), ""))
	}
	tests := []struct {
		name         string
		row          *row
		title, lines string
		titleZH      string
		linesZH      string
		event, level string
		count        int
	}{
		{
			"one failure", told(1, ran(failed, minute(0), "exit status 1\nno space left", "n1")),
			"report failed", `Task report of app shop failed at 2026-03-01 10:00:00 CST.
It took 3 attempts on n1.
Run: instance 42, attempt 3 on host n1.
Error:
exit status 1
no space left`,
			"report 失败", `应用 shop 的任务 report 于 2026-03-01 10:00:00 CST 失败。
共尝试 3 次，主机：n1。
运行：实例 42，第 3 次尝试，主机 n1。
错误：
exit status 1
no space left`, "failed", "error", 1,
		},
		{
			"failures of several kinds on several hosts",
			told(1, ran(failed, minute(0), "", "n1"), ran(failed, minute(3), "", "n2"), ran(timeout, minute(16*60), "timed out after 1m", "n1")),
			"report timed out, and 2 other events", `Task report of app shop timed out at 2026-03-02 02:00:00 CST.
It failed 2 times from 2026-03-01 10:00:00 to 10:03:00 CST.
That makes 3 failures in a row.
They took 9 attempts on n1, n2.
Newest run: instance 42, attempt 3 on host n1.
Newest error:
timed out after 1m`,
			"report 超时，另有其他 2 个事件", `应用 shop 的任务 report 于 2026-03-02 02:00:00 CST 超时。
于 2026-03-01 10:00:00 至 10:03:00 CST 失败 2 次。
已连续失败 3 次。
共尝试 9 次，主机：n1、n2。
最近一次运行：实例 42，第 3 次尝试，主机 n1。
最近的错误：
timed out after 1m`, "timeout", "error", 3,
		},
		{
			"recovery", told(20, append(dozen, event(succeeded, minute(37), ""))...),
			"", "", "", "", "", "", 0, // fewer than the threshold: nothing to tell
		},
		{
			"recovery that was asked for", told(1, append(dozen, event(succeeded, minute(37), ""))...),
			"report recovered, fixed after 37m, 12 failures", `Task report of app shop recovered at 2026-03-01 10:37:00 CST, fixed after 37m, 12 failures.
It failed 12 times from 2026-03-01 10:00:00 to 10:11:00 CST.`,
			"report 已恢复：历时 37 分钟、失败 12 次后修复", `应用 shop 的任务 report 于 2026-03-01 10:37:00 CST 已恢复，历时 37 分钟、失败 12 次后修复。
于 2026-03-01 10:00:00 至 10:11:00 CST 失败 12 次。`, "recovered", "info", 13,
		},
		{
			"due times that did not run",
			told(1, event(missed, minute(0), "5 due times missed: late"), event(skipped, minute(1), ""), event(skipped, minute(24*60), "skipped: the last run\nstill goes on.")),
			"report skipped 2 due times, and 1 other event", `Task report of app shop skipped 2 due times from 2026-03-01 10:01:00 to 2026-03-02 10:00:00 CST: skipped: the last run still goes on.
It missed a due time at 2026-03-01 10:00:00 CST: 5 due times missed: late.`,
			"report 跳过计划时间 2 次，另有其他 1 个事件", "", "skipped", "warning", 3,
		},
		{
			"a slow run", told(1, ran(slow, minute(0), "runs since 02:00, longer than 10m", "n1")),
			"report has a slow run", `Task report of app shop had a slow run at 2026-03-01 10:00:00 CST: runs since 02:00, longer than 10m.
Run: instance 42, attempt 3 on host n1.`,
			"report 运行过久", "", "slow", "warning", 1,
		},
		{
			"not started", told(1, event(late, minute(0), "")),
			"report did not start in time", "Task report of app shop did not start in time at 2026-03-01 10:00:00 CST.", "report 未按时开始", "", "late", "warning", 1,
		},
		{
			"no record", told(1, event(overdue, minute(0), "its host hangs")),
			"report has a due time without a record", "Task report of app shop had a due time without a record at 2026-03-01 10:00:00 CST: its host hangs.",
			"report 到期未见记录", "", "overdue", "error", 1,
		},
		{
			"parked", told(1, event(parked, minute(0), `no plugin offers the job "x"`)),
			"report is parked", `Task report of app shop was parked at 2026-03-01 10:00:00 CST: no plugin offers the job "x".`, "report 已搁置", "", "parked", "error", 1,
		},
		{
			"parked for a while", told(1, event(parked, minute(0), "no plugin"), event(unparked, minute(2), "")),
			"report was parked", `Task report of app shop was parked at 2026-03-01 10:00:00 CST: no plugin. It goes on since 10:02:00.`,
			"report 曾被搁置", "应用 shop 的任务 report 于 2026-03-01 10:00:00 CST 曾被搁置：no plugin。10:02:00 起继续。", "parked", "error", 1,
		},
		{
			"something that is no task", told(1, ax.AlertEvent{Event: calendarEnds, Count: 1, At: minute(0), Detail: "add the list for 2027", Receivers: []string{"ops"}}),
			"report lacks a list of holidays", `The report of app shop lacks a list of holidays at 2026-03-01 10:00:00 CST: add the list for 2027.`,
			"report 节假日数据即将用完", "应用 shop：report 于 2026-03-01 10:00:00 CST 节假日数据即将用完：add the list for 2027。", "calendar", "warning", 1,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.row == nil || test.count == 0 {
				if test.row != nil {
					t.Errorf("told %+v, want nothing", test.row)
				}
				return
			}
			for _, language := range []struct{ code, title, lines string }{{English, test.title, test.lines}, {Chinese, test.titleZH, test.linesZH}} {
				sc := scene{node: "n1", receiver: &Receiver{Language: language.code, Zone: shanghai}}
				sc.render(test.row, nil)
				m := test.row.msg
				if m.Title != language.title || language.lines != "" && m.Text != language.lines {
					t.Errorf("title %q\ntext:\n%s\nwant %q\n%s", m.Title, m.Text, language.title, language.lines)
				}
				if m.Event != test.event || m.Severity != test.level || m.Count != test.count {
					t.Errorf("event %s, severity %s, count %d", m.Event, m.Severity, m.Count)
				}
				if m.ID != "7" || m.Task != "report" || m.App != "shop" || m.Node != "n1" || m.Zone != "CST" {
					t.Errorf("message %+v", m)
				}
			}
		})
	}
}

// TestMessageSurvivesARestart: what was kept of a message makes the same one.
func TestMessageSurvivesARestart(t *testing.T) {
	t.Parallel()
	r := told(1, ran(failed, minute(0), "错误", "n1"), ran(lost, minute(1), "died", "n2"), event(parked, minute(2), "no plugin"))
	sc := scene{node: "n1", receiver: &Receiver{}, zone: func(string) *time.Location { return shanghai }}
	saved, err := r.saved()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loadRow(saved)
	if err != nil {
		t.Fatal(err)
	}
	sc.render(r, nil)
	sc.render(loaded, nil)
	want, _ := json.Marshal(r.msg)
	if got, _ := json.Marshal(loaded.msg); string(got) != string(want) {
		t.Errorf("after a restart it is\n%s\nit was\n%s", got, want)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"{{.Nothing}}", "{{", "{{range .Tasks}}{{.Colour}}{{end}}", "{{nosuch .Title}}", "{{index .Hosts 0}}"} {
		if _, err := ParseTemplate(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	title, err := ParseTemplate("[{{.App}}]\n{{.Title}}")
	if err != nil {
		t.Fatal(err)
	}
	text, err := ParseTemplate(`{{.Count}} since {{date "15:04" .First}}{{with .Error}}: {{cut 10 .}}{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	r := told(1, ran(failed, minute(0), strings.Repeat("x", 50), "n1"))
	sc := scene{receiver: &Receiver{Title: title, Text: text, Zone: shanghai}}
	sc.render(r, nil)
	if got, want := r.msg.Title, "[shop] report failed"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if got, want := r.msg.Text, "1 since 10:00: xxxxxxx…"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestCauses(t *testing.T) {
	t.Parallel()
	same := []string{
		"dial tcp 10.0.0.7:5432: connection refused", "dial tcp 10.0.0.8:5433: connection  refused\n",
		"Dial TCP 10.0.0.9:1: connection refused",
	}
	for _, text := range same[1:] {
		if causeOf(text, "t") != causeOf(same[0], "t") {
			t.Errorf("%q differs from %q", text, same[0])
		}
	}
	if causeOf("import-eu: no route", "import-eu") != causeOf("import-us: no route", "import-us") {
		t.Error("the name of the task makes a difference")
	}
	if causeOf("job 0f3a9c21-77aa-4f00 failed", "") != causeOf("job 99ffab12-0000-1234 failed", "") {
		t.Error("an id makes a difference")
	}
	if causeOf("no route", "") == causeOf("no such host", "") {
		t.Error("two errors are the same")
	}
}
