package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/axsched/ax/host/internal/ax"
)

func TestDigest(t *testing.T) {
	t.Parallel()
	frames := make([]string, 100)
	for i := range frames {
		frames[i] = fmt.Sprintf("\tmain.f%d()", i)
	}
	stack := "panic: boom\n" + strings.Join(frames, "\n") + "\nexit status 2\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"one line", "  no such file\r\n", "no such file"},
		{"colors", "\x1b[31mred\x1b[0m\x00", "[31mred[0m"},
		{"no UTF-8", "a\xffb", "a\uFFFDb"},
		{"stack", stack, "panic: boom\n" + strings.Join(frames[:9], "\n") + "\n… 89 lines left out …\n" + strings.Join(frames[98:], "\n") + "\nexit status 2"},
		{"just short enough", strings.Repeat("x\n", 14), strings.TrimSpace(strings.Repeat("x\n", 14))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := digest(test.text); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestDigestIsBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "错", "🦀", "错\n", "x\n", strings.Repeat("错", 300) + "\n", "\xff"} {
		for extra := range 5 { // every position of the border within a rune
			got := digest(strings.Repeat("a", extra) + strings.Repeat(unit, 100_000/len(unit)))
			if len(got) > maxDigest+100 || !utf8.ValidString(got) {
				t.Errorf("%d times %q: %d bytes, valid %v", 100_000/len(unit), unit[:1], len(got), utf8.ValidString(got))
			}
			if !strings.Contains(got, "…") {
				t.Errorf("%q: nothing tells that it was cut", unit)
			}
		}
	}
}

func FuzzDigest(f *testing.F) {
	f.Add("panic: x\n\ngoroutine 1 [running]:\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := digest(text)
		if len(got) > maxDigest+100 || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q", got)
		}
	})
}

func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 10 * time.Second: "10s", 70 * time.Second: "1m10s", 37 * time.Minute: "37m",
		time.Hour: "1h", 10 * time.Hour: "10h", 90 * time.Minute: "1h30m", time.Hour + 400*time.Millisecond: "1h",
	} {
		if got := short(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// TestMessages shows what people read.
func TestMessages(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	later := func(minutes int) time.Time { return at.Add(time.Duration(minutes) * time.Minute) }
	last := run{Instance: "42", Attempt: 3, Node: "n1"}
	tests := []struct {
		name         string
		tell         func(*row)
		title, lines string
		event, level string
		count        int
	}{
		{"one failure", func(r *row) {
			ev := event{name: failed, at: at, text: "exit status 1\nno space left", run: last}
			r.gatherFailures(&ev, []tally{newTally(&ev)}, 1)
		}, "report failed", `Task report of app shop failed at 2026-03-01 10:00:00 CST.
Run: instance 42, attempt 3 on host n1.
Error:
exit status 1
no space left`, "failed", "error", 1},
		{"failures of several kinds", func(r *row) {
			first := tally{Event: failed, Count: 4, First: at, Last: later(3)}
			ev := event{name: timeout, at: later(16 * 60), text: "timed out after 1m", run: last}
			r.gatherFailures(&ev, []tally{first, newTally(&ev)}, 12)
		}, "report timed out, and 4 other events", `Task report of app shop timed out at 2026-03-02 02:00:00 CST.
It failed 4 times from 2026-03-01 10:00:00 to 10:03:00 CST.
That makes 12 failures in a row.
Newest run: instance 42, attempt 3 on host n1.
Newest error:
timed out after 1m`, "timeout", "error", 5},
		{"recovery", func(r *row) {
			s := streak{count: 12, since: at}
			r.gather(&event{name: recovered, at: later(37), text: s.ended(later(37)), run: last})
		}, "report recovered after 12 failures in 37m", `Task report of app shop recovered at 2026-03-01 10:37:00 CST, after 12 failures in 37m.
Run: instance 42, attempt 3 on host n1.`, "recovered", "info", 1},
		{"due times that did not run", func(r *row) {
			r.gather(&event{name: missed, at: at, text: "5 due times missed: late"})
			r.gather(&event{name: skipped, at: later(1), text: "skipped: the last run\nstill goes on."})
			r.gather(&event{name: skipped, at: later(24 * 60), text: "skipped: the last run\nstill goes on."})
		}, "report skipped 2 due times, and 1 other event", `Task report of app shop skipped 2 due times from 2026-03-01 10:01:00 to 2026-03-02 10:00:00 CST: skipped: the last run still goes on.
It missed a due time at 2026-03-01 10:00:00 CST: 5 due times missed: late.`, "skipped", "warning", 3},
		{"parked", func(r *row) { r.gather(&event{name: parked, at: at, text: `no plugin offers the job "x"`}) },
			"report is parked", `Task report of app shop was parked at 2026-03-01 10:00:00 CST: no plugin offers the job "x".`, "parked", "error", 1},
		{"parked for a while", func(r *row) {
			r.gather(&event{name: parked, at: at, text: "no plugin"})
			r.unpark(later(2))
		}, "report was parked", `Task report of app shop was parked at 2026-03-01 10:00:00 CST: no plugin. It goes on since 10:02:00.`, "parked", "error", 1},
		{"a calendar in a task's place", func(r *row) { r.gather(&event{name: calendarEnds, at: at, text: "add the list for 2027"}) },
			"report lacks a list of holidays", `The report of app shop lacks a list of holidays at 2026-03-01 10:00:00 CST: add the list for 2027.`, "calendar", "warning", 1},
	}
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRow(&ax.Task{App: "shop", Name: "report", Schedule: ax.Schedule{Timezone: "Asia/Shanghai"}}, "ops", 7, at, at)
			test.tell(r)
			if err := r.render("n1", zone); err != nil {
				t.Fatal(err)
			}
			m := r.msg
			if m.Title != test.title || m.Text != test.lines {
				t.Errorf("title %q\ntext:\n%s\nwant %q\n%s", m.Title, m.Text, test.title, test.lines)
			}
			if m.Event != test.event || m.Severity != test.level || m.Count != test.count {
				t.Errorf("event %s, severity %s, count %d", m.Event, m.Severity, m.Count)
			}
			if m.ID != "7" || m.Zone != "Asia/Shanghai" || m.Task != "report" || m.App != "shop" || m.Node != "n1" {
				t.Errorf("message %+v", m)
			}
			loaded, err := loadRow(r.AlertRow)
			if err != nil {
				t.Fatal(err)
			}
			if err := loaded.render("n1", zone); err != nil {
				t.Fatal(err)
			}
			if string(loaded.Payload) != string(r.Payload) {
				t.Errorf("after a restart it is\n%s\nit was\n%s", loaded.Payload, r.Payload)
			}
		})
	}
}
