package calendar

import (
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func timeOfDay(t *testing.T, text string) TimeOfDay {
	t.Helper()
	tod, err := ParseTimeOfDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return tod
}

func TestParseTimeOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"02:00": "02:00:00", "23:59:59": "23:59:59", "00:00": "00:00:00"} {
		if got := timeOfDay(t, text); got.String() != want {
			t.Errorf("ParseTimeOfDay(%q) = %s, want %s", text, got, want)
		}
	}
	if got := timeOfDay(t, "01:02:03").Seconds(); got != 3723 {
		t.Errorf("01:02:03 is %d seconds, want 3723", got)
	}
	for _, text := range []string{"", "2:00", "24:00", "12:60", "12:00:60", "12:00:00.5", "12", "noon", "12:00 "} {
		if got, err := ParseTimeOfDay(text); err == nil {
			t.Errorf("ParseTimeOfDay(%q) = %s, want an error", text, got)
		}
	}
}

func TestDateAt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone, date, time, want string
	}{
		{"ordinary day", "Asia/Shanghai", "2026-01-30", "02:00", "2026-01-30T02:00:00+08:00"},
		{"gap of an hour", "America/New_York", "2026-03-08", "02:30", "2026-03-08T03:00:00-04:00"},
		{"start of the gap", "America/New_York", "2026-03-08", "02:00", "2026-03-08T03:00:00-04:00"},
		{"end of the gap", "America/New_York", "2026-03-08", "03:00", "2026-03-08T03:00:00-04:00"},
		{"just before the gap", "America/New_York", "2026-03-08", "01:59:59", "2026-03-08T01:59:59-05:00"},
		{"gap of half an hour", "Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-04T02:30:00+11:00"},
		{"gap of two hours", "Antarctica/Troll", "2026-03-29", "01:30", "2026-03-29T03:00:00+02:00"},
		{"midnight in a gap", "America/Sao_Paulo", "2018-11-04", "00:00", "2018-11-04T01:00:00-02:00"},
		{"day that is missing", "Pacific/Apia", "2011-12-30", "09:00", "2011-12-31T00:00:00+14:00"},
		{"shown twice", "America/New_York", "2026-11-01", "01:30", "2026-11-01T01:30:00-04:00"},
		{"end of what is shown twice", "America/New_York", "2026-11-01", "02:00", "2026-11-01T02:00:00-05:00"},
		{"overlap of half an hour", "Australia/Lord_Howe", "2025-04-06", "01:40", "2025-04-06T01:40:00+11:00"},
		{"midnight shown twice", "Atlantic/Azores", "2026-10-25", "00:00", "2026-10-25T00:00:00Z"},
		{"back over midnight", "America/St_Johns", "2006-10-29", "00:00:30", "2006-10-29T00:00:30-02:30"},
		{"far future", "Europe/Berlin", "2199-07-01", "12:00", "2199-07-01T12:00:00+02:00"},
		// Beyond its tables the library gives a year 365 days, so that the period
		// it names for the last day of a leap year has already ended.
		{"end of a leap year by rule", "Europe/Berlin", "2048-12-31", "12:00", "2048-12-31T12:00:00+01:00"},
		{"start after a leap year by rule", "Australia/Sydney", "2049-01-01", "00:00", "2049-01-01T00:00:00+11:00"},
		{"far past", "Europe/Berlin", "1800-07-01", "12:00", "1800-07-01T12:00:00+00:53"},
		{"utc", "UTC", "2024-02-29", "23:59:59", "2024-02-29T23:59:59Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := date(t, tt.date).At(timeOfDay(t, tt.time), zone(t, tt.zone))
			if text := got.Format(time.RFC3339); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

// TestDateAtIsFirst walks whole days around clock changes second by second
// and compares with the definition: no earlier instant shows that or more.
func TestDateAtIsFirst(t *testing.T) {
	t.Parallel()
	days := map[string]string{
		"America/New_York":    "2026-03-08",
		"America/St_Johns":    "2006-10-29",
		"Australia/Lord_Howe": "2026-10-04",
		"Atlantic/Azores":     "2026-10-25",
		"Africa/Casablanca":   "2026-02-15",
		"Pacific/Chatham":     "2026-04-05",
	}
	for name, day := range days {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc, d := zone(t, name), date(t, day)
			instant := d.AddDays(-1).In(loc, 0, 0, 0)
			for second := 0; second < secondsPerDay; second += 7 {
				want := TimeOfDay{Hour: second / 3600, Minute: second / 60 % 60, Second: second % 60}
				for shows(instant) < wallNumber(d, want) {
					instant = instant.Add(time.Second)
				}
				if got := d.At(want, loc); !got.Equal(instant) {
					t.Fatalf("%s %s: got %s, want %s", d, want, got, instant)
				}
			}
		})
	}
}

// TestDateAtOverLongTime reads noon back for every day of 200 years.
func TestDateAtOverLongTime(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "Australia/Sydney", "Africa/Casablanca", "Asia/Shanghai", "America/Nuuk"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc := zone(t, name)
			noon := TimeOfDay{Hour: 12}
			for d := date(t, "2000-01-01"); d.Year < 2200; d = d.AddDays(1) {
				if at := d.At(noon, loc); DateOf(at) != d || TimeOfDayOf(at) != noon {
					t.Fatalf("noon of %s is %s", d, at)
				}
			}
		})
	}
}

func shows(t time.Time) int { return wallNumber(DateOf(t), TimeOfDayOf(t)) }

func wallNumber(d Date, t TimeOfDay) int { return d.number()*secondsPerDay + t.Seconds() }

func BenchmarkDateIn(b *testing.B) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	d := Date{Year: 2030, Month: time.June, Day: 3}
	for b.Loop() {
		d.In(loc, 9, 30, 0)
	}
}
