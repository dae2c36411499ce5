package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

func TestModes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, settings, after string
		want                  []string // dates and times of 2026 in Shanghai
	}{
		{"every", `{"time":"10:00"}`, "02-14 10:00", []string{"02-24 10:00", "02-25 10:00"}},
		{"every at midnight", `{}`, "02-13 00:00", []string{"02-14 00:00", "02-24 00:00"}},
		{"nth passes over short months", `{"mode":"nth","n":23,"time":"08:00"}`, "01-01 00:00", []string{"07-31 08:00"}},
		{"nth from the end", `{"mode":"nth","n":-2}`, "02-01 00:00", []string{"02-27 00:00", "03-30 00:00"}},
		{"next", `{"mode":"next","day":15,"time":"09:00"}`, "01-01 00:00", []string{"01-15 09:00", "02-24 09:00", "03-16 09:00", "04-15 09:00"}},
		{"next, asked within the holiday", `{"mode":"next","day":15,"time":"09:00"}`, "02-20 00:00", []string{"02-24 09:00", "03-16 09:00"}},
		{"next over the month's end", `{"mode":"next","day":-1}`, "01-01 00:00", []string{"02-02 00:00", "02-28 00:00", "03-31 00:00"}},
		{"previous", `{"mode":"previous","day":15,"time":"09:00"}`, "01-16 00:00", []string{"02-14 09:00", "03-13 09:00", "04-15 09:00"}},
		{"previous of a 31st", `{"mode":"previous","day":31}`, "01-01 00:00", []string{"01-30 00:00", "03-31 00:00", "05-29 00:00"}},
		{"before", `{"mode":"before","time":"17:00"}`, "01-01 00:00", []string{"02-14 17:00", "04-03 17:00", "04-30 17:00", "06-18 17:00", "09-24 17:00", "09-30 17:00"}},
		{"after", `{"mode":"after","time":"08:00"}`, "01-01 00:00", []string{"01-04 08:00", "02-24 08:00", "04-07 08:00", "05-06 08:00", "06-22 08:00", "09-28 08:00", "10-08 08:00"}},
		{"before one holiday", `{"mode":"before","holidays":["国庆节"]}`, "01-01 00:00", []string{"09-30 00:00", "never"}},
		{"after two holidays", `{"mode":"after","holidays":["国庆节","清明节"]}`, "01-01 00:00", []string{"04-07 00:00", "10-08 00:00", "never"}},
		{"cron skips", `{"mode":"cron","cron":"0 30 9 ? * SAT"}`, "02-01 00:00", []string{"02-14 09:30", "02-28 09:30", "05-09 09:30"}},
		{"cron to the open day before", `{"mode":"cron","cron":"0 0 9 1,16 * ?","on_closed":"previous"}`, "02-01 00:00", []string{"02-14 09:00", "02-28 09:00", "03-16 09:00", "04-01 09:00"}},
		{"cron to the open day after", `{"mode":"cron","cron":"0 0 9 1,16 * ?","on_closed":"next"}`, "02-01 00:00", []string{"02-02 09:00", "02-24 09:00", "03-02 09:00"}},
		{"cron moved together is one", `{"mode":"cron","cron":"0 0 9,12 * * ?","on_closed":"next"}`, "02-14 12:00", []string{"02-24 09:00", "02-24 12:00", "02-25 09:00"}},
	}
	shanghai := zone(t, "Asia/Shanghai")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stamp := func(text string) string {
				if text == "never" {
					return text
				}
				at, err := time.ParseInLocation("2006-01-02 15:04", "2026-"+text, shanghai)
				if err != nil {
					t.Fatal(err)
				}
				return at.Format(time.RFC3339)
			}
			var want []string
			for _, text := range tt.want {
				want = append(want, stamp(text))
			}
			settings := strings.Replace(tt.settings, "{", `{"calendar":"cn",`, 1)
			settings = strings.Replace(settings, ",}", "}", 1)
			expect(t, trigger(t, settings, "Asia/Shanghai"), stamp(tt.after), want)
		})
	}
}

func TestClockChanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, settings, zone, after string
		want                        []string
	}{
		{
			"gap", `{"calendar":"no month end","time":"02:30"}`, "America/New_York", "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"},
		},
		{
			"overlap", `{"calendar":"no month end","time":"01:30"}`, "America/New_York", "2026-10-31T12:00:00-04:00",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"},
		},
		{
			"closed day with a gap is moved undisplaced", `{"calendar":"week","mode":"cron","cron":"0 30 2 * * ?","on_closed":"next"}`,
			"America/New_York", "2026-03-06T12:00:00-05:00",
			[]string{"2026-03-09T02:30:00-04:00", "2026-03-10T02:30:00-04:00"},
		},
		{
			"the same to the day before", `{"calendar":"week","mode":"cron","cron":"0 30 2 * * ?","on_closed":"previous"}`,
			"America/New_York", "2026-03-05T12:00:00-05:00",
			[]string{"2026-03-06T02:30:00-05:00", "2026-03-09T02:30:00-04:00"},
		},
		{
			"midnight in a gap", `{"calendar":"no month end"}`, "America/Sao_Paulo", "2018-11-03T12:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
		},
		{
			"elapsed time over an overlap", `{"calendar":"no month end","mode":"cron","cron":"0 */30 * * * ?"}`,
			"America/New_York", "2026-11-01T00:45:00-04:00",
			[]string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T01:30:00-05:00", "2026-11-01T02:00:00-05:00"},
		},
		{
			"leap day", `{"calendar":"no month end","mode":"cron","cron":"0 0 0 29 2 ?"}`, "UTC", "2026-01-01T00:00:00Z",
			[]string{"never"}, // the 29th is always the last of February
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expect(t, trigger(t, tt.settings, tt.zone), tt.after, tt.want)
		})
	}
}

func TestClosedCalendarEnds(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		`{"calendar":"closed"}`,
		`{"calendar":"closed","mode":"nth","n":1}`,
		`{"calendar":"closed","mode":"next","day":1}`,
		`{"calendar":"closed","mode":"previous","day":1}`,
		`{"calendar":"closed","mode":"before"}`,
		`{"calendar":"closed","mode":"after"}`,
		`{"calendar":"week","mode":"before"}`,
		`{"calendar":"week","mode":"after"}`,
		`{"calendar":"closed","mode":"cron","cron":"* * * * * ?"}`,
		`{"calendar":"closed","mode":"cron","cron":"* * * * * ?","on_closed":"next"}`,
		`{"calendar":"closed","mode":"cron","cron":"* * * * * ?","on_closed":"previous"}`,
		`{"calendar":"week","mode":"cron","cron":"* * * ? * SUN"}`,
		`{"calendar":"week","mode":"cron","cron":"0 0 0 30 2 ?"}`,
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			expect(t, trigger(t, settings, "Europe/Berlin"), "2026-01-01T00:00:00Z", []string{"never"})
		})
	}
}

func TestWarnsOnceForEachUnknownYear(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	due, err := build(`{"calendar":"cn"}`, zone(t, "Asia/Shanghai"), calendars(t), &log)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 12, 25, 0, 0, 0, 0, time.UTC)
	for range 300 { // to the start of 2028
		if at, err = due.Next(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if at.Year() == 2026 && log.Len() > 0 {
			t.Fatalf("warned of a known year: %s", log.String())
		}
	}
	text := log.String()
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "year=2027") || !strings.Contains(text, "year=2028") || !strings.Contains(text, "last_known=2026") {
		t.Errorf("expected one warning for 2027 and one for 2028, got\n%s", text)
	}
}

func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		`{}`:                               "calendar",
		`{"calendar":"us"}`:                `not given the calendar "us": add it to its calendars, which are closed, cn, no month end, week`,
		`{"calendar":"cn","mode":"often"}`: "mode",
		`{"calendar":"cn","time":"25:00"}`: "time: expected a time of day",
		`{"calendar":"cn","n":1}`:          "n: not used in mode every, only in nth",
		`{"calendar":"cn","mode":"nth"}`:   "n: needed in mode nth",
		`{"calendar":"cn","mode":"next"}`:  "day: needed in mode next",
		`{"calendar":"cn","mode":"cron","time":"10:00","cron":"0 0 0 * * ?"}`:     "time: not used in mode cron",
		`{"calendar":"cn","mode":"cron"}`:                                         "cron: needed",
		`{"calendar":"cn","mode":"cron","cron":"0 0 24 * * ?"}`:                   "cron: ",
		`{"calendar":"cn","mode":"cron","cron":"CRON_TZ=Asia/Tokyo 0 0 0 * * ?"}`: "zone is that of the task",
		`{"calendar":"cn","mode":"before","holidays":["国庆"]}`:                     `names no "国庆", only`,
		`{"calendar":"cn","on_closed":"next"}`:                                    "on_closed: not used in mode every",
		`{"calendar":"cn","calender":"x"}`:                                        "calender",
	} {
		_, err := build(settings, zone(t, "Asia/Shanghai"), calendars(t), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", settings, err, want)
		}
	}
	_, err := component().Build(json.RawMessage(`{"calendar":"cn"}`), pluginapi.Env{Zone: time.UTC})
	if err == nil || !strings.Contains(err.Error(), `calendars: [cn]`) {
		t.Errorf("without calendars: %v", err)
	}
}
