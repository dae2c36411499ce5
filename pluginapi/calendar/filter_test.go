package calendar

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// daily is a source that fires every day at some times of day.
func daily(loc *time.Location, times ...TimeOfDay) Source {
	return byDay(loc, func(Date) []TimeOfDay { return times })
}

// byDay is a source that fires at rising times of day that depend on the date.
func byDay(loc *time.Location, times func(Date) []TimeOfDay) Source {
	return func(after time.Time) (time.Time, error) {
		for d := DateOf(after.In(loc)); ; d = d.AddDays(1) {
			for _, tod := range times(d) {
				if at := d.At(tod, loc); at.After(after) {
					return at, nil
				}
			}
		}
	}
}

// mixed fires at up to three times on a date, at none on every fourth.
func mixed(d Date) []TimeOfDay {
	all := []TimeOfDay{{0, 0, 0}, {0, 30, 0}, {1, 40, 0}, {2, 15, 0}, {2, 30, 0}, {23, 59, 59}}
	n := d.number()
	return all[n%5:][:min(n%4, 6-n%5)]
}

func TestFilter(t *testing.T) {
	t.Parallel()
	shanghai := zone(t, "Asia/Shanghai")
	nine := timeOfDay(t, "09:00")
	tests := []struct {
		onClosed OnClosed
		after    string
		want     []string
	}{
		{Skip, "2026-02-13T12:00:00+08:00", []string{"02-14", "02-24", "02-25", "02-26", "02-27", "02-28", "03-02"}},
		{ToNext, "2026-02-13T12:00:00+08:00", []string{"02-14", "02-24", "02-25", "02-26", "02-27", "02-28", "03-02"}},
		{ToPrevious, "2026-02-13T12:00:00+08:00", []string{"02-14", "02-24", "02-25", "02-26", "02-27", "02-28", "03-02"}},
	}
	for _, tt := range tests {
		f := Filter{Calendar: china(t), OnClosed: tt.onClosed, Zone: shanghai, Times: daily(shanghai, nine)}
		for i, got := range take(t, f, instant(t, tt.after), len(tt.want)) {
			if want := "2026-" + tt.want[i] + "T09:00:00+08:00"; got.Format(time.RFC3339) != want {
				t.Errorf("%s: time %d is %s, want %s", tt.onClosed, i, got.Format(time.RFC3339), want)
			}
		}
	}
}

// TestFilterMovesEachMonth moves the 15th: in 2026 it is a Sunday in
// February (Spring Festival), March and November, a Saturday in August.
func TestFilterMovesEachMonth(t *testing.T) {
	t.Parallel()
	shanghai := zone(t, "Asia/Shanghai")
	fifteenth := func(after time.Time) (time.Time, error) {
		for d := DateOf(after.In(shanghai)); ; d = d.AddDays(1) {
			if at := d.In(shanghai, 9, 0, 0); d.Day == 15 && at.After(after) {
				return at, nil
			}
		}
	}
	for onClosed, want := range map[OnClosed]string{
		Skip:       "01-15 04-15 05-15 06-15",
		ToNext:     "01-15 02-24 03-16 04-15",
		ToPrevious: "01-15 02-14 03-13 04-15",
	} {
		f := Filter{Calendar: china(t), OnClosed: onClosed, Zone: shanghai, Times: fifteenth}
		var got []string
		for _, at := range take(t, f, instant(t, "2026-01-01T00:00:00+08:00"), 4) {
			got = append(got, at.Format("01-02"))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: got %s, want %s", onClosed, text, want)
		}
	}
}

// TestFilterAgainstPlainList compares with a list made by moving every due
// time of half a year one by one, across clock changes.
func TestFilterAgainstPlainList(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Atlantic/Azores"} {
		for _, onClosed := range []OnClosed{Skip, ToPrevious, ToNext} {
			t.Run(name+" "+string(onClosed), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(3, 4))
				loc := zone(t, name)
				for range 20 {
					comparePlainList(t, random, loc, onClosed)
				}
			})
		}
	}
}

