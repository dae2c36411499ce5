package trigger

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

// plainBlackouts is the oracle: the due times of s in (start, end], each held
// against its blackouts by walking the clock minute by minute. The blackouts
// must be in whole minutes.
func plainBlackouts(t *testing.T, s ax.Schedule, calendars map[string]*calendar.Calendar, start, end time.Time) []time.Time {
	t.Helper()
	own, zone := calendars[s.Calendar], start.Location()
	in := func(at time.Time) bool {
		for _, b := range s.Blackouts {
			if shows(b, calendars[b.Calendar], at.In(zone)) {
				return true
			}
		}
		return false
	}
	base := s
	base.Blackouts, base.OnBlackout = nil, ""
	var out []time.Time
	for _, due := range ask(t, compile(t, Spec{Schedule: base, Calendars: calendars}), start.AddDate(0, 0, -30), end, 1_000_000) {
		if in(due) {
			if s.OnBlackout != ax.BlackoutAfter {
				continue
			}
			for in(due) || own != nil && !own.IsOpen(calendar.DateOf(due.In(zone))) {
				due = due.Truncate(time.Minute).Add(time.Minute)
			}
		}
		if due.After(start) && !due.After(end) {
			out = append(out, due)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// shows reports whether a clock that shows at is within a blackout.
func shows(b ax.Blackout, days *calendar.Calendar, at time.Time) bool {
	clock := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second
	begins := calendar.DateOf(at)
	switch {
	case b.From < b.To:
		if clock < b.From || clock >= b.To {
			return false
		}
	case clock >= b.From:
	case clock < b.To:
		begins = begins.AddDays(-1)
	default:
		return false
	}
	return (len(b.Weekdays) == 0 || slices.Contains(b.Weekdays, begins.Weekday())) && (days == nil || !days.IsOpen(begins))
}

// TestBlackouts compares with the oracle over changes of the clock: where it is
// put forward and back, by half an hour, over midnight, by a whole day.
func TestBlackouts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, from string }{
		{"Asia/Shanghai", "2026-02-01"},
		{"Europe/Berlin", "2026-10-15"},
		{"Europe/Berlin", "2026-03-20"},
		{"America/New_York", "2026-10-25"},
		{"Australia/Lord_Howe", "2026-03-28"},
		{"America/Sao_Paulo", "2018-10-28"},
		{"America/St_Johns", "2006-10-20"},
		{"Pacific/Apia", "2011-12-20"},
	} {
		t.Run(tc.zone+" "+tc.from, func(t *testing.T) {
			t.Parallel()
			first, err := calendar.ParseDate(tc.from)
			if err != nil {
				t.Fatal(err)
			}
			zone, err := Zone(tc.zone)
			if err != nil {
				t.Fatal(err)
			}
			draw := rand.New(rand.NewPCG(5, uint64(first.Day)))
			for range 25 {
				compareBlackouts(t, draw, first, zone)
			}
		})
	}
}

func compareBlackouts(t *testing.T, draw *rand.Rand, first calendar.Date, zone *time.Location) {
	t.Helper()
	s, calendars := randomBlackouts(draw, first, zone, t)
	start, end := first.In(zone, 0, 0, 0), first.AddDays(20).In(zone, 0, 0, 0)
	want := plainBlackouts(t, s, calendars, start, end)
	if len(want) == 0 {
		return // all blacked out; others are not
	}
	trig := compile(t, Spec{Schedule: s, Calendars: calendars})
	sameTimes(t, "all at once", ask(t, trig, start, end, 1_000_000), want)
	for range 50 {
		after := start.Add(time.Duration(draw.Int64N(int64(end.Sub(start)))))
		i, found := slices.BinarySearchFunc(want, after, time.Time.Compare)
		if found {
			i++
		}
		if i == len(want) {
			continue
		}
		if got := ask(t, trig, after, end, 1); len(got) != 1 || !got[0].Equal(want[i]) {
			t.Fatalf("%+v\nafter %v: got %v, want %v", s, after, got, want[i])
		}
	}
}

// randomBlackouts draws a schedule with blackouts.
func randomBlackouts(draw *rand.Rand, first calendar.Date, zone *time.Location, t *testing.T) (ax.Schedule, map[string]*calendar.Calendar) {
	t.Helper()
	closed := first.AddDays(draw.IntN(20))
	calendars := map[string]*calendar.Calendar{
		"work":     newCalendar(t, workdays),
		"holidays": newCalendar(t, nil, closed.String()+".."+closed.AddDays(draw.IntN(4)).String()),
	}
	s := ax.Schedule{Timezone: zone.String(), Every: time.Duration(7+draw.IntN(300)) * time.Minute}
	if draw.IntN(2) == 0 {
		s.OnBlackout = ax.BlackoutAfter
	}
	switch draw.IntN(3) {
	case 0:
		s.Calendar = "work"
	case 1:
		s.Calendar, s.OnClosed = "holidays", ax.ClosedNext
	}
	for range 1 + draw.IntN(3) {
		b := ax.Blackout{From: time.Duration(draw.IntN(48)) * 30 * time.Minute, To: time.Duration(draw.IntN(49)) * 30 * time.Minute}
		if b.From == b.To {
			b = ax.Blackout{To: 24 * time.Hour}
		}
		switch draw.IntN(3) {
		case 0:
			b.Weekdays = workdays[:1+draw.IntN(3)]
		case 1:
			b.Calendar = "holidays"
		default:
			b.To = b.From + 90*time.Minute
			if b.To > 24*time.Hour {
				b.To -= 24 * time.Hour
			}
		}
		s.Blackouts = append(s.Blackouts, b)
	}
	return s, calendars
}

// TestBlackoutExamples has what the documentation promises.
func TestBlackoutExamples(t *testing.T) {
	t.Parallel()
	night := []ax.Blackout{{From: 22 * time.Hour, To: 6 * time.Hour}}
	for _, tc := range []struct {
		name  string
		s     ax.Schedule
		after string
		want  []string
	}{
		{"skip", ax.Schedule{Cron: "0 0 0/6 * * ?", Blackouts: night}, "2026-01-05T20:00:00Z", []string{"2026-01-06T06:00:00Z", "2026-01-06T12:00:00Z"}},
		{
			"put off, and those that fall together are one",
			ax.Schedule{Cron: "0 0 5,23 * * ?", Blackouts: night, OnBlackout: ax.BlackoutAfter},
			"2026-01-05T21:00:00Z",
			[]string{"2026-01-06T06:00:00Z", "2026-01-07T06:00:00Z"},
		},
		{
			"put off to a closed day and so on to Monday", ax.Schedule{Cron: "0 0 23 ? * FRI", Blackouts: night, OnBlackout: ax.BlackoutAfter, Calendar: "work"},
			"2026-01-05T06:00:00Z",
			[]string{"2026-01-12T06:00:00Z"},
		},
		{
			"asked within a blackout", ax.Schedule{Cron: "0 0 23 * * ?", Blackouts: night, OnBlackout: ax.BlackoutAfter},
			"2026-01-06T03:00:00Z",
			[]string{"2026-01-06T06:00:00Z"},
		},
	} {
		tc.s.Timezone = "UTC"
		trig := compile(t, Spec{Schedule: tc.s, Calendars: map[string]*calendar.Calendar{"work": newCalendar(t, workdays)}})
		got := ask(t, trig, instant(t, tc.after), time.Time{}, len(tc.want))
		for i, text := range tc.want {
			if i >= len(got) || !got[i].Equal(instant(t, text)) {
				t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
				break
			}
		}
	}
}

func TestBlackoutInWords(t *testing.T) {
	t.Parallel()
	for text, b := range map[string]ax.Blackout{
		"22:00-06:00":                          {From: 22 * time.Hour, To: 6 * time.Hour},
		"00:00-00:00:30 Sat,Sun":               {To: 30 * time.Second, Weekdays: []time.Weekday{time.Saturday, time.Sunday}},
		"closed days of china":                 {To: 24 * time.Hour, Calendar: "china"},
		"20:30-24:00 Fri closed days of china": {From: 20*time.Hour + 30*time.Minute, To: 24 * time.Hour, Weekdays: []time.Weekday{time.Friday}, Calendar: "china"},
		"every day":                            {To: 24 * time.Hour},
	} {
		if got := b.String(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}
