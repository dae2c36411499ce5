package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

func trigger(t *testing.T, settings, zone string) pluginapi.Trigger {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	built, err := component().Build(json.RawMessage(settings), pluginapi.Env{Zone: loc})
	if err != nil {
		t.Fatal(err)
	}
	return built.(pluginapi.Trigger)
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// expect asks once for each wanted time, from the answer before; "never"
// stands for the zero time.
func expect(t *testing.T, trigger pluginapi.Trigger, after string, want []string) {
	t.Helper()
	at := instant(t, after)
	for i, text := range want {
		got, err := trigger.Next(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		answer := "never"
		if !got.IsZero() {
			answer = got.Format(time.RFC3339)
		}
		if answer != text {
			t.Fatalf("time %d after %s: got %s, want %s", i+1, after, answer, text)
		}
		at = got
	}
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
		var v struct {
			ID          string
			Config      json.RawMessage
			Zone, After string
			Next        []string
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			expect(t, trigger(t, string(v.Config), v.Zone), v.After, v.Next)
		})
	}
	if count != 2 {
		t.Errorf("%d vectors, want 2", count)
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, settings, zone, after string
		want                        []string
	}{
		{
			"first monday", `{"weekday":"monday","nth":1,"time":"09:00"}`, "UTC", "2026-05-31T00:00:00Z",
			[]string{"2026-06-01T09:00:00Z", "2026-07-06T09:00:00Z", "2026-08-03T09:00:00Z"},
		},
		{
			"first monday on the 7th", `{"weekday":"MON","nth":1}`, "UTC", "2009-11-23T00:00:00Z",
			[]string{"2009-12-07T00:00:00Z", "2010-01-04T00:00:00Z"},
		},
		{
			"second last", `{"weekday":"Sun","nth":-2,"time":"06:30:15"}`, "UTC", "2026-12-01T00:00:00Z",
			[]string{"2026-12-20T06:30:15Z", "2027-01-24T06:30:15Z"},
		},
		{
			"fifth where there is one", `{"weekday":"FRI","nth":5}`, "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-30T00:00:00Z", "2026-05-29T00:00:00Z", "2026-07-31T00:00:00Z", "2026-10-30T00:00:00Z"},
		},
		{
			"fifth from the end is a first", `{"weekday":"FRI","nth":-5}`, "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-02T00:00:00Z", "2026-05-01T00:00:00Z"},
		},
		{
			"quarters", `{"weekday":"FRI","months":[3,6,9,12],"time":"02:00"}`, "Asia/Shanghai", "2026-06-26T02:00:00+08:00",
			[]string{"2026-09-25T02:00:00+08:00", "2026-12-25T02:00:00+08:00", "2027-03-26T02:00:00+08:00"},
		},
		{
			"fifth friday of february", `{"weekday":"FRI","nth":5,"months":[2]}`, "UTC", "2025-01-01T00:00:00Z",
			[]string{"2036-02-29T00:00:00Z"},
		},
		{
			"fifth over a century", `{"weekday":"MON","nth":5,"months":[2]}`, "UTC", "2072-02-29T00:00:00Z",
			[]string{"2112-02-29T00:00:00Z"},
		},
		{
			"strictly after", `{"weekday":"FRI","time":"02:00"}`, "UTC", "2026-01-30T02:00:00Z",
			[]string{"2026-02-27T02:00:00Z"},
		},
		{
			"clock put forward", `{"weekday":"SUN","time":"02:30"}`, "Europe/Berlin", "2026-03-01T00:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-04-26T02:30:00+02:00"},
		},
		{
			"clock put back", `{"weekday":"SUN","time":"02:30"}`, "Europe/Berlin", "2026-10-01T00:00:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-11-29T02:30:00+01:00"},
		},
		{
			"asked in the second showing", `{"weekday":"SUN","time":"02:30"}`, "Europe/Berlin", "2026-10-25T02:15:00+01:00",
			[]string{"2026-11-29T02:30:00+01:00"},
		},
		{
			"day that is missing", `{"weekday":"FRI","time":"09:00"}`, "Pacific/Apia", "2011-12-01T00:00:00-10:00",
			[]string{"2011-12-31T00:00:00+14:00", "2012-01-27T09:00:00+14:00"},
		},
		{
			"another month in the zone", `{"weekday":"SAT","time":"00:30"}`, "Pacific/Kiritimati", "2026-01-30T10:00:00Z",
			[]string{"2026-01-31T00:30:00+14:00"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expect(t, trigger(t, tt.settings, tt.zone), tt.after, tt.want)
		})
	}
}

// TestAgainstCount counts weekdays through 30 years of days.
func TestAgainstCount(t *testing.T) {
	t.Parallel()
	for _, nth := range []int{1, 2, 3, 4, 5, -1, -2, -3, -4, -5} {
		for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
			l := &lastWeekday{weekday: weekday, nth: nth, zone: time.UTC}
			at := time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)
			for day := at.AddDate(0, 0, 1); day.Year() < 2030; day = day.AddDate(0, 0, 1) {
				fromEnd := -1
				for day.AddDate(0, 0, -7*fromEnd).Month() == day.Month() {
					fromEnd--
				}
				if day.Weekday() != weekday || (day.Day()+6)/7 != nth && fromEnd != nth {
					continue
				}
				got, err := l.Next(t.Context(), at)
				if err != nil || !got.Equal(day) {
					t.Fatalf("%s %d after %s: got %s, %v, want %s", weekday, nth, at, got, err, day)
				}
				at = got
			}
		}
	}
}

func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		`{}`:                                "weekday",
		`{"weekday":"FRIDAYS"}`:             "weekday: expected a weekday",
		`{"weekday":"FRI","nth":0}`:         "nth: expected 1 to 5 or -1 to -5",
		`{"weekday":"FRI","nth":6}`:         "nth",
		`{"weekday":"FRI","time":"2:00"}`:   "time: expected a time of day",
		`{"weekday":"FRI","months":[0]}`:    "months",
		`{"weekday":"FRI","months":[1,13]}`: "months",
		`{"weekday":"FRI","hour":2}`:        "hour",
	} {
		_, err := component().Build(json.RawMessage(settings), pluginapi.Env{Zone: time.UTC})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", settings, err, want)
		}
	}
}
