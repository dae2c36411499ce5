package calendar

import (
	"testing"
	"time"
)

func TestNextAndPrevOpen(t *testing.T) {
	t.Parallel()
	cn := china(t)
	tests := []struct{ from, next, prev string }{
		{"2026-02-14", "2026-02-24", "2026-02-13"}, // a make-up Saturday before the holiday
		{"2026-02-20", "2026-02-24", "2026-02-14"},
		{"2024-12-31", "2025-01-02", "2024-12-30"},
		{"2026-01-02", "2026-01-04", "2025-12-31"},
		{"2026-03-04", "2026-03-05", "2026-03-03"},
	}
	for _, tt := range tests {
		from := date(t, tt.from)
		if got, ok := cn.NextOpen(from); !ok || got != date(t, tt.next) {
			t.Errorf("next open after %s = %s, %v, want %s", from, got, ok, tt.next)
		}
		if got, ok := cn.PrevOpen(from); !ok || got != date(t, tt.prev) {
			t.Errorf("previous open before %s = %s, %v, want %s", from, got, ok, tt.prev)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	closed := build(t, Spec{Name: "closed", Weekly: []time.Weekday{}})
	from := date(t, "2026-01-01")
	if got, ok := closed.NextOpen(from); ok {
		t.Errorf("next open of a closed calendar = %s", got)
	}
	if got, ok := closed.PrevOpen(from); ok {
		t.Errorf("previous open of a closed calendar = %s", got)
	}
	if got, ok := closed.NthOpenOfMonth(2026, time.January, 1); ok {
		t.Errorf("first open day of a closed calendar = %s", got)
	}
}

func TestNthOpenOfMonth(t *testing.T) {
	t.Parallel()
	cn := china(t)
	tests := []struct {
		year  int
		month time.Month
		n     int
		want  string
	}{
		{2026, time.January, 1, "2026-01-04"}, // a make-up Sunday
		{2026, time.January, -1, "2026-01-30"},
		{2025, time.January, -1, "2025-01-27"},
		{2026, time.February, 10, "2026-02-13"},
		{2026, time.February, 11, "2026-02-14"},
		{2026, time.February, 12, "2026-02-24"},
		{2026, time.February, -16, "2026-02-02"},
		{2026, time.February, 16, "2026-02-28"},
		{2026, time.February, 17, ""},
		{2026, time.February, -17, ""},
		{2026, time.February, 0, ""},
	}
	for _, tt := range tests {
		got, ok := cn.NthOpenOfMonth(tt.year, tt.month, tt.n)
		if !ok && tt.want == "" {
			continue
		}
		if !ok || tt.want == "" || got != date(t, tt.want) {
			t.Errorf("open day %d of %d-%02d = %s, %v, want %q", tt.n, tt.year, tt.month, got, ok, tt.want)
		}
	}
}
