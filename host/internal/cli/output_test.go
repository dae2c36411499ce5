package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

func TestWidths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "abc": 3, "每日对账": 8, "ｆｕｌｌ": 8, "ﾊﾝｶｸ": 4, "한국": 4, "e\u0301": 1, "a\u200db": 2, "→": 1, "…": 1,
	} {
		if got := textWidth(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
	for _, tc := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"每日对账", 8, "每日对账"}, {"每日对账", 7, "每日对…"}, {"每日对账", 6, "每日…"},
	} {
		if got := fit(tc.text, tc.limit); got != tc.want {
			t.Errorf("%q in %d columns: %q, want %q", tc.text, tc.limit, got, tc.want)
		}
	}
}

func TestTableAlignsWideText(t *testing.T) {
	t.Parallel()
	table := newTable("TASK", "STATE")
	table.add("每日对账", "on")
	table.add("x", "two\nlines")
	want := "TASK      STATE\n每日对账  on\nx         two\n"
	if got := table.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "now", 300 * time.Millisecond: "now", 59 * time.Second: "in 59s", -time.Minute: "1m ago",
		90 * time.Minute: "in 1h", -47 * time.Hour: "47h ago", 49 * time.Hour: "in 2d", -400 * 24 * time.Hour: "400d ago",
	} {
		if got := distance(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		1234567 * time.Nanosecond: "1ms", 9999 * time.Millisecond: "9.999s", 61400 * time.Millisecond: "1m1s", 26 * time.Hour: "1d2h", -1: "",
	} {
		if got := took(start, start.Add(d)); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8090": "http://127.0.0.1:8090", ":8090": "http://127.0.0.1:8090", "0.0.0.0:1": "http://127.0.0.1:1",
		"[::]:1": "http://127.0.0.1:1", "[::1]:1": "http://[::1]:1", "https://ax.example.com/": "https://ax.example.com",
		"http://h/x": "", "ftp://h": "", "http://": "", "a b": "",
	} {
		got, err := baseURL(addr)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", addr, got, err, want)
		}
	}
}

func TestNextAnswersManyLinesInOrder(t *testing.T) {
	t.Parallel()
	const lines = 20_000
	line := `{"id":"x","cron":"0 0 10 ? * MON-FRI","timezone":"Asia/Shanghai","after":"2026-01-01T00:00:00Z","n":3}` + "\n"
	broken := strings.Repeat("x", maxQuestion+10) + "\n"
	input := strings.Repeat(line, lines/2) + broken + strings.Repeat(line, lines/2-1) + strings.TrimSuffix(line, "\n")
	got := execute(t, "", []string{"next", "--stdin"}, input)
	answers := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	if got.code != 0 || len(answers) != lines+1 {
		t.Fatalf("exit code %d, %d answers: %s", got.code, len(answers), got.err)
	}
	want := `{"id":"x","next":["2026-01-01T10:00:00+08:00","2026-01-02T10:00:00+08:00","2026-01-05T10:00:00+08:00"]}`
	for i, answer := range answers {
		if i == lines/2 {
			if !strings.Contains(answer, "longer than") {
				t.Errorf("the line that is too long: %.200s", answer)
			}
			continue
		}
		if answer != want {
			t.Fatalf("answer %d: %.200s", i, answer)
		}
	}
}

func BenchmarkNextLine(b *testing.B) {
	source := &NextSource{}
	line := []byte(`{"id":1,"cron":"0 0 10 ? * MON-FRI","timezone":"Asia/Shanghai","after":"2026-01-01T00:00:00Z","n":5}`)
	for b.Loop() {
		if a := source.answerLine(b.Context(), line, nil, time.Time{}); a.Error != "" {
			b.Fatal(a.Error)
		}
	}
}

// TestLongNotes: notes are cut on a terminal only.
func TestLongNotes(t *testing.T) {
	t.Parallel()
	plugins := []api.PluginView{{Name: "a", State: "refused", Reason: strings.Repeat("why ", 40) + "end"}}
	for narrow, whole := range map[bool]bool{false: true, true: false} {
		p := &program{Deps: Deps{Narrow: narrow}}
		if got := p.pluginsText(plugins); strings.Contains(got, "end") != whole || strings.Contains(got, "…") == whole {
			t.Errorf("narrow %t: %s", narrow, got)
		}
	}
}

func TestPluginNotes(t *testing.T) {
	t.Parallel()
	for want, plugin := range map[string]api.PluginView{
		"":                               {State: "ready", PID: 7},
		"starts when it is first needed": {State: "ready"},
		"crashed":                        {State: "backoff", Reason: "crashed"},
	} {
		if got := pluginNote(plugin); got != want {
			t.Errorf("%+v: %q, want %q", plugin, got, want)
		}
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag string
		env  map[string]string
		want string
	}{
		{"", nil, "en"},
		{"", map[string]string{"LANG": "zh_CN.UTF-8"}, "zh"},
		{"", map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"},
		{"", map[string]string{"LANG": "C", "LC_MESSAGES": "zh_TW"}, "zh"},
		{"en", map[string]string{"LC_ALL": "zh_CN.UTF-8"}, "en"},
		{"zh", nil, "zh"},
	} {
		p := &program{lang: c.flag, Deps: Deps{Env: func(name string) string { return c.env[name] }}}
		if got := p.language(); got != c.want {
			t.Errorf("--lang %q, %v: %s, want %s", c.flag, c.env, got, c.want)
		}
	}
}
