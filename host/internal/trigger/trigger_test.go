package trigger

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func compile(t testing.TB, spec Spec) *Timetable {
	t.Helper()
	trig, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	return trig
}

func TestNext(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time { return instant(t, text) }
	for _, tc := range []struct {
		name      string
		spec      Spec
		after     string
		until     string
		max       int
		want      []string
		exhausted bool
	}{
		{
			name:  "every without anchor is aligned to 1970",
			spec:  Spec{Schedule: ax.Schedule{Every: 15 * time.Minute}},
			after: "2026-01-01T00:07:00Z", max: 2, want: []string{"2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z"},
		},
		{
			name:  "every is not due before its anchor",
			spec:  Spec{Schedule: ax.Schedule{Every: time.Hour, Anchor: at("2026-01-05T00:30:00Z")}},
			after: "2026-01-01T00:00:00Z", max: 2, want: []string{"2026-01-05T00:30:00Z", "2026-01-05T01:30:00Z"},
		},
		{
			name:  "an anchor with a fraction",
			spec:  Spec{Schedule: ax.Schedule{Every: time.Second, Anchor: at("2026-01-01T00:00:00.75Z")}},
			after: "2026-01-01T00:00:09.5Z", max: 1, want: []string{"2026-01-01T00:00:09.75Z"},
		},
		{
			name:  "longer than a Duration since the anchor",
			spec:  Spec{Schedule: ax.Schedule{Every: 24 * time.Hour, Anchor: at("0001-01-02T03:00:00Z")}},
			after: "9000-01-01T00:00:00Z", max: 1, want: []string{"9000-01-01T03:00:00Z"},
		},
		{
			name:  "repeat count",
			spec:  Spec{Schedule: ax.Schedule{Every: 10 * time.Second, RepeatCount: new(2)}, AnchorAt: at("2026-01-01T00:00:05Z")},
			after: "2026-01-01T00:00:00Z", max: 9, exhausted: true,
			want: []string{"2026-01-01T00:00:05Z", "2026-01-01T00:00:15Z", "2026-01-01T00:00:25Z"},
		},
		{
			name:  "repeat count with an anchor of its own",
			spec:  Spec{Schedule: ax.Schedule{Every: 10 * time.Second, RepeatCount: new(0), Anchor: at("2026-01-01T00:00:00Z")}, AnchorAt: at("2026-01-09T00:00:00Z")},
			after: "2025-01-01T00:00:00Z", max: 9, want: []string{"2026-01-01T00:00:00Z"}, exhausted: true,
		},
		{
			name:  "at",
			spec:  Spec{Schedule: ax.Schedule{At: at("2026-05-21T15:20:00Z")}},
			after: "2026-01-01T00:00:00Z", max: 2, want: []string{"2026-05-21T15:20:00Z"}, exhausted: true,
		},
		{
			name:  "at is over at its own instant",
			spec:  Spec{Schedule: ax.Schedule{At: at("2026-05-21T15:20:00Z")}},
			after: "2026-05-21T15:20:00Z", max: 2, exhausted: true,
		},
		{
			name:  "from is included, until is not",
			spec:  Spec{Schedule: ax.Schedule{Cron: "0 0 * * * ?", From: at("2026-01-01T05:00:00Z"), Until: at("2026-01-01T07:00:00Z")}},
			after: "2025-01-01T00:00:00Z", max: 9, want: []string{"2026-01-01T05:00:00Z", "2026-01-01T06:00:00Z"}, exhausted: true,
		},
		{
			name:  "the caller's bound is included and does not exhaust",
			spec:  Spec{Schedule: ax.Schedule{Cron: "0 0 * * * ?", Until: at("2026-01-01T07:00:00Z")}},
			after: "2026-01-01T00:00:00Z", until: "2026-01-01T02:00:00Z", max: 9, want: []string{"2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"},
		},
		{
			name:  "moved times obey the window",
			spec:  Spec{Schedule: ax.Schedule{Cron: "0 0 8 ? * SAT", Calendar: "work", OnClosed: ax.ClosedNext, Until: at("2026-01-12T08:00:00Z")}},
			after: "2026-01-01T00:00:00Z", max: 9, want: []string{"2026-01-05T08:00:00Z"}, exhausted: true,
		},
		{
			name: "a delay counts from what it is asked with", spec: Spec{Schedule: ax.Schedule{Delay: 90 * time.Second}},
			after: "2026-01-01T00:00:07Z", max: 2, want: []string{"2026-01-01T00:01:37Z", "2026-01-01T00:03:07Z"},
		},
		{
			name: "a delay waits for an open day without a blackout", spec: Spec{Schedule: ax.Schedule{
				Delay: time.Hour, Calendar: "work", OnClosed: ax.ClosedPrevious, Jitter: time.Minute, Blackouts: []ax.Blackout{{To: 6 * time.Hour}},
			}},
			after: "2026-01-02T23:30:00Z", max: 2, want: []string{"2026-01-05T06:00:00Z", "2026-01-05T07:00:00Z"},
		},
		{name: "none asked for", spec: Spec{Schedule: ax.Schedule{Cron: "* * * * * ?"}}, after: "2026-01-01T00:00:00Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.spec.Schedule.Timezone = "UTC"
			tc.spec.Calendars = map[string]*calendar.Calendar{"work": newCalendar(t, workdays)}
			trig := compile(t, tc.spec)
			var until time.Time
			if tc.until != "" {
				until = at(tc.until)
			}
			got, exhausted, err := trig.Next(t.Context(), at(tc.after), until, tc.max)
			if err != nil || exhausted != tc.exhausted || len(got) != len(tc.want) {
				t.Fatalf("got %v, exhausted %v, error %v", got, exhausted, err)
			}
			for i, text := range tc.want {
				if !got[i].Equal(at(text)) {
					t.Errorf("time %d is %v, want %s", i, got[i], text)
				}
			}
		})
	}
}

