package calendar

import (
	"testing"
	"time"
)

func date(t *testing.T, text string) Date {
	t.Helper()
	d, err := ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2024-02-29", "0001-01-01", "9999-12-31"} {
		if got := date(t, text).String(); got != text {
			t.Errorf("ParseDate(%q) prints as %q", text, got)
		}
	}
	for _, text := range []string{"", "2026-02-29", "2026-2-3", "0000-01-01", "26-01-01", "2026-01-01 ", "2026/01/01", "2026-13-01"} {
		if d, err := ParseDate(text); err == nil {
			t.Errorf("ParseDate(%q) = %s, want an error", text, d)
		}
	}
}

func TestDateArithmetic(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from string
		days int
		want string
	}{
		{"2024-02-28", 1, "2024-02-29"},
		{"2024-02-28", 2, "2024-03-01"},
		{"2026-12-31", 1, "2027-01-01"},
		{"1970-01-01", -1, "1969-12-31"},
		{"2000-01-01", -36524, "1900-01-01"},
		{"2026-05-05", 0, "2026-05-05"},
	}
	for _, tt := range tests {
		from, want := date(t, tt.from), date(t, tt.want)
		if got := from.AddDays(tt.days); got != want {
			t.Errorf("%s + %d days = %s, want %s", from, tt.days, got, want)
		}
		if got := from.DaysUntil(want); got != tt.days {
			t.Errorf("%s until %s = %d days, want %d", from, want, got, tt.days)
		}
		if got := from.Before(want); got != (tt.days > 0) {
			t.Errorf("%s before %s = %v", from, want, got)
		}
		if got := from.After(want); got != (tt.days < 0) {
			t.Errorf("%s after %s = %v", from, want, got)
		}
	}
	if got := date(t, "2026-02-14").Weekday(); got != time.Saturday {
		t.Errorf("2026-02-14 is a %s, want Saturday", got)
	}
}

func TestDaysIn(t *testing.T) {
	t.Parallel()
	tests := map[Date]int{
		{Year: 2024, Month: time.February}: 29,
		{Year: 2100, Month: time.February}: 28,
		{Year: 2026, Month: time.April}:    30,
		{Year: 2026, Month: time.December}: 31,
	}
	for month, want := range tests {
		if got := DaysIn(month.Year, month.Month); got != want {
			t.Errorf("%d-%02d has %d days, want %d", month.Year, month.Month, got, want)
		}
	}
}

func TestParseWeekday(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Weekday{"FRI": time.Friday, "fri": time.Friday, "Sunday": time.Sunday, "SATURDAY": time.Saturday} {
		if got, err := ParseWeekday(text); err != nil || got != want {
			t.Errorf("ParseWeekday(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "F", "FRIDAYS", "5", "星期五"} {
		if got, err := ParseWeekday(text); err == nil {
			t.Errorf("ParseWeekday(%q) = %s, want an error", text, got)
		}
	}
}
