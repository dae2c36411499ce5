package preview

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

var monday = time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC)

func workdays(t testing.TB) *calendar.Calendar {
	t.Helper()
	rule := calendar.OnDate(calendar.Date{Year: 2026, Month: time.March, Day: 5})
	rule.Name, rule.Source, rule.Covers = "Founders' Day", "days.csv", 2026
	c, err := calendar.New(calendar.Spec{Name: "work", Weekly: []time.Weekday{1, 2, 3, 4, 5}, Closed: []calendar.Rule{rule}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compile(t testing.TB, name string, s ax.Schedule) *trigger.Timetable {
	t.Helper()
	s.Timezone = "UTC"
	table, err := trigger.Compile(trigger.Spec{Schedule: s, Task: name, Calendars: map[string]*calendar.Calendar{"work": workdays(t)}, AnchorAt: monday})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestWhy(t *testing.T) {
	t.Parallel()
	day := func(d, hour int) time.Time { return time.Date(2026, time.March, d, hour, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		name string
		s    ax.Schedule
		n    int
		want []Step
	}{
		{
			"runs of what is left out are one step", ax.Schedule{Cron: "0 0 0/6 * * ?", Calendar: "work"}, 13,
			[]Step{
				{At: day(2, 6), Due: day(2, 6)}, {At: day(2, 12), Due: day(2, 12)}, {At: day(2, 18), Due: day(2, 18)},
				{At: day(3, 0), Due: day(3, 0)}, {At: day(3, 6), Due: day(3, 6)}, {At: day(3, 12), Due: day(3, 12)}, {At: day(3, 18), Due: day(3, 18)},
				{At: day(4, 0), Due: day(4, 0)}, {At: day(4, 6), Due: day(4, 6)}, {At: day(4, 12), Due: day(4, 12)}, {At: day(4, 18), Due: day(4, 18)},
				{At: day(5, 0), Last: day(5, 18), Times: 4, Verdict: trigger.VerdictClosed, Reason: "2026-03-05 is closed in work: Founders' Day, from days.csv"},
				{At: day(6, 0), Due: day(6, 0)}, {At: day(6, 6), Due: day(6, 6)},
			},
		},
		{
			"moved forward out of order: all that lead to the due time", ax.Schedule{Cron: "0 0 8 ? * SAT,SUN", Calendar: "work", OnClosed: ax.ClosedNext}, 1,
			[]Step{
				// The weekend before comes to Monday the 2nd.
				{At: time.Date(2026, time.February, 28, 8, 0, 0, 0, time.UTC), Due: day(2, 8), Verdict: trigger.VerdictMoved, Reason: "2026-02-28 is closed in work: weekly pattern: Saturday is closed"},
			},
		},
		{
			"the end is told of", ax.Schedule{Cron: "0 0 8 * * ?", Until: day(3, 9)}, 5,
			[]Step{
				{At: day(2, 8), Due: day(2, 8)}, {At: day(3, 8), Due: day(3, 8)},
				{At: day(4, 8), Verdict: trigger.VerdictOutside, Reason: "not before until, 2026-03-03T09:00:00Z"},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			table := compile(t, "t", tc.s)
			times, err := Next(t.Context(), table, monday, tc.n)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := Why(t.Context(), table, monday, times, len(times) < tc.n)
			if err != nil {
				t.Fatal(err)
			}
			if len(steps) != len(tc.want) {
				t.Fatalf("got %d steps, want %d:\n%+v", len(steps), len(tc.want), steps)
			}
			for i, want := range tc.want {
				want.Times = max(want.Times, 1)
				if want.Verdict == "" {
					want.Verdict = trigger.VerdictDue
				}
				if steps[i] != want {
					t.Errorf("step %d: got\n%+v\nwant\n%+v", i, steps[i], want)
				}
			}
		})
	}
}

// TestWhyEnds: a schedule that is never due has a trail without an end.
func TestWhyEnds(t *testing.T) {
	t.Parallel()
	table := compile(t, "t", ax.Schedule{Cron: "0 * * ? * SAT", Calendar: "work"})
	times, err := Next(t.Context(), table, monday, 5)
	if err != nil || len(times) > 0 {
		t.Fatal(times, err)
	}
	steps, err := Why(t.Context(), table, monday, times, true)
	if err != nil || len(steps) != afterEnd+1 || steps[0].Times != 1440 {
		t.Errorf("%d steps, %v: %+v", len(steps), err, steps)
	}
}

func TestUnlisted(t *testing.T) {
	t.Parallel()
	table := compile(t, "t", ax.Schedule{Cron: "0 0 8 4 1 ?", Calendar: "work", OnClosed: ax.ClosedNext})
	times, err := Next(t.Context(), table, monday.AddDate(-1, 0, 0), 3)
	if err != nil {
		t.Fatal(err)
	}
	got := Unlisted(table, times)
	if len(got) != 2 || got[0].At.Year() != 2027 || got[0].Calendars[0] != "work" {
		t.Errorf("of %v: %+v", times, got)
	}
}
