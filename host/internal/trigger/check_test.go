package trigger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	day := func(d int) time.Time { return time.Date(2026, time.January, d, 0, 0, 0, 0, time.UTC) }
	calendars := map[string]*calendar.Calendar{
		"work":   newCalendar(t, workdays),
		"closed": newCalendar(t, []time.Weekday{}),
	}
	for _, tc := range []struct {
		name string
		s    ax.Schedule
		want []string // fields at fault, in order
		text string   // that the error must hold
	}{
		{name: "cron", s: ax.Schedule{Cron: "0 0 10 ? * MON-FRI"}},
		{name: "cron of a past year", s: ax.Schedule{Cron: "0 0 0 1 1 ? 2020"}},
		{name: "at in the past", s: ax.Schedule{At: day(1)}},
		{name: "plugin", s: ax.Schedule{Trigger: &ax.Use{Name: "random"}, Calendars: []string{"work"}}},
		{name: "interval to come", s: ax.Schedule{Every: time.Hour, RepeatCount: new(3), From: day(1)}},
		{name: "nothing", want: []string{""}, text: "exactly one of"},
		{name: "two", s: ax.Schedule{Cron: "* * * * * ?", Every: time.Hour}, want: []string{""}, text: "cron and every"},
		{name: "wrong cron", s: ax.Schedule{Cron: "60 * * * * ?"}, want: []string{"cron"}, text: `second "60"`},
		{name: "no such date", s: ax.Schedule{Cron: "0 0 0 30 2 ?"}, want: []string{"cron"}, text: "never be due"},
		{name: "zone twice", s: ax.Schedule{Cron: "CRON_TZ=Asia/Tokyo 0 0 10 * * ?"}, want: []string{"cron"}, text: "timezone: Asia/Tokyo"},
		{name: "zone", s: ax.Schedule{Cron: "* * * * * ?", Timezone: "Asia/Peking"}, want: []string{"timezone"}, text: `"Asia/Peking"`},
		{name: "local zone", s: ax.Schedule{Cron: "* * * * * ?", Timezone: "Local"}, want: []string{"timezone"}},
		{name: "negative interval", s: ax.Schedule{Every: -5 * time.Minute}, want: []string{"every"}, text: "-5m"},
		{name: "tiny interval", s: ax.Schedule{Every: time.Microsecond}, want: []string{"every"}},
		{name: "odd interval", s: ax.Schedule{Every: time.Second + 1}, want: []string{"every"}},
		{name: "delay and interval", s: ax.Schedule{Delay: time.Minute, Every: time.Minute}, want: []string{""}, text: "every and delay"},
		{name: "tiny delay", s: ax.Schedule{Delay: time.Microsecond}, want: []string{"delay"}},
		{name: "negative delay", s: ax.Schedule{Delay: -time.Second}, want: []string{"delay"}},
		{name: "negative jitter", s: ax.Schedule{Every: time.Hour, Jitter: -time.Second}, want: []string{"jitter"}},
		{name: "long jitter", s: ax.Schedule{Every: time.Hour, Jitter: 25 * time.Hour}, want: []string{"jitter"}},
		{name: "blackouts that are none", s: ax.Schedule{Every: time.Hour, Blackouts: []ax.Blackout{
			{From: time.Hour, To: time.Hour}, {From: -1, To: time.Hour}, {To: 25 * time.Hour}, {To: time.Hour, Calendar: "x"}, {To: time.Hour, Weekdays: []time.Weekday{7}},
		}}, want: []string{"blackout", "blackout", "blackout", "blackout", "blackout"}, text: "24:00"},
		{name: "blackout for ever", s: ax.Schedule{Every: time.Hour, Blackouts: []ax.Blackout{{To: 24 * time.Hour}}}, want: []string{"blackout"}, text: "never run"},
		{name: "blackout for ever, put off", s: ax.Schedule{Every: time.Hour, Blackouts: []ax.Blackout{{To: 24 * time.Hour}}, OnBlackout: ax.BlackoutAfter}, want: []string{"blackout"}},
		{name: "always in a blackout", s: ax.Schedule{Cron: "0 0 3 * * ?", Blackouts: []ax.Blackout{{To: 6 * time.Hour}}}, want: []string{"blackout"}},
		{name: "policy for no blackout", s: ax.Schedule{Every: time.Hour, OnBlackout: ax.BlackoutAfter}, want: []string{"on_blackout"}},
		{name: "policy of blackouts", s: ax.Schedule{Every: time.Hour, Blackouts: []ax.Blackout{{To: time.Hour}}, OnBlackout: "before"}, want: []string{"on_blackout"}},
		{name: "negative count", s: ax.Schedule{Every: time.Hour, RepeatCount: new(-1)}, want: []string{"repeat_count"}},
		{name: "interval words", s: ax.Schedule{Cron: "* * * * * ?", Anchor: day(1), RepeatCount: new(1)}, want: []string{"anchor", "repeat_count"}},
		{name: "window turned round", s: ax.Schedule{Every: time.Hour, From: day(2), Until: day(1)}, want: []string{"until"}},
		{name: "window without a time", s: ax.Schedule{Cron: "0 0 0 1 * ?", From: day(2), Until: day(3)}, want: []string{"until"}, text: "never run"},
		{name: "at before the window", s: ax.Schedule{At: day(1), From: day(2)}, want: []string{"from"}},
		{name: "no such calendar", s: ax.Schedule{Every: time.Hour, Calendar: "wrok"}, want: []string{"calendar"}, text: "closed, work"},
		{name: "no such calendars", s: ax.Schedule{Trigger: &ax.Use{}, Calendars: []string{"a", "b"}}, want: []string{"calendars", "calendars"}},
		{name: "always closed", s: ax.Schedule{Every: time.Hour, Calendar: "closed"}, want: []string{"calendar"}},
		{name: "always on closed days", s: ax.Schedule{Cron: "0 0 9 ? * SUN", Calendar: "work"}, want: []string{"calendar"}},
		{name: "at on a closed day", s: ax.Schedule{At: day(3), Calendar: "work"}, want: []string{"calendar"}},
		{name: "policy", s: ax.Schedule{Every: time.Hour, Calendar: "work", OnClosed: "nxet"}, want: []string{"on_closed"}, text: "previous"},
		{name: "policy for nothing", s: ax.Schedule{Every: time.Hour, OnClosed: ax.ClosedNext}, want: []string{"on_closed"}},
		{name: "many at once", s: ax.Schedule{Timezone: "X", Calendar: "y"}, want: []string{"", "timezone", "calendar"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.s.Timezone == "" {
				tc.s.Timezone = "UTC"
			}
			err := Check(tc.s, "task", calendars)
			faults := Faults(err)
			if len(faults) != len(tc.want) {
				t.Fatalf("got %v, want faults of %v", err, tc.want)
			}
			for i, fault := range faults {
				if fault.Field != tc.want[i] {
					t.Errorf("fault %d is of %s, want %s: %v", i, fault.Field, tc.want[i], fault)
				}
			}
			if err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%q does not say %q", err, tc.text)
			}
		})
	}
}

func TestCronFaultNamesThePart(t *testing.T) {
	t.Parallel()
	faults := Faults(Check(ax.Schedule{Cron: "0 0 25 * * ?", Timezone: "UTC"}, "task", nil))
	if len(faults) != 1 || faults[0].Part != "25" || strings.Contains(faults[0].Message, "cron:") {
		t.Errorf("%+v", faults)
	}
}

func TestCompileRefusesWhatCheckRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []ax.Schedule{{Timezone: "UTC"}, {Timezone: "UTC", Cron: "x"}, {Timezone: "UTC", Trigger: &ax.Use{Name: "x"}}} {
		_, err := Compile(Spec{Schedule: s})
		if _, ok := errors.AsType[*FieldError](err); !ok {
			t.Errorf("%+v: got %v, want a FieldError", s, err)
		}
	}
}
