package config

import (
	"reflect"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

func TestBlackoutsAndJitter(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": `
app: a
calendars: {cn: {weekly: MON-FRI}}
defaults: {jitter: 30s, blackout: ["22:00-06:00"], on_blackout: after}
tasks:
  - {name: defaults, every: 1h, job: {use: exec}}
  - {name: none, every: 1h, job: {use: exec}, jitter: 0s, blackout: []}
  - name: own
    every: 1h
    job: {use: exec}
    jitter: 1m500ms
    blackout:
      - {time: "08:00:30-24:00", weekdays: "SAT-MON,SUN", calendar: cn}
      - {weekdays: [FRI]}
      - 12:00-13:00
    on_blackout: skip
`})
	night := ax.Blackout{From: 22 * time.Hour, To: 6 * time.Hour}
	want := []ax.Schedule{
		{Jitter: 30 * time.Second, Blackouts: []ax.Blackout{night}, OnBlackout: ax.BlackoutAfter},
		{Blackouts: nil},
		{Jitter: 60500 * time.Millisecond, OnBlackout: ax.BlackoutSkip, Blackouts: []ax.Blackout{
			{From: 8*time.Hour + 30*time.Second, To: 24 * time.Hour, Weekdays: []time.Weekday{time.Sunday, time.Monday, time.Saturday}, Calendar: "cn"},
			{To: 24 * time.Hour, Weekdays: []time.Weekday{time.Friday}},
			{From: 12 * time.Hour, To: 13 * time.Hour},
		}},
	}
	for i := range want {
		got := c.Tasks[i].Schedule
		want[i].Every, want[i].Timezone, want[i].Version = time.Hour, "UTC", got.Version
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", c.Tasks[i].Name, got, want[i])
		}
	}
}

// TestVersionKnowsTheWindows: due times that change must be planned anew.
func TestVersionKnowsTheWindows(t *testing.T) {
	t.Parallel()
	task := func(keys, closed string) string {
		return load(t, map[string]string{"config.yaml": `
app: a
calendars: {cn: {closed: [` + closed + `]}}
tasks: [{name: t, every: 1h, job: {use: exec}` + keys + `}]
`}).Tasks[0].Schedule.Version
	}
	seen := map[string]string{}
	for _, keys := range []string{
		"", ", jitter: 1s", ", jitter: 2s", ", blackout: [22:00-06:00]", ", blackout: [22:00-07:00]",
		", blackout: [22:00-06:00], on_blackout: after", ", blackout: [{calendar: cn}]", ", blackout: [{weekdays: SUN}]",
	} {
		version := task(keys, "2026-05-01")
		if before, ok := seen[version]; ok {
			t.Errorf("%q has the version of %q", keys, before)
		}
		seen[version] = keys
	}
	if task(", blackout: [{calendar: cn}]", "2026-05-01") == task(", blackout: [{calendar: cn}]", "2026-05-02") {
		t.Error("the days of a blackout's calendar do not count")
	}
}
