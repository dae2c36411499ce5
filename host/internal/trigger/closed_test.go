package trigger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

var workdays = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}

// TestOnClosed compares every policy with the plain way: list all due times,
// move each one, sort, leave out doubles.
func TestOnClosed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, zone string
		schedule   ax.Schedule
		weekdays   []time.Weekday
		closed     []string
		from       string
	}{
		{name: "weekend", zone: "Asia/Shanghai", schedule: ax.Schedule{Cron: "0 0 8,10 * * ?"}, weekdays: workdays, from: "2026-01-01"},
		{name: "staggered weekend", zone: "UTC", schedule: ax.Schedule{Every: 7 * time.Hour}, weekdays: workdays, from: "2026-01-01"},
		{name: "long holiday", zone: "Asia/Shanghai", schedule: ax.Schedule{Cron: "0 30 9 ? * MON,SAT"}, weekdays: workdays, closed: []string{"2026-02-15..2026-02-23"}, from: "2026-02-01"},
		{name: "single open days", zone: "UTC", schedule: ax.Schedule{Every: 50 * time.Minute}, weekdays: []time.Weekday{time.Tuesday}, from: "2026-03-01"},
		{name: "clock put back on a closed Sunday", zone: "Europe/Berlin", schedule: ax.Schedule{Every: 25 * time.Minute}, weekdays: workdays, from: "2026-10-20"},
		{name: "clock put back on an open Sunday", zone: "Europe/Berlin", schedule: ax.Schedule{Every: 25 * time.Minute}, weekdays: []time.Weekday{time.Sunday, time.Wednesday}, from: "2026-10-20"},
		{name: "clock put forward on a closed Sunday", zone: "America/New_York", schedule: ax.Schedule{Cron: "0 30 1,2,3 * * ?"}, weekdays: workdays, from: "2026-03-01"},
		{name: "clock put forward on an open Sunday", zone: "America/New_York", schedule: ax.Schedule{Every: 31 * time.Minute}, weekdays: []time.Weekday{time.Sunday}, from: "2026-03-01"},
		{name: "no midnight", zone: "America/Sao_Paulo", schedule: ax.Schedule{Cron: "0 0 0,1 * * ?"}, weekdays: []time.Weekday{time.Sunday, time.Friday}, from: "2018-10-28"},
		{name: "monthly", zone: "UTC", schedule: ax.Schedule{Cron: "0 0 0 1 * ?"}, weekdays: workdays, from: "2026-03-25"},
		{name: "fractions of a second", zone: "UTC", schedule: ax.Schedule{Every: 3*time.Hour + 1500*time.Millisecond}, weekdays: workdays, from: "2026-01-01"},
	} {
		for _, policy := range []ax.OnClosed{ax.ClosedSkip, ax.ClosedPrevious, ax.ClosedNext} {
			t.Run(fmt.Sprintf("%s/%s", tc.name, policy), func(t *testing.T) {
				t.Parallel()
				zone, err := Zone(tc.zone)
				if err != nil {
					t.Fatal(err)
				}
				first, err := calendar.ParseDate(tc.from)
				if err != nil {
					t.Fatal(err)
				}
				start, end := first.In(zone, 0, 0, 0), first.AddDays(40).In(zone, 0, 0, 0)
				cal := newCalendar(t, tc.weekdays, tc.closed...)
				s := tc.schedule
				s.Timezone = tc.zone
				want := plainly(t, s, cal, policy, start, end, true)
				s.Calendar, s.OnClosed = "c", policy
				spec := Spec{Schedule: s, Calendars: map[string]*calendar.Calendar{"c": cal}}
				trig, err := Compile(spec)
				if err != nil {
					t.Fatal(err)
				}
				if len(want) == 0 {
					t.Fatal("the case expects no times, it tests nothing")
				}
				sameTimes(t, "all at once", ask(t, trig, start, end, len(want)+10), want)
				sameTimes(t, "one by one", oneByOne(t, trig, start, end), want)
				// The same schedule as a plugin's, in batches that end anywhere.
				s.Cron, s.Every, s.Trigger = "", 0, &ax.Use{Name: "fake"}
				base := tc.schedule
				base.Timezone = tc.zone
				spec.Schedule, spec.Plugins = s, fakePlugins{t: t, schedule: base}
				plugin, err := Compile(spec)
				if err != nil {
					t.Fatal(err)
				}
				want = plainly(t, base, cal, policy, start, end, false)
				sameTimes(t, "by a plugin", ask(t, plugin, start, end, len(want)+10), want)
				sameTimes(t, "by a plugin, one by one", oneByOne(t, plugin, start, end), want)
			})
		}
	}
}

