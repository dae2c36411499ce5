package trigger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// steps walks the candidates.
func steps(t testing.TB, trig *Timetable, after, until time.Time) []Step {
	t.Helper()
	var all []Step
	for step, err := range trig.Why(t.Context(), after, until) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, step)
	}
	return all
}

// TestWhyAgreesWithNext: the due times that the trail tells of are those that
// Next computes, whatever the schedule, and no candidate is told of twice.
func TestWhyAgreesWithNext(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, from string }{
		{"UTC", "2026-01-01"},
		{"Europe/Berlin", "2026-10-15"},
		{"America/New_York", "2026-03-01"},
		{"America/Sao_Paulo", "2018-10-28"},
		{"Australia/Lord_Howe", "2026-03-28"},
	} {
		t.Run(tc.zone, func(t *testing.T) {
			t.Parallel()
			first, err := calendar.ParseDate(tc.from)
			if err != nil {
				t.Fatal(err)
			}
			zone, err := Zone(tc.zone)
			if err != nil {
				t.Fatal(err)
			}
			draw := rand.New(rand.NewPCG(7, 8))
			for range 30 {
				s, calendars := randomBlackouts(draw, first, zone, t)
				randomRest(draw, &s, first, zone)
				compareTrail(t, draw, s, calendars, first.In(zone, 0, 0, 0))
			}
		})
	}
}

func randomRest(draw *rand.Rand, s *ax.Schedule, first calendar.Date, zone *time.Location) {
	if draw.IntN(2) == 0 {
		s.Every, s.Cron = 0, []string{"0 30 1,2,3 * * ?", "0 0/25 * * * ?", "0 0 12 * * ?", "0 15 0,2,23 ? * SAT,SUN,MON"}[draw.IntN(4)]
	}
	if s.Calendar != "" {
		s.OnClosed = []ax.OnClosed{ax.ClosedSkip, ax.ClosedPrevious, ax.ClosedNext}[draw.IntN(3)]
	}
	if draw.IntN(2) == 0 {
		s.Blackouts, s.OnBlackout = nil, ""
	}
	if draw.IntN(3) == 0 {
		s.Jitter = time.Duration(1+draw.IntN(100)) * time.Minute
	}
	if draw.IntN(3) == 0 {
		s.From = first.AddDays(draw.IntN(6)).In(zone, draw.IntN(24), 0, 0)
	}
	if draw.IntN(3) == 0 {
		s.Until = first.AddDays(6+draw.IntN(6)).In(zone, draw.IntN(24), 0, 0)
	}
}

func compareTrail(t *testing.T, draw *rand.Rand, s ax.Schedule, calendars map[string]*calendar.Calendar, start time.Time) {
	t.Helper()
	trig := compile(t, Spec{Schedule: s, Task: "t", Calendars: calendars})
	after := start.Add(time.Duration(draw.Int64N(int64(5 * 24 * time.Hour))))
	until := after.Add(time.Duration(draw.Int64N(int64(9 * 24 * time.Hour))))
	want := ask(t, trig, after, until, 1_000_000)
	var got []time.Time
	var last time.Time
	for _, step := range steps(t, trig, after, until) {
		if !last.IsZero() && !step.At.After(last) && s.Cron == "" {
			t.Fatalf("%+v\ncandidate %v after %v", s, step.At, last)
		}
		last = step.At
		isDue := step.Verdict == VerdictDue || step.Verdict == VerdictMoved
		if isDue == step.Due.IsZero() {
			t.Fatalf("verdict %s with due time %v", step.Verdict, step.Due)
		}
		if step.Verdict != VerdictDue && step.Reason() == "" {
			t.Fatalf("no reason for %s", step.Verdict)
		}
		if step.Due.After(after) && !step.Due.After(until) {
			got = append(got, step.Due)
		}
	}
	slices.SortFunc(got, time.Time.Compare)
	if len(got) > 0 || len(want) > 0 {
		sameTimes(t, fmt.Sprintf("%+v\nafter %v until %v", s, after, until), got, want)
	}
}

