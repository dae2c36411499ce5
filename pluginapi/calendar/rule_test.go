package calendar

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestParseRule(t *testing.T) {
	t.Parallel()
	first, last := date(t, "2026-12-25"), date(t, "2027-01-06")
	tests := map[string]Rule{
		"2026-12-25":                OnDate(first),
		"2026-12-25..2027-01-06":    Between(first, last),
		" 2026-12-25 .. 2027-01-06": Between(first, last),
		"12-25":                     EveryYear(time.December, 25),
		"02-29":                     EveryYear(time.February, 29),
		"day 15":                    EveryMonth(15),
		"day -1":                    EveryMonth(-1),
	}
	for text, want := range tests {
		got, err := ParseRule(text)
		if err != nil || got != want {
			t.Errorf("ParseRule(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := ParseRule(got.String()); err != nil || again != want {
			t.Errorf("%q prints as %q, which reads as %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "2026-12-32", "02-30", "13-01", "day 0", "day 32", "day -32", "day x", "day", "2026-01-02..2026-01-01", "2026-01-01..", "..", "MON"} {
		if got, err := ParseRule(text); err == nil {
			t.Errorf("ParseRule(%q) = %+v, want an error", text, got)
		}
	}
}

func TestJoinRules(t *testing.T) {
	t.Parallel()
	stated := []Rule{
		rule(t, "2026-10-02", "a"), rule(t, "2026-10-01", "a"), rule(t, "2026-10-03..2026-10-05", "a"),
		rule(t, "2026-10-04", "a"),                   // inside the range before it
		rule(t, "2026-10-06", "b"),                   // another name
		rule(t, "2026-10-08", "a"),                   // a day between
		rule(t, "12-25", "c"), rule(t, "12-25", "c"), // the same twice
	}
	got := joinRules(stated)
	want := []Rule{rule(t, "2026-10-01..2026-10-05", "a"), rule(t, "2026-10-08", "a"), rule(t, "2026-10-06", "b"), rule(t, "12-25", "c")}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("rule %d: got %s %q, want %s %q", i, got[i], got[i].Name, want[i], want[i].Name)
		}
	}
	if stated[0].From != date(t, "2026-10-02") {
		t.Error("the caller's rules were changed")
	}
}

// TestMatchAgainstPlainLoop compares the search with asking every rule in
// turn, for overlapping ranges of all sizes.
func TestMatchAgainstPlainLoop(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	start := date(t, "2026-01-01")
	for range 200 {
		var rules []Rule
		for i := range 1 + random.IntN(12) {
			from := start.AddDays(random.IntN(120))
			r := Between(from, from.AddDays(random.IntN(1+random.IntN(40))))
			r.Name = string(rune('a' + i))
			rules = append(rules, r)
		}
		set, err := newRuleSet(rules)
		if err != nil {
			t.Fatal(err)
		}
		for offset := -2; offset < 170; offset++ {
			d := start.AddDays(offset)
			picked := false
			for _, r := range rules {
				picked = picked || !d.Before(r.From) && !d.After(r.To)
			}
			got := set.match(d, d.number())
			if (got != nil) != picked {
				t.Fatalf("%s: match %v, want %v, rules %v", d, got, picked, rules)
			}
			if got != nil && (d.Before(got.From) || d.After(got.To)) {
				t.Fatalf("%s: named rule %s, which does not pick it", d, got)
			}
		}
	}
}

func TestMonthlyRules(t *testing.T) {
	t.Parallel()
	c := build(t, Spec{Name: "m", Closed: []Rule{EveryMonth(-1), EveryMonth(31), EveryMonth(-31), EveryMonth(7)}})
	closed := map[string]bool{
		"2026-02-28": true, "2024-02-28": false, "2024-02-29": true, "2026-04-30": true,
		"2026-01-01": true,  // 31 days long, so its first is the 31st from the end
		"2026-04-01": false, // no 31st from the end
		"2026-03-07": true, "2026-03-31": true, "2026-03-30": false,
	}
	for text, want := range closed {
		if got := !c.IsOpen(date(t, text)); got != want {
			t.Errorf("%s closed = %v, want %v", text, got, want)
		}
	}
}