// plainly is the oracle: due times of s in (start, end] under the policy. A
// cron expression is known by what it says (byWall), a plugin's times are not:
// those that a change of the clock displaced are moved in displaced form.
func plainly(t *testing.T, s ax.Schedule, cal *calendar.Calendar, policy ax.OnClosed, start, end time.Time, byWall bool) []time.Time {
	t.Helper()
	zone := start.Location()
	from, to := start.AddDate(0, 0, -20), end.AddDate(0, 0, 20)
	s.Timezone = zone.String()
	readings := ask(t, compile(t, Spec{Schedule: s}), from, to, 1_000_000)
	var out []time.Time
	for _, due := range readings {
		if cal.IsOpen(calendar.DateOf(due)) {
			out = append(out, due)
		}
	}
	if byWall && s.Cron != "" {
		s.Timezone = "UTC"
		readings = ask(t, compile(t, Spec{Schedule: s}), from, to, 1_000_000)
	}
	for _, reading := range readings {
		date := calendar.DateOf(reading)
		step := cal.NextOpen
		if policy == ax.ClosedPrevious {
			step = cal.PrevOpen
		}
		if open, ok := step(date); ok && policy != ax.ClosedSkip && !cal.IsOpen(date) {
			out = append(out, open.At(calendar.TimeOfDayOf(reading), zone).Add(time.Duration(reading.Nanosecond())))
		}
	}
	out = slices.DeleteFunc(out, func(due time.Time) bool { return !due.After(start) || due.After(end) })
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

func ask(t *testing.T, trig Trigger, after, until time.Time, limit int) []time.Time {
	t.Helper()
	times, _, err := trig.Next(t.Context(), after, until, limit)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func oneByOne(t *testing.T, trig Trigger, after, until time.Time) []time.Time {
	t.Helper()
	var out []time.Time
	for {
		times := ask(t, trig, after, until, 1)
		if len(times) == 0 {
			return out
		}
		after = times[0]
		out = append(out, after)
	}
}

func sameTimes(t *testing.T, how string, got, want []time.Time) {
	t.Helper()
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || !got[i].Equal(want[i]) {
				t.Fatalf("%s: %d times, want %d; from number %d on:\n got %v\nwant %v", how, len(got), len(want), i,
					got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
			}
		}
	}
}

// fakePlugins offers a built-in schedule as if a plugin had it, and cuts its
// batches short of what was asked for where a real one may: at until.
type fakePlugins struct {
	t        *testing.T
	schedule ax.Schedule
}

func (f fakePlugins) Trigger(ax.Use, *time.Location, uint64, []*calendar.Calendar) Trigger {
	trig, err := Compile(Spec{Schedule: f.schedule})
	if err != nil {
		f.t.Fatal(err)
	}
	return triggerFunc(func(ctx context.Context, after, until time.Time, limit int) ([]time.Time, bool, error) {
		if until.IsZero() {
			f.t.Error("a plugin was asked without a bound")
		}
		return trig.Next(ctx, after, until, limit)
	})
}

type triggerFunc func(context.Context, time.Time, time.Time, int) ([]time.Time, bool, error)

func (f triggerFunc) Next(ctx context.Context, after, until time.Time, limit int) ([]time.Time, bool, error) {
	return f(ctx, after, until, limit)
}

// TestOnClosedFromAnywhere asks at random instants, also ones that are no due
// times: the answer must be the first of the whole list after it.
func TestOnClosedFromAnywhere(t *testing.T) {
	t.Parallel()
	zone, err := Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	cal := newCalendar(t, workdays, "2026-10-28", "2026-11-02..2026-11-04")
	s := ax.Schedule{Every: 25 * time.Minute, Timezone: "Europe/Berlin"}
	start := time.Date(2026, time.October, 20, 0, 0, 0, 0, zone)
	end := start.AddDate(0, 0, 30)
	for _, policy := range []ax.OnClosed{ax.ClosedSkip, ax.ClosedPrevious, ax.ClosedNext} {
		all := plainly(t, s, cal, policy, start, end, true)
		s := s
		s.Calendar, s.OnClosed = "c", policy
		trig, err := Compile(Spec{Schedule: s, Calendars: map[string]*calendar.Calendar{"c": cal}})
		if err != nil {
			t.Fatal(err)
		}
		draw := rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			after := start.Add(time.Duration(draw.Int64N(int64(25 * 24 * time.Hour))))
			i, found := slices.BinarySearchFunc(all, after, time.Time.Compare)
			if found {
				i++
			}
			if got := ask(t, trig, after, time.Time{}, 1); len(got) != 1 || !got[0].Equal(all[i]) {
				t.Fatalf("%s after %v: got %v, want %v", policy, after, got, all[i])
			}
		}
	}
}

// TestMovedKeepsWhatTheClockSkipped: 02:30 of a closed Sunday on which there is
// no 02:30 comes to Monday as 02:30, and not as 03:00 or as both.
func TestMovedKeepsWhatTheClockSkipped(t *testing.T) {
	t.Parallel()
	trig := compile(t, Spec{
		Schedule:  ax.Schedule{Cron: "0 30 2 ? * SUN", Timezone: "America/New_York", Calendar: "work", OnClosed: ax.ClosedNext},
		Calendars: map[string]*calendar.Calendar{"work": newCalendar(t, workdays)},
	})
	got := ask(t, trig, instant(t, "2026-03-06T00:00:00-05:00"), time.Time{}, 2)
	sameTimes(t, "moved", got, []time.Time{instant(t, "2026-03-09T02:30:00-04:00"), instant(t, "2026-03-16T02:30:00-04:00")})
}