func TestWhyTellsReasons(t *testing.T) {
	t.Parallel()
	rule := calendar.OnDate(calendar.Date{Year: 2026, Month: time.May, Day: 1})
	rule.Name, rule.Source, rule.Covers = "Labour Day", "cn.csv", 2026
	cn, err := calendar.New(calendar.Spec{Name: "cn", Weekly: workdays, Closed: []calendar.Rule{rule}})
	if err != nil {
		t.Fatal(err)
	}
	night := []ax.Blackout{{From: 22 * time.Hour, To: 6 * time.Hour}}
	for _, tc := range []struct {
		name         string
		s            ax.Schedule
		after, until string
		want         string
	}{
		{
			"closed", ax.Schedule{Cron: "0 0 9 * * ?", Calendar: "cn"}, "2026-04-30T00:00:00Z", "2026-05-04T12:00:00Z",
			`04-30 09:00 due 04-30 09:00
05-01 09:00 closed: 2026-05-01 is closed in cn: Labour Day, from cn.csv
05-02 09:00 closed: 2026-05-02 is closed in cn: weekly pattern: Saturday is closed
05-03 09:00 closed: 2026-05-03 is closed in cn: weekly pattern: Sunday is closed
05-04 09:00 due 05-04 09:00`,
		},
		{
			"moved, two to one", ax.Schedule{Cron: "0 0 9 ? * SAT,SUN", Calendar: "cn", OnClosed: ax.ClosedNext}, "2026-05-02T12:00:00Z", "2026-05-04T12:00:00Z",
			`05-02 09:00 moved 05-04 09:00: 2026-05-02 is closed in cn: weekly pattern: Saturday is closed
05-03 09:00 merged: 2026-05-03 is closed in cn: weekly pattern: Sunday is closed; falls together with the due time 2026-05-04T09:00:00Z`,
		},
		{
			"blackout", ax.Schedule{Cron: "0 0 5,7 * * ?", Blackouts: night}, "2026-04-30T00:00:00Z", "2026-04-30T12:00:00Z",
			`04-30 05:00 blackout: blackout 22:00-06:00
04-30 07:00 due 04-30 07:00`,
		},
		{
			"put off", ax.Schedule{Cron: "0 0 5 * * ?", Blackouts: night, OnBlackout: ax.BlackoutAfter, Jitter: time.Minute}, "2026-04-30T05:30:00Z", "2026-04-30T12:00:00Z",
			`04-30 05:00 moved 04-30 06:00: blackout 22:00-06:00; put off by 45.876s of jitter`,
		},
		{
			"bounds", ax.Schedule{Cron: "0 0 5 * * ?", From: instant(t, "2026-05-05T05:00:00Z"), Until: instant(t, "2026-05-06T00:00:00Z")}, "2026-04-30T00:00:00Z", "2026-05-20T12:00:00Z",
			`04-30 05:00 outside: before from, 2026-05-05T05:00:00Z
05-05 05:00 due 05-05 05:00
05-06 05:00 outside: not before until, 2026-05-06T00:00:00Z`,
		},
		{
			"beyond what the calendar knows", ax.Schedule{Cron: "0 0 9 1-4 1 ?", Calendar: "cn"}, "2026-12-30T00:00:00Z", "2027-01-04T12:00:00Z",
			`01-01 09:00 due 01-01 09:00: beyond the known years of calendar cn: computed from its weekly pattern
01-02 09:00 closed: 2027-01-02 is closed in cn: weekly pattern: Saturday is closed; beyond the known years of calendar cn: computed from its weekly pattern
01-03 09:00 closed: 2027-01-03 is closed in cn: weekly pattern: Sunday is closed; beyond the known years of calendar cn: computed from its weekly pattern
01-04 09:00 due 01-04 09:00: beyond the known years of calendar cn: computed from its weekly pattern`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.s.Timezone = "UTC"
			trig := compile(t, Spec{Schedule: tc.s, Task: "t", Calendars: map[string]*calendar.Calendar{"cn": cn}})
			var lines []string
			for _, step := range steps(t, trig, instant(t, tc.after), instant(t, tc.until)) {
				line := step.At.Format("01-02 15:04 ") + string(step.Verdict)
				if !step.Due.IsZero() {
					line += step.Due.Format(" 01-02 15:04")
				}
				if reason := step.Reason(); reason != "" {
					line += ": " + reason
				}
				lines = append(lines, line)
			}
			if got := strings.Join(lines, "\n"); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func BenchmarkWhy(b *testing.B) {
	trig := compile(b, Spec{
		Schedule:  ax.Schedule{Cron: "0 0/5 * * * ?", Timezone: "Asia/Shanghai", Calendar: "work", OnClosed: ax.ClosedSkip},
		Calendars: map[string]*calendar.Calendar{"work": newCalendar(b, workdays)},
	})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if n == 0 {
			n = len(steps(b, trig, instant(b, "2026-01-01T00:00:00Z"), instant(b, "2026-02-01T00:00:00Z")))
		}
		n--
	}
}
