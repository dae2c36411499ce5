package main

import (
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// days returns noon of some days of March.
func days(numbers ...int) []time.Time {
	var all []time.Time
	for _, n := range numbers {
		all = append(all, time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC))
	}
	return all
}

// daily fires each noon up to a day of March.
func daily(last int) next {
	return func(after time.Time) time.Time {
		if after.Day() >= last {
			return time.Time{}
		}
		return after.AddDate(0, 0, 1)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	never := time.Time{}
	for _, tc := range []struct {
		name   string
		run    next
		want   []time.Time
		others [][]time.Time
		result verdict
		note   string
	}{
		{"right", daily(9), days(2, 3, 4), nil, right, ""},
		{"right to the end", daily(3), append(days(2, 3), never), nil, right, ""},
		{"other rule", daily(9), days(2, 4), [][]time.Time{days(3), days(2, 3)}, otherRule, ""},
		{"other time", daily(9), days(2, 4), [][]time.Time{days(3)}, wrong, "after 2026-03-02 12:00:00 UTC comes 2026-03-03 12:00:00 UTC, not 2026-03-04"},
		{"ends too early", daily(2), days(2, 3), nil, wrong, "after 2026-03-02 12:00:00 UTC comes nothing, not 2026-03-03"},
		{"does not end", daily(9), append(days(2, 3), never), nil, wrong, "comes 2026-03-04 12:00:00 UTC, not nothing"},
		{"does not move", func(at time.Time) time.Time { return at }, days(2), nil, wrong, "stays at 2026-03-01"},
		{"panics", func(time.Time) time.Time { panic("oh") }, days(2), nil, wrong, "panics: oh"},
	} {
		result, note := judge(tc.run, noon, tc.want, tc.others...)
		if result != tc.result || !strings.Contains(note, tc.note) || (note == "") != (tc.note == "") {
			t.Errorf("%s: %d %q, want %d %q", tc.name, result, note, tc.result, tc.note)
		}
	}
}

// TestAxKnowsAllAnswers: what the others are compared with is right itself, and
// no vector is passed over.
func TestAxKnowsAllAnswers(t *testing.T) {
	t.Parallel()
	ax := candidates()[:1]
	for _, set := range []struct {
		read func(string) ([]vector, error)
		n    int
	}{{bugVectors, 76}, {quartzVectors, 1445}} {
		vectors, err := set.read("../../pluginapi/cron/testdata")
		if err != nil {
			t.Fatal(err)
		}
		counts, err := scores(ax, vectors)
		if err != nil {
			t.Fatal(err)
		}
		if counts[0] != (score{right: set.n}) {
			t.Errorf("verdicts %v, want %d right ones", counts[0], set.n)
		}
	}
}

// TestKinds: every kind is read by a peer that has the right answers, else the
// table has nothing to compare.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		zone, err := time.LoadLocation(k.zone)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := enter(k, candidates(), zone)
		if err != nil {
			t.Error(err)
			continue
		}
		peers := 0
		for _, e := range entries[1:] {
			if e.verdict == right || e.verdict == otherRule {
				peers++
			}
		}
		if entries[0].verdict != right || peers == 0 {
			t.Errorf("%s: ax is judged %d, and %d peers are right", k.name, entries[0].verdict, peers)
		}
	}
}

func TestFactsAreChecked(t *testing.T) {
	t.Parallel()
	k := kinds()[0]
	k.want[4] = "2026-01-01 00:00:26"
	if _, err := enter(k, candidates(), time.UTC); err == nil {
		t.Error("a wrong answer of ax passes")
	}
}
