package alert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReasonsAreWhatIsWritten looks for the English sentences in the code that
// writes them.
func TestReasonsAreWhatIsWritten(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, folder := range []string{".", "..", "../engine", "../rescue", "../executor", "../pluginhost", "../holidays", "../../../pluginapi", "../.."} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "reasons.go" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	for _, list := range [][]reason{chineseReasons, chineseErrors, chineseSubjects} {
		for _, r := range list {
			for part := range strings.SplitSeq(r.source, "%") {
				part = strings.TrimLeft(part, "sdqv")
				// Words before a colon, and a pronoun, may be put before it elsewhere.
				for piece := range strings.SplitSeq(part, ": ") {
					piece = strings.TrimPrefix(strings.Trim(piece, " ;"), "it ")
					if !strings.Contains(code.String(), piece) {
						t.Errorf("nobody writes %q of %q", piece, r.source)
					}
				}
			}
		}
	}
}

// TestReasonsInChinese: what the host writes is shown in Chinese, what others
// write as it is.
func TestReasonsInChinese(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"missed: late by more than 1m0s":                       "延误超过 1m0s",
		"5 due times missed: older than the window of 24h0m0s": "共错过 5 次，早于补跑时间窗 24h0m0s",
		"skipped: an earlier run has not ended (limit 1)":      "之前的运行尚未结束（上限 1）",
		`no plugin offers the job "x"`:                         `没有插件提供 job "x"`,
		"plugin exec is not available: its file is gone":       "插件 exec 不可用：其文件已不存在",
		"it exited with status 3: no space left":               "已退出，退出码 3: no space left",
		"runs since 2026-03-01 10:00:00 CST, longer than 10m":  "自 2026-03-01 10:00:00 CST 起运行，已超过 10m",
		"a sentence of a plugin":                               "a sentence of a plugin",
		`calendar "china" has lists of holidays for 2026 only: add the list for 2027; without it the weekly pattern decides, from 2027-01-01 on (days until then: 20)`: `日历 "china" 的节假日数据只有 2026 年：请补充 2027 年的数据，否则只按每周规律判断（自 2027-01-01 起，还有 20 天）`,
	} {
		if got := chinese.reason(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := english.reason(text); got != text {
			t.Errorf("%q is %q in English", text, got)
		}
	}
	got := chinese.error("the host n1 died while the job ran\nskipped: 3 rows\n… 31 lines left out …\nmain.go:7")
	if want := "任务运行时主机 n1 失联\nskipped: 3 rows\n… 省略 31 行 …\nmain.go:7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := chinese.error("plugin exec: its process ended during the call Run: it was killed by signal killed"); got != "插件 exec：进程在调用 Run 期间结束：被信号 killed 终止" {
		t.Errorf("got %q", got)
	}
}

// TestSubjectsInChinese: what is no task is named in Chinese, a task never is.
func TestSubjectsInChinese(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plugin exec on n1": "插件 exec（主机 n1） 不可用", "host n2": "主机 n2 不可用", "calendar china": "日历 china 不可用",
	} {
		for _, subject := range []bool{true, false} {
			r := told(1, event(PluginDown, minute(0), "it was killed: a run did not end"))
			r.TaskName, r.facts.Subject = name, subject
			sc := scene{receiver: &Receiver{Language: Chinese, Zone: shanghai}}
			sc.render(r, nil)
			if !subject {
				want = name + " 不可用"
			}
			if r.msg.Title != want || r.msg.Task != name {
				t.Errorf("title %q about %q, want %q", r.msg.Title, r.msg.Task, want)
			}
		}
	}
}

// TestErrorsInChinese: the error at the end of a text is the error of the message,
// by which notifiers tell them apart.
func TestErrorsInChinese(t *testing.T) {
	t.Parallel()
	r := told(1, ran(lost, minute(0), "the host n1 died while the job ran", "n1"))
	sc := scene{receiver: &Receiver{Language: Chinese, Zone: shanghai}}
	sc.render(r, nil)
	if r.msg.LastError != "任务运行时主机 n1 失联" || !strings.HasSuffix(r.msg.Text, r.msg.LastError) {
		t.Errorf("error %q of\n%s", r.msg.LastError, r.msg.Text)
	}
}
