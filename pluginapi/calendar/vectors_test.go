package calendar_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
	"github.com/axsched/ax/pluginapi/cron"
)

// vector is one line of testdata/vectors.jsonl: a cron expression within a
// calendar.
type vector struct {
	ID, Kind, Expr string
	Config         struct{ Exclude []string }
	Zone, After    string
	Next           []string
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
			v.run(t)
		})
	}
	if count != 4 {
		t.Errorf("%d vectors, want 4", count)
	}
}

func (v vector) run(t *testing.T) {
	t.Helper()
	after, err := time.Parse(time.RFC3339, v.After)
	if err != nil {
		t.Fatal(err)
	}
	filter := v.filter(t)
	for i := range len(v.Next) + 1 {
		got, err := filter.Next(after)
		if err != nil {
			t.Fatal(err)
		}
		if i == len(v.Next) {
			if len(v.Next) == 0 && !got.IsZero() {
				t.Errorf("got %s, want never", got)
			}
			return
		}
		if text := got.Format(time.RFC3339); text != v.Next[i] {
			t.Fatalf("time %d: got %s, want %s", i+1, text, v.Next[i])
		}
		after = got
	}
}

func (v vector) filter(t *testing.T) calendar.Filter {
	t.Helper()
	zone, err := time.LoadLocation(v.Zone)
	if err != nil {
		t.Fatal(err)
	}
	expr := v.Expr
	if v.Kind == "weekly-not-monthend" {
		expr = "0 0 9 ? * MON"
	}
	schedule, err := cron.Parse(expr, cron.Options{Location: zone})
	if err != nil {
		t.Fatal(err)
	}
	days, err := calendar.New(calendar.Spec{Name: "days", Closed: v.closed(t)})
	if err != nil {
		t.Fatal(err)
	}
	return calendar.Filter{
		Calendar: days, OnClosed: calendar.Skip, Zone: zone,
		Times: func(after time.Time) (time.Time, error) { return schedule.Next(after), nil },
	}
}

func (v vector) closed(t *testing.T) []calendar.Rule {
	t.Helper()
	if v.Kind == "weekly-not-monthend" {
		return []calendar.Rule{calendar.EveryMonth(-1)}
	}
	if v.Config.Exclude == nil { // the days off of China's list, without its make-up workdays
		file, err := os.Open("testdata/cn-2024-2026.csv")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		closed, _, err := calendar.ParseCSV(file, "cn.csv")
		if err != nil {
			t.Fatal(err)
		}
		return closed
	}
	var rules []calendar.Rule
	for _, text := range v.Config.Exclude {
		rule, err := calendar.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	return rules
}