func comparePlainList(t *testing.T, random *rand.Rand, loc *time.Location, onClosed OnClosed) {
	t.Helper()
	first := date(t, "2018-09-01").AddDays(random.IntN(3000))
	var closed []Rule
	for range random.IntN(40) {
		from := first.AddDays(random.IntN(180))
		closed = append(closed, Between(from, from.AddDays(random.IntN(9))))
	}
	c := build(t, Spec{Name: "random", Weekly: mondayToFriday[:1+random.IntN(5)], Closed: closed})
	var plain []time.Time
	for offset := -60; offset < 240; offset++ {
		source := first.AddDays(offset)
		for _, tod := range mixed(source) {
			if day, ok := moved(c, source, onClosed); ok {
				plain = append(plain, day.At(tod, loc))
			}
		}
	}
	slices.SortFunc(plain, time.Time.Compare)
	plain = slices.CompactFunc(plain, time.Time.Equal)
	after := first.In(loc, 0, 0, 0).Add(time.Duration(random.IntN(secondsPerDay)) * time.Second)
	// Up to where days not in the list have no part.
	until := first.AddDays(200).In(loc, 0, 0, 0)
	plain = slices.DeleteFunc(plain, func(p time.Time) bool { return !p.After(after) || p.After(until) })
	f := Filter{Calendar: c, OnClosed: onClosed, Zone: loc, Times: byDay(loc, mixed), Wall: byDay(time.UTC, mixed)}
	for i, got := range take(t, f, after, len(plain)) {
		if !got.Equal(plain[i]) {
			t.Fatalf("after %s: time %d is %s, want %s", after, i, got, plain[i])
		}
	}
}

func moved(c *Calendar, d Date, onClosed OnClosed) (Date, bool) {
	switch {
	case c.IsOpen(d):
		return d, true
	case onClosed == ToPrevious:
		return c.PrevOpen(d)
	case onClosed == ToNext:
		return c.NextOpen(d)
	default:
		return d, false
	}
}

// TestFilterKeepsElapsedTime asks for every half hour over a repeated hour.
func TestFilterKeepsElapsedTime(t *testing.T) {
	t.Parallel()
	newYork := zone(t, "America/New_York")
	halfHours := func(after time.Time) (time.Time, error) {
		return after.Truncate(30 * time.Minute).Add(30 * time.Minute), nil
	}
	f := Filter{Calendar: build(t, Spec{Name: "open"}), Zone: newYork, Times: halfHours}
	for _, f.OnClosed = range []OnClosed{Skip, ToNext, ToPrevious} {
		after := instant(t, "2026-11-01T00:45:00-04:00")
		want := instant(t, "2026-11-01T01:00:00-04:00")
		for _, got := range take(t, f, after, 8) {
			if !got.Equal(want) {
				t.Errorf("%s: got %s, want %s", f.OnClosed, got, want)
			}
			want = want.Add(30 * time.Minute)
		}
	}
}

// TestFilterMovesFromRepeatedHour has a source fire in both showings of an
// hour on a closed Sunday: moved, they are one time each.
func TestFilterMovesFromRepeatedHour(t *testing.T) {
	t.Parallel()
	newYork := zone(t, "America/New_York")
	hours := func(after time.Time) (time.Time, error) {
		at := after.Truncate(time.Hour).Add(time.Hour)
		for DateOf(at.In(newYork)).Weekday() != time.Sunday {
			at = at.Add(time.Hour)
		}
		return at, nil
	}
	f := Filter{Calendar: build(t, Spec{Name: "week", Weekly: mondayToFriday}), OnClosed: ToNext, Zone: newYork, Times: hours}
	times := take(t, f, instant(t, "2026-10-31T12:00:00-04:00"), 24)
	for hour, got := range times {
		if want := (Date{2026, time.November, 2}).In(newYork, hour, 0, 0); !got.Equal(want) {
			t.Errorf("time %d: got %s, want %s", hour, got, want)
		}
	}
}

