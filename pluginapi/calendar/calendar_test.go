package calendar

import (
	"os"
	"strings"
	"testing"
	"time"
)

var mondayToFriday = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}

func build(t *testing.T, spec Spec) *Calendar {
	t.Helper()
	c, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rule(t *testing.T, text, name string) Rule {
	t.Helper()
	r, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	r.Name = name
	return r
}

// china is Monday to Friday with China's published days of 2024 to 2026.
func china(t *testing.T) *Calendar {
	t.Helper()
	file, err := os.Open("testdata/cn-2024-2026.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	closed, open, err := ParseCSV(file, "cn.csv")
	if err != nil {
		t.Fatal(err)
	}
	return build(t, Spec{Name: "cn", Weekly: mondayToFriday, Closed: closed, Open: open})
}

func TestIsOpen(t *testing.T) {
	t.Parallel()
	base := build(t, Spec{
		Name:   "base",
		Weekly: mondayToFriday,
		Closed: []Rule{rule(t, "2026-05-01..2026-05-05", "May"), rule(t, "12-25", "Christmas"), rule(t, "02-29", "leap day")},
		Open:   []Rule{rule(t, "2026-05-04", "make-up")},
	})
	company := build(t, Spec{
		Name:    "company",
		Closed:  []Rule{rule(t, "2026-05-04", "outing"), rule(t, "day -1", "stock-taking")},
		Open:    []Rule{rule(t, "2026-12-25", "on duty")},
		Extends: []*Calendar{base},
	})
	saturdays := build(t, Spec{Name: "saturdays", Weekly: []time.Weekday{time.Saturday}, Extends: []*Calendar{base}})
	onlyRules := build(t, Spec{Name: "only rules", Weekly: []time.Weekday{}, Open: []Rule{rule(t, "day 15", "")}})
	tests := []struct {
		calendar *Calendar
		date     string
		want     bool
	}{
		{base, "2026-04-30", true},
		{base, "2026-05-01", false},
		{base, "2026-05-04", true}, // open wins within a layer
		{base, "2026-05-05", false},
		{base, "2026-05-09", false}, // a Saturday
		{base, "2025-12-25", false},
		{base, "2024-02-29", false}, // 29 February in a leap year
		{base, "2023-02-28", true},  // and no substitute in others
		{base, "2023-03-01", true},
		{company, "2026-05-01", false}, // from base
		{company, "2026-05-04", false}, // closed again above the open rule
		{company, "2026-12-25", true},  // opened above the yearly rule
		{company, "2027-12-24", true},
		{company, "2026-08-31", false}, // last day of the month, a Monday
		{company, "2024-02-29", false},
		{company, "2026-06-29", true},
		{company, "2026-05-09", false}, // inherits the weekly pattern
		{saturdays, "2026-05-09", true},
		{saturdays, "2026-05-08", false}, // replaces the weekly pattern
		{saturdays, "2026-05-02", false}, // a rule below wins over a pattern above
		{onlyRules, "2026-08-15", true},
		{onlyRules, "2026-08-14", false},
		{build(t, Spec{Name: "empty"}), "2026-08-15", true},
	}
	for _, tt := range tests {
		if got := tt.calendar.IsOpen(date(t, tt.date)); got != tt.want {
			t.Errorf("%s: %s open = %v, want %v", tt.calendar.Name(), tt.date, got, tt.want)
		}
	}
}

func TestSharedAncestorIsNotPutInTwice(t *testing.T) {
	t.Parallel()
	base := build(t, Spec{Name: "base", Closed: []Rule{rule(t, "2026-10-01", "")}})
	opens := build(t, Spec{Name: "opens", Open: []Rule{rule(t, "2026-10-01", "")}, Extends: []*Calendar{base}})
	other := build(t, Spec{Name: "other", Extends: []*Calendar{base}})
	both := build(t, Spec{Name: "both", Extends: []*Calendar{opens, other}})
	if !both.IsOpen(date(t, "2026-10-01")) {
		t.Error("the shared ancestor closed the day again")
	}
}

func TestLaterParentWins(t *testing.T) {
	t.Parallel()
	day := rule(t, "2026-10-01", "")
	closes := build(t, Spec{Name: "closes", Closed: []Rule{day}})
	opens := build(t, Spec{Name: "opens", Open: []Rule{day}})
	for _, tt := range []struct {
		parents []*Calendar
		want    bool
	}{{[]*Calendar{closes, opens}, true}, {[]*Calendar{opens, closes}, false}} {
		c := build(t, Spec{Name: "child", Extends: tt.parents})
		if got := c.IsOpen(day.From); got != tt.want {
			t.Errorf("parents %s, %s: open = %v, want %v", tt.parents[0].Name(), tt.parents[1].Name(), got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	company := build(t, Spec{
		Name:    "company",
		Closed:  []Rule{rule(t, "2026-07-01..2026-07-31", "summer break"), rule(t, "2026-07-15", "founder's day"), rule(t, "day 2", "")},
		Extends: []*Calendar{china(t)},
	})
	tests := []Day{
		{Date: date(t, "2026-02-14"), Open: true, Known: true, ByRule: true, Reason: "春节", Source: "cn.csv", Layer: "cn"},
		{Date: date(t, "2026-02-15"), Open: false, Known: true, ByRule: true, Reason: "春节", Source: "cn.csv", Layer: "cn"},
		{Date: date(t, "2026-02-28"), Open: true, Known: true, ByRule: true, Reason: "春节", Source: "cn.csv", Layer: "cn"},
		{Date: date(t, "2026-03-07"), Open: false, Known: true, Reason: "weekly pattern: Saturday is closed", Layer: "cn"},
		{Date: date(t, "2026-03-09"), Open: true, Known: true, Reason: "weekly pattern: Monday is open", Layer: "cn"},
		{Date: date(t, "2027-03-01"), Open: true, Known: false, Reason: "weekly pattern: Monday is open", Layer: "cn"},
		{Date: date(t, "2026-07-14"), Open: false, Known: true, ByRule: true, Reason: "summer break", Layer: "company"},
		{Date: date(t, "2026-07-15"), Open: false, Known: true, ByRule: true, Reason: "founder's day", Layer: "company"},
		{Date: date(t, "2026-07-16"), Open: false, Known: true, ByRule: true, Reason: "summer break", Layer: "company"},
		{Date: date(t, "2026-06-02"), Open: false, Known: true, ByRule: true, Reason: "day 2", Layer: "company"},
	}
	for _, want := range tests {
		if got := company.Explain(want.Date); got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	empty := build(t, Spec{Name: "empty"})
	if got := empty.Explain(date(t, "2026-01-01")).Reason; got != "no weekly pattern: every day is open" {
		t.Errorf("reason without a pattern: %q", got)
	}
	if got, want := strings.Join(company.RuleNames(), " "), "founder's day summer break"; !strings.HasPrefix(got, want) || !strings.Contains(got, "国庆节、中秋节") {
		t.Errorf("rule names: %s", got)
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	listed := func(years ...int) *Calendar {
		var closed []Rule
		for _, year := range years {
			r := OnDate(Date{Year: year, Month: time.May, Day: 1})
			r.Covers = year
			closed = append(closed, r)
		}
		return build(t, Spec{Name: "listed", Closed: closed})
	}
	over := func(parents ...*Calendar) *Calendar {
		return build(t, Spec{Name: "child", Closed: []Rule{rule(t, "2031-01-01", "inline")}, Extends: parents})
	}
	tests := []struct {
		name        string
		calendar    *Calendar
		first, last int
		bounded     bool
		known       map[int]bool
	}{
		{"rules without a list", over(), 0, 0, false, map[int]bool{1990: true, 2031: true}},
		{"china", china(t), 2024, 2026, true, map[int]bool{2023: false, 2024: true, 2026: true, 2027: false}},
		{"a year missing between", listed(2024, 2026), 2024, 2026, true, map[int]bool{2024: true, 2025: false, 2026: true}},
		{"inherited", over(listed(2025)), 2025, 2025, true, map[int]bool{2025: true, 2031: false}},
		{"two lists", over(listed(2024, 2025, 2026), listed(2025, 2026, 2027)), 2025, 2026, true, map[int]bool{2024: false, 2025: true, 2027: false}},
		{"no year in common", over(listed(2024), listed(2026)), 0, 0, true, map[int]bool{2024: false, 2025: false, 2026: false}},
	}
	for _, tt := range tests {
		first, last, bounded := tt.calendar.Coverage()
		if first != tt.first || last != tt.last || bounded != tt.bounded {
			t.Errorf("%s: coverage %d, %d, %v", tt.name, first, last, bounded)
		}
		for year, want := range tt.known {
			if got := tt.calendar.Explain(Date{Year: year, Month: time.June, Day: 1}).Known; got != want {
				t.Errorf("%s: %d known = %v, want %v", tt.name, year, got, want)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec Spec
		want string
	}{
		"no name":        {Spec{}, "name is empty"},
		"bad text":       {Spec{Name: "a\xff"}, "UTF-8"},
		"weekday":        {Spec{Name: "a", Weekly: []time.Weekday{7}}, "no weekday 7"},
		"zero rule":      {Spec{Name: "a", Closed: []Rule{{}}}, "closed days: rule 0000-00-00"},
		"30 February":    {Spec{Name: "a", Open: []Rule{EveryYear(time.February, 30)}}, "open days: yearly rule 02-30"},
		"day 0":          {Spec{Name: "a", Closed: []Rule{EveryMonth(0)}}, "got 0"},
		"day 32":         {Spec{Name: "a", Closed: []Rule{EveryMonth(-32)}}, "got -32"},
		"backwards":      {Spec{Name: "a", Closed: []Rule{Between(date(t, "2026-01-02"), date(t, "2026-01-01"))}}, "ends before it begins"},
		"unknown kind":   {Spec{Name: "a", Closed: []Rule{{Kind: 9}}}, "unknown kind"},
		"nil parent":     {Spec{Name: "a", Extends: []*Calendar{nil}}, "is nil"},
		"too many rules": {Spec{Name: "a", Closed: make([]Rule, maxRules+1)}, "too many"},
		"long name":      {Spec{Name: "a", Closed: []Rule{rule(t, "12-25", strings.Repeat("x", maxNameBytes+1))}}, "too long"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
	chain := build(t, Spec{Name: "0"})
	for range maxLayers - 1 {
		chain = build(t, Spec{Name: "n", Extends: []*Calendar{chain}})
	}
	if _, err := New(Spec{Name: "one too many", Extends: []*Calendar{chain}}); err == nil {
		t.Error("a chain of any length was accepted")
	}
}

func BenchmarkIsOpen(b *testing.B) {
	closed := make([]Rule, 0, 60)
	for i := range cap(closed) {
		closed = append(closed, OnDate(Date{Year: 2026, Month: time.January, Day: 1}.AddDays(i*20)))
	}
	c, err := New(Spec{Name: "bench", Weekly: mondayToFriday, Closed: closed})
	if err != nil {
		b.Fatal(err)
	}
	d := Date{Year: 2027, Month: time.June, Day: 3}
	for b.Loop() {
		c.IsOpen(d)
	}
}
