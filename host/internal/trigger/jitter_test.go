package trigger

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// plainJitter is the oracle: the due times without jitter, each put off by its
// own delay, however many there are.
func plainJitter(t *testing.T, s ax.Schedule, calendars map[string]*calendar.Calendar, start, end time.Time) []time.Time {
	t.Helper()
	base := s
	base.Jitter = 0
	slots := ask(t, compile(t, Spec{Schedule: base, Task: "t", Calendars: calendars}), start.Add(-s.Jitter), end.AddDate(0, 0, 8), 1_000_000)
	forbidden := func(at time.Time) bool {
		at = at.In(start.Location())
		c := calendars[s.Calendar]
		return c != nil && !c.IsOpen(calendar.DateOf(at)) ||
			slices.ContainsFunc(s.Blackouts, func(b ax.Blackout) bool { return shows(b, calendars[b.Calendar], at) })
	}
	var out []time.Time
	for i, slot := range slots[:len(slots)-1] {
		span := min(s.Jitter, slots[i+1].Sub(slot)) / time.Millisecond
		due := slot
		if span > 0 {
			due = slot.Add(time.Duration(mix(Seed("t")^uint64(slot.UnixMicro()))%uint64(span)) * time.Millisecond)
		}
		if forbidden(due) {
			due = slot
		}
		if due.After(start) && !due.After(end) {
			out = append(out, due)
		}
	}
	return out
}

func TestJitter(t *testing.T) {
	t.Parallel()
	calendars := map[string]*calendar.Calendar{"work": newCalendar(t, workdays)}
	for _, tc := range []struct {
		name string
		s    ax.Schedule
	}{
		{"shorter than the gap", ax.Schedule{Cron: "0 0 * * * ?", Jitter: 30 * time.Second}},
		{"longer than the gap", ax.Schedule{Every: 7 * time.Minute, Jitter: time.Hour}},
		{"gaps of both kinds", ax.Schedule{Cron: "0 0,1,2,50 8-10 * * ?", Jitter: 5 * time.Minute}},
		{"a day", ax.Schedule{Cron: "0 0 8 * * ?", Jitter: 24 * time.Hour}},
		{"not into a closed day", ax.Schedule{Cron: "0 50 23 * * ?", Jitter: 30 * time.Minute, Calendar: "work"}},
		{"moved days", ax.Schedule{Cron: "0 0/20 7 * * ?", Jitter: 30 * time.Minute, Calendar: "work", OnClosed: ax.ClosedPrevious}},
		{"not into a blackout", ax.Schedule{Every: 15 * time.Minute, Jitter: 20 * time.Minute, Blackouts: []ax.Blackout{{From: 8 * time.Hour, To: 12 * time.Hour}}}},
		{"behind a blackout", ax.Schedule{Every: 15 * time.Minute, Jitter: 20 * time.Minute, OnBlackout: ax.BlackoutAfter, Blackouts: []ax.Blackout{{From: 23 * time.Hour, To: 3 * time.Hour}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.s.Timezone = "Europe/Berlin"
			zone, err := Zone(tc.s.Timezone)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Date(2026, time.October, 19, 0, 0, 0, 0, zone)
			end := start.AddDate(0, 0, 14)
			want := plainJitter(t, tc.s, calendars, start, end)
			rising(t, want)
			trig := compile(t, Spec{Schedule: tc.s, Task: "t", Calendars: calendars})
			sameTimes(t, "all at once", ask(t, trig, start, end, 1_000_000), want)
			sameTimes(t, "one by one", oneByOne(t, trig, start, end), want)
			draw := rand.New(rand.NewPCG(1, 2))
			for range 300 {
				after := start.Add(time.Duration(draw.Int64N(int64(want[len(want)-1].Sub(start)))))
				i, found := slices.BinarySearchFunc(want, after, time.Time.Compare)
				if found {
					i++
				}
				if got := ask(t, trig, after, time.Time{}, 1); !got[0].Equal(want[i]) {
					t.Fatalf("after %v: got %v, want %v", after, got, want[i])
				}
			}
			base := tc.s
			base.Calendar, base.OnClosed, base.Blackouts, base.OnBlackout, base.Jitter = "", "", nil, "", 0
			s := tc.s
			s.Cron, s.Every, s.Trigger = "", 0, &ax.Use{Name: "fake"}
			plugin := compile(t, Spec{Schedule: s, Task: "t", Calendars: calendars, Plugins: fakePlugins{t: t, schedule: base}})
			sameTimes(t, "by a plugin", ask(t, plugin, start, end, 1_000_000), want)
		})
	}
}

func rising(t *testing.T, times []time.Time) {
	t.Helper()
	for i := 1; i < len(times); i++ {
		if !times[i].After(times[i-1]) {
			t.Fatalf("%v does not follow %v", times[i], times[i-1])
		}
	}
}

// TestJitterIsStable: a change here moves the due times of everybody.
func TestJitterIsStable(t *testing.T) {
	t.Parallel()
	s := ax.Schedule{Cron: "0 0 10 * * ?", Timezone: "UTC", Jitter: time.Hour}
	got := ask(t, compile(t, Spec{Schedule: s, Task: "nightly"}), instant(t, "2026-01-01T00:00:00Z"), time.Time{}, 3)
	for i, want := range []string{"2026-01-01T10:25:14.99Z", "2026-01-02T10:05:36.722Z", "2026-01-03T10:15:14.459Z"} {
		if !got[i].Equal(instant(t, want)) {
			t.Errorf("time %d is %v, want %s", i, got[i], want)
		}
	}
}

// TestJitterSpreads: tasks that are due together are not any more.
func TestJitterSpreads(t *testing.T) {
	t.Parallel()
	s := ax.Schedule{Cron: "0 0 10 * * ?", Timezone: "UTC", Jitter: time.Minute}
	var quarters [4]int
	for task := range 4000 {
		due := ask(t, compile(t, Spec{Schedule: s, Task: string(rune('a' + task))}), instant(t, "2026-01-01T00:00:00Z"), time.Time{}, 1)[0]
		quarters[due.Second()/15]++
	}
	for i, n := range quarters {
		if n < 800 || n > 1200 {
			t.Errorf("%d of 4000 tasks in quarter %d of the minute", n, i)
		}
	}
}