// TestAllClosed: nothing may search for ever, whatever the policy.
func TestAllClosed(t *testing.T) {
	t.Parallel()
	after := instant(t, "2026-01-01T00:00:00Z")
	for _, cal := range []*calendar.Calendar{
		newCalendar(t, []time.Weekday{}),
		newCalendar(t, nil, "2000-01-01..2060-01-01"),
	} {
		for _, policy := range []ax.OnClosed{ax.ClosedSkip, ax.ClosedPrevious, ax.ClosedNext} {
			trig := compile(t, Spec{
				Schedule:  ax.Schedule{Cron: "* * * * * ?", Timezone: "Asia/Shanghai", Calendar: "c", OnClosed: policy},
				Calendars: map[string]*calendar.Calendar{"c": cal},
			})
			got, exhausted, err := trig.Next(t.Context(), after, time.Time{}, 1)
			if err != nil || !exhausted || len(got) != 0 {
				t.Errorf("%s: %v, exhausted %v, %v", policy, got, exhausted, err)
			}
		}
	}
	// A schedule of closed days only, on a calendar that opens every week.
	trig := compile(t, Spec{
		Schedule:  ax.Schedule{Cron: "* * * ? * SAT,SUN", Timezone: "UTC", Calendar: "c", OnClosed: ax.ClosedSkip},
		Calendars: map[string]*calendar.Calendar{"c": newCalendar(t, workdays)},
	})
	if got, exhausted, err := trig.Next(t.Context(), after, time.Time{}, 1); err != nil || !exhausted {
		t.Errorf("weekends on workdays: %v, exhausted %v, %v", got, exhausted, err)
	}
}

func TestPluginErrorAndEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("the plugin is gone")
	after := instant(t, "2026-01-03T00:00:00Z")
	for _, tc := range []struct {
		name      string
		answer    triggerFunc
		times     int
		exhausted bool
		err       error
	}{
		{name: "error", err: broken, answer: func(context.Context, time.Time, time.Time, int) ([]time.Time, bool, error) {
			return nil, false, broken
		}},
		{name: "an error after two", err: broken, times: 2, answer: func(_ context.Context, from, _ time.Time, _ int) ([]time.Time, bool, error) {
			times := []time.Time{after.Add(time.Hour), after.Add(2 * time.Hour)}
			return slices.DeleteFunc(times, func(due time.Time) bool { return !due.After(from) }), false, broken
		}},
		{name: "nothing up to until", answer: func(context.Context, time.Time, time.Time, int) ([]time.Time, bool, error) {
			return nil, false, nil
		}},
		{name: "the last one", times: 1, exhausted: true, answer: func(_ context.Context, from, _ time.Time, _ int) ([]time.Time, bool, error) {
			if from.Before(after.Add(time.Hour)) {
				return []time.Time{after.Add(time.Hour)}, true, nil
			}
			return nil, true, nil
		}},
	} {
		for _, policy := range []ax.OnClosed{"", ax.ClosedSkip, ax.ClosedPrevious, ax.ClosedNext} {
			spec := Spec{
				Schedule:  ax.Schedule{Trigger: &ax.Use{Name: "x"}, Timezone: "UTC"},
				Plugins:   pluginFunc(func() Trigger { return tc.answer }),
				Calendars: map[string]*calendar.Calendar{"open": newCalendar(t, nil)},
			}
			if policy != "" {
				spec.Schedule.Calendar, spec.Schedule.OnClosed = "open", policy
			}
			times, exhausted, err := compile(t, spec).Next(t.Context(), after, after.AddDate(0, 0, 3), 5)
			// Who moves times asks a plugin for all there will ever be.
			moves := policy == ax.ClosedPrevious || policy == ax.ClosedNext
			if !errors.Is(err, tc.err) || exhausted != (tc.exhausted || moves && err == nil) || len(times) != tc.times {
				t.Errorf("%s, %q: %v, exhausted %v, error %v", tc.name, policy, times, exhausted, err)
			}
		}
	}
}

type pluginFunc func() Trigger

func (f pluginFunc) Trigger(ax.Use, *time.Location, uint64, []*calendar.Calendar) Trigger { return f() }

func TestSeedIsStable(t *testing.T) {
	t.Parallel()
	if got := Seed("cache-warm-up"); got != 0x6767572f01ef31b8 {
		t.Errorf("Seed changed to %#x: every task with a random trigger would be due at other times", got)
	}
}

func TestOneAllocationPerTime(t *testing.T) {
	trig := compile(t, Spec{Schedule: ax.Schedule{Cron: "0 0 10 ? * MON-FRI", Timezone: "Asia/Shanghai"}})
	after := instant(t, "2026-01-01T00:00:00Z")
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _, _, _ = trig.Next(ctx, after, time.Time{}, 1) }); n > 1 {
		t.Errorf("%v allocations for one due time, want only that of the result", n)
	}
}

func BenchmarkNext(b *testing.B) {
	calendars := map[string]*calendar.Calendar{"work": newCalendar(b, workdays, "2026-02-15..2026-02-23")}
	for _, bc := range []struct {
		name string
		s    ax.Schedule
	}{
		{"cron", ax.Schedule{Cron: "0 0 10 ? * MON-FRI"}},
		{"every", ax.Schedule{Every: time.Minute}},
		{"skip", ax.Schedule{Cron: "0 0 10 * * ?", Calendar: "work", OnClosed: ax.ClosedSkip}},
		{"next", ax.Schedule{Cron: "0 0 10 * * ?", Calendar: "work", OnClosed: ax.ClosedNext}},
		{"jitter", ax.Schedule{Cron: "0 0 10 ? * MON-FRI", Jitter: time.Minute}},
		{"blackout", ax.Schedule{Cron: "0 0 * * * ?", Blackouts: []ax.Blackout{{From: 22 * time.Hour, To: 6 * time.Hour}}}},
		{"after", ax.Schedule{Cron: "0 0 * * * ?", Blackouts: []ax.Blackout{{From: 22 * time.Hour, To: 6 * time.Hour}}, OnBlackout: ax.BlackoutAfter}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			bc.s.Timezone = "Asia/Shanghai"
			trig := compile(b, Spec{Schedule: bc.s, Calendars: calendars})
			after := instant(b, "2026-02-13T12:00:00+08:00")
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := trig.Next(b.Context(), after, time.Time{}, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
