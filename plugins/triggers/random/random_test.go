package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
)

func trigger(t *testing.T, settings, zone string, seed uint64) pluginapi.Trigger {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	built, err := component().Build(json.RawMessage(settings), pluginapi.Env{Zone: loc, Seed: seed, Calendars: calendars(t)})
	if err != nil {
		t.Fatal(err)
	}
	return built.(pluginapi.Trigger)
}

func calendars(t *testing.T) map[string]*calendar.Calendar {
	t.Helper()
	all := map[string]*calendar.Calendar{}
	for name, open := range map[string][]time.Weekday{"closed": {}, "weekend": {time.Saturday, time.Sunday}} {
		c, err := calendar.New(calendar.Spec{Name: name, Weekly: open})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = c
	}
	return all
}

// take asks n times, each time after the last answer.
func take(t *testing.T, trigger pluginapi.Trigger, after time.Time, n int) []time.Time {
	t.Helper()
	var times []time.Time
	for range n {
		at, err := trigger.Next(t.Context(), after)
		if err != nil || !at.After(after) {
			t.Fatalf("after %s: got %s, %v", after, at, err)
		}
		times = append(times, at)
		after = at
	}
	return times
}

// TestPinnedDraws holds the documented draw to values computed apart from
// this code: they must never change, or running tasks would fire twice or not
// at all on the day of an upgrade.
func TestPinnedDraws(t *testing.T) {
	t.Parallel()
	tests := []struct {
		settings, zone string
		seed           uint64
		want           []string
	}{
		{
			`{"from":"01:00","to":"05:00"}`, "Asia/Shanghai", 42,
			[]string{"2026-01-01T01:13:29+08:00", "2026-01-02T04:20:15+08:00", "2026-01-03T01:46:19+08:00"},
		},
		{
			`{"per":"week","from":"22:00","to":"02:00"}`, "UTC", 42,
			[]string{"2026-01-06T00:39:16Z", "2026-01-17T01:08:11Z"},
		},
		{
			`{"per":"month","from":"09:30","to":"17:00"}`, "UTC", 7,
			[]string{"2026-01-19T09:34:11Z", "2026-02-13T16:54:33Z", "2026-03-03T12:45:17Z"},
		},
	}
	for _, tt := range tests {
		due := trigger(t, tt.settings, tt.zone, tt.seed)
		for i, got := range take(t, due, time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC), len(tt.want)) {
			if text := got.Format(time.RFC3339); text != tt.want[i] {
				t.Errorf("%s: time %d is %s, want %s", tt.settings, i+1, text, tt.want[i])
			}
		}
	}
}

// TestSameAnswerFromAnywhere asks another instance from many instants and in
// no order: each time of the sequence is the answer for all instants since
// the one before it.
func TestSameAnswerFromAnywhere(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		`{"from":"01:00","to":"05:00"}`,
		`{"from":"22:00","to":"21:59:59"}`,
		`{"per":"week","from":"23:00","to":"01:00","calendar":"weekend"}`,
		`{"per":"month","from":"00:00","to":"23:59:59"}`,
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			const zone = "America/New_York"
			after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			other := trigger(t, settings, zone, 5)
			for _, want := range take(t, trigger(t, settings, zone, 5), after, 100) {
				for _, ask := range []time.Time{want.Add(-1), after.Add(want.Sub(after) / 3), after.Add(want.Sub(after) / 2), after} {
					got, err := other.Next(t.Context(), ask)
					if err != nil || !got.Equal(want) {
						t.Fatalf("after %s: got %s, %v, want %s", ask, got, err, want)
					}
				}
				after = want
			}
		})
	}
}

// TestOncePerPeriodInWindow checks the three years 2024 to 2026: one time for each period, and
// inside the window by the local clock.
func TestOncePerPeriodInWindow(t *testing.T) {
	t.Parallel()
	week := func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, week) }
	tests := []struct {
		settings string
		zone     string
		period   func(window time.Time) string // of the day on which the window begins
		n        int
		inside   func(clock string) bool
		crossing bool
	}{
		{`{"from":"01:00","to":"05:00"}`, "Europe/Berlin", func(t time.Time) string { return t.Format(time.DateOnly) }, 1096,
			func(c string) bool { return c >= "01:00:00" && c < "05:00:00" }, false},
		{`{"from":"22:30","to":"03:00"}`, "Europe/Berlin", func(t time.Time) string { return t.Format(time.DateOnly) }, 1096,
			func(c string) bool { return c >= "22:30:00" || c < "03:00:00" }, true},
		{`{"per":"week","from":"08:00","to":"09:00"}`, "Asia/Shanghai", week, 156,
			func(c string) bool { return c >= "08:00:00" && c < "09:00:00" }, false},
		{`{"per":"week","from":"20:00","to":"04:00"}`, "UTC", week, 156,
			func(c string) bool { return c >= "20:00:00" || c < "04:00:00" }, true},
		{`{"per":"month","from":"12:00","to":"12:01"}`, "UTC", func(t time.Time) string { return t.Format("2006-01") }, 36,
			func(c string) bool { return strings.HasPrefix(c, "12:00:") }, false},
	}
	for _, tt := range tests {
		t.Run(tt.settings, func(t *testing.T) {
			t.Parallel()
			due := trigger(t, tt.settings, tt.zone, 11)
			seen := map[string]bool{}
			times := take(t, due, time.Date(2023, 12, 31, 12, 0, 0, 0, time.UTC), tt.n)
			for _, at := range times {
				if clock := at.Format(time.TimeOnly); !tt.inside(clock) {
					t.Errorf("%s is outside the window", at)
				}
				window := at
				if tt.crossing && at.Hour() < 12 {
					window = at.AddDate(0, 0, -1)
				}
				key := tt.period(window)
				if seen[key] {
					t.Errorf("period %s has two times", key)
				}
				seen[key] = true
			}
			if last := times[tt.n-1]; !last.Before(time.Date(2027, 1, 1, 6, 0, 0, 0, time.UTC)) {
				t.Errorf("periods were left out: time %d is %s", tt.n, last)
			}
		})
	}
}