// TestFilterBackOverMidnight has the clock go back from 00:01 of an open
// Sunday into a closed Saturday: the Sunday's first minute is not asked again.
func TestFilterBackOverMidnight(t *testing.T) {
	t.Parallel()
	minutes := func(after time.Time) (time.Time, error) {
		return after.Truncate(time.Minute).Add(time.Minute), nil
	}
	f := Filter{
		Calendar: build(t, Spec{Name: "sundays", Weekly: []time.Weekday{time.Sunday}}),
		OnClosed: Skip, Zone: zone(t, "America/St_Johns"), Times: minutes,
	}
	times := take(t, f, instant(t, "2006-10-28T22:00:00-02:30"), 2)
	for i, want := range []string{"2006-10-29T00:00:00-02:30", "2006-10-29T00:00:00-03:30"} {
		if got := times[i].Format(time.RFC3339); got != want {
			t.Errorf("time %d: got %s, want %s", i+1, got, want)
		}
	}
}

func TestFilterEnds(t *testing.T) {
	t.Parallel()
	everySecond := func(after time.Time) (time.Time, error) {
		return after.Truncate(time.Second).Add(time.Second), nil
	}
	friday := func(after time.Time) (time.Time, error) {
		for d := DateOf(after); ; d = d.AddDays(1) {
			if at := d.midnightUTC(); d.Weekday() == time.Friday && at.After(after) {
				return at, nil
			}
		}
	}
	once := func(after time.Time) (time.Time, error) {
		if at := instant(t, "2030-01-01T08:00:00Z"); at.After(after) {
			return at, nil
		}
		return time.Time{}, nil
	}
	closed := build(t, Spec{Name: "closed", Weekly: []time.Weekday{}})
	sundays := build(t, Spec{Name: "sundays", Weekly: []time.Weekday{time.Sunday}})
	decade := build(t, Spec{Name: "decade", Closed: []Rule{rule(t, "2026-01-01..2035-12-31", "")}})
	tests := []struct {
		name     string
		calendar *Calendar
		onClosed []OnClosed
		source   Source
	}{
		{"closed for ever", closed, []OnClosed{Skip, ToPrevious, ToNext}, everySecond},
		{"never both", sundays, []OnClosed{Skip}, friday},
		{"closed until the source ends", decade, []OnClosed{Skip, ToPrevious}, once},
	}
	for _, tt := range tests {
		for _, onClosed := range tt.onClosed {
			f := Filter{Calendar: tt.calendar, OnClosed: onClosed, Zone: time.UTC, Times: tt.source}
			if got, err := f.Next(instant(t, "2026-01-01T00:00:00Z")); err != nil || !got.IsZero() {
				t.Errorf("%s, %s: got %s, %v, want never", tt.name, onClosed, got, err)
			}
		}
	}
}

func TestFilterErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	open := build(t, Spec{Name: "open"})
	after := instant(t, "2026-01-01T00:00:00Z")
	sources := map[string]Source{
		"broken":    func(time.Time) (time.Time, error) { return time.Time{}, broken },
		"backwards": func(t time.Time) (time.Time, error) { return t.Add(-time.Hour), nil },
		"in place":  func(t time.Time) (time.Time, error) { return t, nil },
	}
	for name, source := range sources {
		for _, onClosed := range []OnClosed{Skip, ToPrevious, ToNext} {
			f := Filter{Calendar: open, OnClosed: onClosed, Zone: time.UTC, Times: source}
			got, err := f.Next(after)
			if err == nil || !got.IsZero() || name == "broken" && !errors.Is(err, broken) {
				t.Errorf("%s source, %s: got %s, %v", name, onClosed, got, err)
			}
		}
	}
	f := Filter{Calendar: open, OnClosed: "later", Zone: time.UTC, Times: daily(time.UTC, TimeOfDay{})}
	if _, err := f.Next(after); err == nil || !strings.Contains(err.Error(), `"later"`) {
		t.Errorf("unknown word for closed days: %v", err)
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// take asks n times, each time after the last answer.
func take(t *testing.T, f Filter, after time.Time, n int) []time.Time {
	t.Helper()
	var times []time.Time
	for range n {
		at, err := f.Next(after)
		if err != nil || !at.After(after) {
			t.Fatalf("after %s: got %s, %v", after, at, err)
		}
		times = append(times, at)
		after = at
	}
	return times
}
