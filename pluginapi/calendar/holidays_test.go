package calendar

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

type parser func(io.Reader, string) (closed, open []Rule, err error)

// covered lists the years that the rules cover, as they come, each once.
func covered(rules []Rule) []int {
	years := []int{}
	for _, r := range rules {
		years = append(years, r.Covers)
	}
	return slices.Compact(years)
}

func TestParseCSV(t *testing.T) {
	t.Parallel()
	text := "\ufeff# national days\r\nKind,date,NAME,note\r\noff, 2026-01-01 ,\"New Year, day 1\",x\r\nwork,2026-01-04,New Year,\r\noff,2026-12-31,New Year 2027,\r\n"
	closed, open, err := ParseCSV(strings.NewReader(text), "days.csv")
	if err != nil {
		t.Fatal(err)
	}
	if len(closed) != 2 || len(open) != 1 {
		t.Fatalf("closed %v, open %v", closed, open)
	}
	want := Rule{From: date(t, "2026-01-01"), To: date(t, "2026-01-01"), Name: "New Year, day 1", Source: "days.csv", Covers: 2026}
	if closed[0] != want {
		t.Errorf("got %+v, want %+v", closed[0], want)
	}
	if got := covered(closed); !slices.Equal(got, []int{2026, 0}) {
		t.Errorf("covers %v: 31 December says nothing about its own year", got)
	}
	if open[0].From != date(t, "2026-01-04") {
		t.Errorf("open: %v", open)
	}
}

func TestParseCSVChina(t *testing.T) {
	t.Parallel()
	cn := china(t)
	counts := map[string]int{}
	for d := date(t, "2023-12-01"); d.Year < 2028; d = d.AddDays(1) {
		if day := cn.Explain(d); day.ByRule {
			counts[fmt.Sprint(d.Year, day.Open)]++
		}
	}
	want := map[string]int{"2024 false": 28, "2024 true": 8, "2025 false": 28, "2025 true": 5, "2026 false": 33, "2026 true": 6}
	for key, n := range want {
		if counts[key] != n {
			t.Errorf("%s: %d days, want %d", key, counts[key], n)
		}
	}
	if len(counts) != len(want) {
		t.Errorf("days by year: %v", counts)
	}
}

func TestParseJSON(t *testing.T) {
	t.Parallel()
	days := `[{"name":"元旦","date":"2024-12-31","isOffDay":true},{"name":"元旦","date":"2025-01-01","isOffDay":true},{"name":"元旦","date":"2025-01-04","isOffDay":false}]`
	tests := []struct {
		name, text string
		covers     []int
	}{
		{"list", days, []int{0, 2025}},
		{"year file", `{"$schema":"x","year":2025,"papers":["y"],"days":` + days + `}`, []int{2025}},
		{"without a year", "\n" + `{"days":` + days + `}`, []int{0, 2025}},
	}
	for _, tt := range tests {
		closed, open, err := ParseJSON(strings.NewReader(tt.text), "2025.json")
		if err != nil || len(closed) != 2 || len(open) != 1 {
			t.Errorf("%s: closed %v, open %v, error %v", tt.name, closed, open, err)
			continue
		}
		if got := covered(closed); !slices.Equal(got, tt.covers) {
			t.Errorf("%s: covers %v, want %v", tt.name, got, tt.covers)
		}
		if closed[0].Name != "元旦" || closed[0].Source != "2025.json" || open[0].From != date(t, "2025-01-04") {
			t.Errorf("%s: closed %+v, open %+v", tt.name, closed, open)
		}
	}
	if closed, open, err := ParseJSON(strings.NewReader(`{"year":2027,"days":[]}`), "2027.json"); err != nil || closed != nil || open != nil {
		t.Errorf("a year not yet published: closed %v, open %v, error %v", closed, open, err)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parse parser
		text  string
		want  string
	}{
		{"csv empty", ParseCSV, "", "days.txt: line 1"},
		{"csv without columns", ParseCSV, "# c\n2026-01-01,x,off\n", "line 2: expected the column names"},
		{"csv bad date", ParseCSV, "date,name,kind\n2026-01-01,x,off\n2026-02-30,x,off\n", "line 3: expected a date"},
		{"csv bad kind", ParseCSV, "date,name,kind\n2026-01-01,x,OFF\n", `line 2: expected the kind off or work, got "OFF"`},
		{"csv too few", ParseCSV, "date,name,kind\n2026-01-01\n", "line 2"},
		{"csv both", ParseCSV, "date,kind\n2026-01-01,off\n2026-01-01,work\n", "line 3: 2026-01-01 is listed both"},
		{"csv gbk", ParseCSV, "date,name,kind\n2026-01-01,\xd4\xaa\xb5\xa9,off\n", "line 2: the name"},
		{"csv quote", ParseCSV, "date,kind\n2026-01-01,\"off\n", "line 2"},
		{"csv rows", ParseCSV, "date,kind\n" + strings.Repeat("2026-01-01,off\n", maxFileRows+1), "line 20002: more than 20000 days"},
		{"csv bytes", ParseCSV, "date,kind\n" + strings.Repeat("# x\n", maxFileBytes/4), "larger than"},
		{"csv long name", ParseCSV, "date,name,kind\n2026-01-01," + strings.Repeat("x", maxNameBytes+1) + ",off\n", "line 2: name"},
		{"json empty", ParseJSON, "", "line 1"},
		{"json syntax", ParseJSON, "{\n\"year\": 2026,\n\"days\": [}", "line 3"},
		{"json type", ParseJSON, "[\n{\"date\": 5}]", "line 2"},
		{"json other object", ParseJSON, `{"holidays":[]}`, "expected {"},
		{"json date", ParseJSON, `[{"date":"2026-01-01","isOffDay":true},{"date":"2026-1-1","isOffDay":true}]`, "day 2 of the list: expected a date"},
		{"json no kind", ParseJSON, `[{"date":"2026-01-01"}]`, "isOffDay is missing"},
		{"json wrong year", ParseJSON, `{"year":2026,"days":[{"date":"2062-01-01","isOffDay":true}]}`, "far from the year 2026"},
		{"json both", ParseJSON, `[{"date":"2026-01-01","isOffDay":true},{"date":"2026-01-01","isOffDay":false}]`, "listed both"},
		{"json after the end", ParseJSON, "[]\n[]", "line 2"},
		{"json bytes", ParseJSON, strings.Repeat(" ", maxFileBytes+1), "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			closed, open, err := tt.parse(strings.NewReader(tt.text), "days.txt")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if closed != nil || open != nil {
				t.Errorf("rules beside an error: %v, %v", closed, open)
			}
		})
	}
}
