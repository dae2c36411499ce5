package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/cron"
)

// TestDatesAgainstReference compares long runs of days, where only the
// calendar matters.
func TestDatesAgainstReference(t *testing.T) {
	t.Parallel()
	const days = 1500
	compare(t, func(t *testing.T, g generator) int {
		start := time.Date(1995+g.IntN(150), time.Month(1+g.IntN(12)), 1+g.IntN(31), 12, 0, 0, 0, time.UTC)
		words := strings.Fields(g.expression(start))
		if len(words) == 5 {
			words[0], words[1] = "0", "12"
		} else {
			words[0], words[1], words[2] = "0", "0", "12"
		}
		expr := strings.Join(words, " ")
		s, err := cron.Parse(expr, cron.Options{})
		if err != nil {
			t.Errorf("generated %q: %v", expr, err)
			return 0
		}
		r := newReference(expr)
		compared := 0
		last := start
		for at := range days {
			d := start.AddDate(0, 0, at+1)
			if !r.day(d) {
				continue
			}
			if got := s.Next(last); !got.Equal(d) {
				t.Errorf("%q: Next(%s) = %s, want %s", expr, last, got, d)
			}
			if got := s.Prev(d); last != start && !got.Equal(last) {
				t.Errorf("%q: Prev(%s) = %s, want %s", expr, d, got, last)
			}
			last = d
			if compared += 2; compared > 60 || t.Failed() {
				return compared
			}
		}
		if got := s.Next(last); !got.IsZero() && got.Before(start.AddDate(0, 0, days)) {
			t.Errorf("%q: Next(%s) = %s, want none within %d days", expr, last, got, days)
		}
		return compared + 1
	})
}
