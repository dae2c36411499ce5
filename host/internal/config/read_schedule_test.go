package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

func newTestReader(t testing.TB) ScheduleReader {
	t.Helper()
	c, err := calendar.New(calendar.Spec{Name: "china"})
	if err != nil {
		t.Fatal(err)
	}
	return ScheduleReader{Calendars: map[string]*calendar.Calendar{"china": c}, Timezone: "Asia/Shanghai", Ignore: []string{"id", "after", "n"}}
}

func TestReadSchedule(t *testing.T) {
	t.Parallel()
	r := newTestReader(t)
	for text, want := range map[string]ax.Schedule{
		`{"id": 7, "cron": "0 0 10 ? * MON-FRI", "timezone": "UTC", "calendar": "china", "after": "2026-01-01T00:00:00Z", "n": 5}`: {
			Cron: "0 0 10 ? * MON-FRI", Timezone: "UTC", Calendar: "china", OnClosed: ax.ClosedSkip},
		`{"every":"36h","anchor":"2026-01-01T00:00:00Z","repeat_count":0}`: {
			Every: 36 * time.Hour, Anchor: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), RepeatCount: new(0), Timezone: "Asia/Shanghai"},
		"at: 2026-01-01 08:00": {At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Timezone: "Asia/Shanghai"},
		`{"trigger": {"use": "workday", "with": {"time": "${file:/etc/hostname}"}, "calendars": "china"}}`: {
			Trigger:   &ax.Use{Name: "workday", With: json.RawMessage(`{"time":"${file:/etc/hostname}"}`)},
			Calendars: []string{"china"}, Timezone: "Asia/Shanghai"},
	} {
		got, err := r.Read([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want.Version = Version(want, r.Calendars)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

func TestReadScheduleRefuses(t *testing.T) {
	t.Parallel()
	r := newTestReader(t)
	for text, want := range map[string]string{
		``:                                       "expected keys such as cron:",
		`[]`:                                     "expected keys such as cron:",
		`{"cron":`:                               "not YAML: did not find expected node content; check the indentation, and that each quote and bracket that begins here is closed",
		`{}`:                                     "the schedule does not say when it is due: expected one of cron, every, at or trigger",
		`{"every":"0s"}`:                         `every: expected at least 100ms, got "0s"`,
		`{"every":"-5m"}`:                        `every: a duration cannot be negative, got "-5m"`,
		`{"evry":"5m"}`:                          `unknown key "evry" in the schedule, did you mean "every"?; the schedule does not say when it is due: expected one of cron, every, at or trigger`,
		`{"every":"5m","at":1}`:                  `the schedule has every and at: expected only one of cron, every, at or trigger; at: expected a time such as 2026-12-01T10:00:00+08:00, got the number 1`,
		`{"cron":"* * * * *","calendar":"chna"}`: `calendar: there is no calendar "chna", did you mean "china"?`,
	} {
		if _, err := r.Read([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func BenchmarkReadSchedule(b *testing.B) {
	r := newTestReader(b)
	text := []byte(`{"id": "7", "cron": "0 0 10 ? * MON-FRI", "timezone": "Asia/Tokyo", "calendar": "china", "after": "2026-01-01T00:00:00Z", "n": 5}`)
	for b.Loop() {
		if _, err := r.Read(text); err != nil {
			b.Fatal(err)
		}
	}
}

func TestParseInstant(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-12-01T10:00:00+08:00":   "2026-12-01T02:00:00Z",
		"2026-12-01 10:00:00Z":        "2026-12-01T10:00:00Z",
		"2026-12-01T10:00:00.25Z":     "2026-12-01T10:00:00.25Z",
		"2026-12-01":                  "2026-12-01T05:00:00Z",
		"2026-12-01T10:00":            "2026-12-01T15:00:00Z",
		"2026-03-08 02:30":            "2026-03-08T07:00:00Z", // does not exist: after the gap
		"2026-11-01 01:30":            "2026-11-01T05:30:00Z", // twice: the first
		"2026-12-01T10":               "",
		"2026-02-30":                  "",
		"10:00":                       "",
		"":                            "",
		"2026-12-01T10:00:00+08:00 x": "",
	} {
		got, err := ParseInstant(text, zone)
		if want == "" {
			if err == nil {
				t.Errorf("%q: got %v, want an error", text, got)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{
		"config.yaml": "app: a\nnotifiers: {n: {use: webhook, with: {a: \"${file:short}\", b: \"${file:long}\", c: \"${file:quoted}\"}}}\n",
		"short":       "pass", "long": "password", "quoted": `a"b\c`,
	})
	const text = `pass password {"x":"a\"b\\c"} a"b\c other`
	if got, want := c.Redactor().Replace(text), `${…} ${…} {"x":"${…}"} ${…} other`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestZoneNames: every zone that is suggested exists.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	l := newLoader(Options{})
	names := strings.Fields(zoneNames)
	for _, alias := range zoneAliases {
		names = append(names, strings.Split(alias, " or ")...)
	}
	for _, name := range names {
		if l.zone(name) == nil {
			t.Errorf("there is no zone %q", name)
		}
	}
}
