package trigger

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// vector is a line of testdata/vectors.jsonl.
type vector struct {
	ID, Kind, Expr, Zone string
	After                time.Time
	Next                 []time.Time
	Config               struct {
		Every           string
		Anchor          time.Time
		Exclude         []string
		ExcludeCalendar string `json:"exclude_calendar"`
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, v := range readVectors(t) {
		seen[v.Kind]++
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			schedule, calendars := v.schedule(t)
			if strings.HasSuffix(v.Kind, "-error") {
				if err := Check(schedule, "task", calendars); err == nil {
					t.Fatal("Check found no fault")
				}
				return
			}
			trig, err := Compile(Spec{Schedule: schedule, Task: "task", Calendars: calendars})
			if err != nil {
				t.Fatal(err)
			}
			// One more than expected where the answer is "never".
			got, exhausted, err := trig.Next(t.Context(), v.After, time.Time{}, max(1, len(v.Next)))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, v.Next, time.Time.Equal) {
				t.Errorf("got  %v\nwant %v", got, v.Next)
			}
			if exhausted != (len(v.Next) == 0) {
				t.Errorf("exhausted = %v", exhausted)
			}
		})
	}
	for kind, least := range map[string]int{
		"cron": 57, "cron-error": 16, "cron-never": 3, "interval": 2, "interval-error": 2, "calendar": 3,
	} {
		if seen[kind] != least {
			t.Errorf("%d vectors of kind %s, want %d", seen[kind], kind, least)
		}
	}
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	file, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var vectors []vector
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func (v vector) schedule(t *testing.T) (ax.Schedule, map[string]*calendar.Calendar) {
	t.Helper()
	s := ax.Schedule{Cron: v.Expr, Timezone: v.Zone}
	if v.Config.Every != "" {
		every, err := time.ParseDuration(v.Config.Every)
		if err != nil {
			t.Fatal(err)
		}
		s.Every, s.Anchor = every, v.Config.Anchor
	}
	closed := v.Config.Exclude
	if v.Config.ExcludeCalendar != "" {
		closed = readLines(t, "testdata/"+v.Config.ExcludeCalendar+".txt")
	}
	if len(closed) == 0 {
		return s, nil
	}
	s.Calendar, s.OnClosed = "closed", ax.ClosedSkip
	return s, map[string]*calendar.Calendar{"closed": newCalendar(t, nil, closed...)}
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// newCalendar makes a calendar that is open on the weekdays (nil: all), but
// not on the closed days.
func newCalendar(t testing.TB, weekdays []time.Weekday, closed ...string) *calendar.Calendar {
	t.Helper()
	spec := calendar.Spec{Name: "test", Weekly: weekdays}
	for _, text := range closed {
		rule, err := calendar.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		spec.Closed = append(spec.Closed, rule)
	}
	cal, err := calendar.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return cal
}
