package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// vector is one line of testdata/vectors.jsonl.
type vector struct {
	ID, Kind, Expr string
	Config         struct {
		Time    string
		N       int
		Exclude []string
	}
	Zone, After string
	Next        []string
}

func TestVectors(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	count := 0
	for lines := bufio.NewScanner(file); lines.Scan(); count++ {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			want := v.Next
			if len(want) == 0 {
				want = []string{"never"}
			}
			settings, days := v.task(t)
			text, err := json.Marshal(settings)
			if err != nil {
				t.Fatal(err)
			}
			built, err := build(string(text), zone(t, v.Zone), map[string]*calendar.Calendar{"days": days}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, built, v.After, want)
		})
	}
	if count != 8 {
		t.Errorf("%d vectors, want 8", count)
	}
}

// task turns a vector into settings and the calendar "days".
func (v vector) task(t *testing.T) (map[string]any, *calendar.Calendar) {
	t.Helper()
	closed, open := chinaDays(t)
	settings := map[string]any{"calendar": "days"}
	spec := calendar.Spec{Name: "days"}
	switch v.Kind {
	case "workday":
		settings["time"] = v.Config.Time
		spec.Weekly, spec.Closed, spec.Open = mondayToFriday, closed, open
	case "nth-workday":
		settings["mode"], settings["n"], settings["time"] = modeNth, v.Config.N, v.Config.Time
		spec.Weekly, spec.Closed, spec.Open = mondayToFriday, closed, open
	case "weekly-not-monthend":
		settings["mode"], settings["cron"] = modeCron, "0 0 9 ? * MON"
		spec.Closed = []calendar.Rule{calendar.EveryMonth(-1)}
	case "calendar":
		settings["mode"], settings["cron"] = modeCron, v.Expr
		spec.Closed = closed
		if v.Config.Exclude != nil {
			spec.Closed = rules(t, v.Config.Exclude)
		}
	default:
		t.Fatalf("unknown kind %q", v.Kind)
	}
	days, err := calendar.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return settings, days
}

func rules(t *testing.T, texts []string) []calendar.Rule {
	t.Helper()
	var rules []calendar.Rule
	for _, text := range texts {
		rule, err := calendar.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	return rules
}

// TestVectorsAreStrict makes sure that asking at the due time itself and just
// before it differ.
func TestVectorsAreStrict(t *testing.T) {
	t.Parallel()
	due := trigger(t, `{"calendar":"cn","time":"10:00"}`, "Asia/Shanghai")
	at := time.Date(2026, 2, 14, 2, 0, 0, 0, time.UTC)
	for after, want := range map[time.Time]time.Time{
		at.Add(-time.Nanosecond): at,
		at:                       at.AddDate(0, 0, 10),
		at.Add(time.Nanosecond):  at.AddDate(0, 0, 10),
	} {
		got, err := due.Next(t.Context(), after)
		if err != nil || !got.Equal(want) {
			t.Errorf("after %s: got %s, %v, want %s", after, got, err, want)
		}
	}
}
