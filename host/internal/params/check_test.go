package params

import (
	"strings"
	"testing"
	"text/template"
)

func TestCheckString(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, part, message string // an empty message: nothing is found
		doubt               bool
	}{
		{text: "plain"},
		{text: `{{ .App }} {{ $.Task }} {{ if eq .Kind "manual" }}{{ .Node }}{{ else }}{{ .TraceID }}{{ end }}`},
		{text: `{{ with .ScheduledAt }}{{ .Unknown }}{{ end }}`},
		{text: `{{ .Scheduled }}`, part: ".Scheduled", message: "templates know no .Scheduled"},
		{text: `{{ if .A }}{{ end }}`, part: ".A", message: "templates know no .A"},
		{text: `{{ with .App }}{{ $.B }}{{ end }}`, part: ".B", message: "templates know no .B"},
		{text: `{{ with .App }}{{ else }}{{ .C }}{{ end }}`, part: ".C", message: "templates know no .C"},
		{text: `{{ upper (lower .D) }}`, part: ".D", message: "templates know no .D"},
		{text: `{{ (upper .E).F }}`, part: ".E", message: "templates know no .E"},
		{text: "a\n{{ nope }}", part: "nope", message: `2: function "nope" not defined`},
		{text: `{{ .App`, message: "unclosed action"},
		{text: `{{ .ScheduledAt | add "-90m" | in "Asia/Tokyo" | date "15:04" }}`},
		{text: `{{ .ScheduledAt | add "1d" }}`, part: "1d", message: `add: expected a duration such as 90m or -1h30m (units ns, us, ms, s, m, h), got "1d"`},
		{text: `{{ in "Tokyo" .ScheduledAt }}`, part: "Tokyo", message: `in: "Tokyo" is no time zone, expected an IANA name such as Asia/Shanghai or UTC`},
		{text: "{{ date `YYYY` .ScheduledAt }}", part: "YYYY", message: `date: "YYYY" names no part of a time: layouts are written with the time 2006-01-02 15:04:05, so write "2006"`},
	} {
		found := CheckString(tt.text)
		switch {
		case tt.message == "" && len(found) > 0:
			t.Errorf("%s: found %+v", tt.text, found)
		case tt.message == "":
		case len(found) != 1 || found[0].Message != tt.message || found[0].Part != tt.part || found[0].Doubt != tt.doubt:
			t.Errorf("%s: found %+v, want %s: %s", tt.text, found, tt.part, tt.message)
		}
	}
}

func TestLayoutProblem(t *testing.T) {
	t.Parallel()
	for layout, meant := range map[string]string{
		"2006-01-02": "", "20060102T150405Z0700": "", "Jan _2 3:04PM MST": "", "Monday": "", ".000": "", "002": "",
		"yyyy/MM/dd": "2006/01/02", "DD.MM.YY": "02.01.06", "HH:MM": "15:04", "yyyy-MM-dd HHmmss": "2006-01-02 150405",
		"%F %T": "2006-01-02 15:04:05", "2006-MM": "2006-01",
	} {
		problem, doubt := layoutProblem(layout)
		if meant == "" && problem != "" || meant != "" && !strings.Contains(problem, `"`+meant+`"`) {
			t.Errorf("%s: %q, want %q", layout, problem, meant)
		}
		if doubt != (layout == "2006-MM") {
			t.Errorf("%s: doubt %t", layout, doubt)
		}
	}
	if problem, doubt := layoutProblem("today"); problem == "" || !doubt {
		t.Errorf("today: %q, %t", problem, doubt)
	}
}

// TestBuiltins: what the parser takes for a function of Go's templates is one.
func TestBuiltins(t *testing.T) {
	t.Parallel()
	for name := range builtins() {
		if _, err := template.New("").Parse("{{ " + name + " }}"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCompilerShares: equal texts of several tasks are parsed once, and each
// still names its own parameter.
func TestCompilerShares(t *testing.T) {
	t.Parallel()
	var c Compiler
	for _, key := range []string{"a", "b"} {
		tmpl, err := c.Compile([]byte(`{"` + key + `":"{{ .ScheduledAt | in \"Mars\" }}"}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmpl.Render(Values{}); err == nil || !strings.Contains(err.Error(), "params."+key) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if len(c.texts) != 1 {
		t.Errorf("%d texts were parsed", len(c.texts))
	}
}