func TestClockChanges(t *testing.T) {
	t.Parallel()
	// The window 02:00-03:00 does not exist on 29 March 2026 in Berlin.
	gap := trigger(t, `{"from":"02:00","to":"03:00"}`, "Europe/Berlin", 3)
	got := take(t, gap, time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), 2)
	if want := "2026-03-29T03:00:00+02:00"; got[0].Format(time.RFC3339) != want || got[1].Day() != 30 {
		t.Errorf("got %v, want %s and the day after", got, want)
	}
	// It lasts two hours on 25 October; over many seeds both are drawn from.
	showings := map[string]int{}
	for seed := range uint64(200) {
		overlap := trigger(t, `{"from":"02:00","to":"03:00"}`, "Europe/Berlin", seed)
		at := take(t, overlap, time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), 1)[0]
		showings[at.Format("02 15 -0700")]++
	}
	if first, second := showings["25 02 +0200"], showings["25 02 +0100"]; first+second != 200 || first < 60 || second < 60 {
		t.Errorf("showings drawn: %v", showings)
	}
}

// TestUniform compares draws with an even spread by the chi-square test. The
// seeds are fixed, so the outcome is too.
func TestUniform(t *testing.T) {
	t.Parallel()
	const days = 20_000
	tests := []struct {
		name, settings string
		n, bins        int
		bin            func(time.Time) int
		limit          float64 // exceeded with probability 0.001 by chance
	}{
		{"time of day", `{"from":"01:00","to":"05:00"}`, days, 24, func(t time.Time) int { return ((t.Hour()-1)*60 + t.Minute()) / 10 }, 49.73},
		{"second", `{"from":"01:00","to":"05:00"}`, days, 60, time.Time.Second, 98.32},
		{"weekday", `{"per":"week","from":"01:00","to":"05:00"}`, 5_000, 7, func(t time.Time) int { return int(t.Weekday()) }, 22.46},
		{"open weekday", `{"per":"week","from":"01:00","to":"05:00","calendar":"weekend"}`, 5_000, 2, func(t time.Time) int { return int(t.Weekday()) / 6 }, 10.83},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			counts := make([]int, tt.bins)
			for _, at := range take(t, trigger(t, tt.settings, "UTC", 99), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), tt.n) {
				counts[tt.bin(at)]++
			}
			expected, chi := float64(tt.n)/float64(tt.bins), 0.0
			for _, count := range counts {
				chi += (float64(count) - expected) * (float64(count) - expected) / expected
			}
			if chi > tt.limit {
				t.Errorf("chi-square %.1f exceeds %.1f: %v", chi, tt.limit, counts)
			}
		})
	}
}

func TestSeedsDiffer(t *testing.T) {
	t.Parallel()
	after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := map[time.Time]bool{}
	for seed := range uint64(100) {
		seen[take(t, trigger(t, `{"from":"00:00","to":"23:59"}`, "UTC", seed), after, 1)[0]] = true
	}
	if len(seen) < 95 {
		t.Errorf("100 seeds give only %d times", len(seen))
	}
}

func TestCalendar(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	weekend := trigger(t, `{"from":"23:00","to":"01:00","calendar":"weekend"}`, "UTC", 1)
	for _, at := range take(t, weekend, start, 50) {
		if day := at.Add(-2 * time.Hour).Weekday(); day != time.Saturday && day != time.Sunday {
			t.Errorf("the window of %s begins on a %s", at, day)
		}
	}
	for _, per := range []string{"day", "week", "month"} {
		closed := trigger(t, `{"from":"01:00","to":"02:00","calendar":"closed","per":"`+per+`"}`, "UTC", 1)
		if at, err := closed.Next(t.Context(), start); err != nil || !at.IsZero() {
			t.Errorf("per %s, all closed: got %s, %v", per, at, err)
		}
	}
}

func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		`{}`:                                           "from",
		`{"from":"01:00"}`:                             "to",
		`{"from":"1:00","to":"02:00"}`:                 "from: expected a time of day",
		`{"from":"01:00","to":"24:00"}`:                "to: expected a time of day",
		`{"from":"01:00","to":"01:00:00"}`:             "window is empty",
		`{"from":"01:00","to":"02:00","per":"year"}`:   "per",
		`{"from":"01:00","to":"02:00","calendar":"x"}`: `not given the calendar "x": add it to its calendars, which are closed, weekend`,
	} {
		_, err := component().Build(json.RawMessage(settings), pluginapi.Env{Zone: time.UTC, Calendars: calendars(t)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", settings, err, want)
		}
	}
}
