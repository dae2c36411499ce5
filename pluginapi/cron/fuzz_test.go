package cron_test

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/axsched/ax/pluginapi/cron"
)

var fuzzed = []string{
	"*/5 * * * * ?", "0 0 10 ? * MON-FRI", "0 0 2 ? * 6L", "0 0 0 29 2 ? 2025-2027", "0 0 12 L-3W,15W,L * ?",
	"0 0 0 ? * MON#1,FRIL", "H H(0-5)/2 * * *", "0 0 */2 * 1", "0 0 13 * 5", "@daily", "CRON_TZ=Asia/Shanghai 0 10 * * 7",
	"TZ=UTC", "0 0 10 ？ * MON", "0 0 0 1, 15 * ?", "55-5/5 14-6 * ? NOV-FEB fri-mon", "/3 0/0 24 32 13 8 1969",
}

// FuzzParse: every text gives a schedule that comes back from its String, or
// an *Error that says something.
func FuzzParse(f *testing.F) {
	for _, expr := range fuzzed {
		f.Add(expr, "name")
	}
	f.Fuzz(func(t *testing.T, expr, seed string) {
		o := cron.Options{Hash: seed}
		s, err := cron.Parse(expr, o)
		if err != nil {
			e, ok := errors.AsType[*cron.Error](err)
			if !ok || e.Field == "" || e.Problem == "" || !utf8.ValidString(e.Error()) {
				t.Fatalf("Parse(%q): %#v", expr, err)
			}
			return
		}
		again, err := cron.Parse(s.String(), o)
		if err != nil || again.String() != s.String() {
			t.Fatalf("Parse(%q) is %q, which is %q: %v", expr, s, again, err)
		}
		start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		if a, b := s.Next(start), again.Next(start); !a.Equal(b) {
			t.Fatalf("%q fires at %s, %q at %s", expr, a, s, b)
		}
		if s.Describe("en") == "" || s.Describe("zh") == "" {
			t.Fatalf("no description of %q", expr)
		}
		s.Warnings()
	})
}

// FuzzNext: answers lie on the right side of the question, nothing lies
// between the two, and Prev leads back.
func FuzzNext(f *testing.F) {
	for i, expr := range fuzzed {
		f.Add(expr, []string{"America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"}[i%4], int64(1_325_239_200+i*7_000_000))
	}
	f.Fuzz(func(t *testing.T, expr, zone string, at int64) {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			return
		}
		s, err := cron.Parse(expr, cron.Options{Location: loc})
		if err != nil {
			return
		}
		after := time.Unix(at, 0)
		next := s.Next(after)
		if next.IsZero() {
			if got := s.Prev(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)); got.After(after) {
				t.Fatalf("%q in %s: Next(%s) is never, but it fires at %s", expr, zone, after, got)
			}
			return
		}
		if !next.After(after) || next.Nanosecond() != 0 {
			t.Fatalf("%q in %s: Next(%s) = %s", expr, zone, after, next)
		}
		if got := s.Next(next.Add(-time.Nanosecond)); !got.Equal(next) {
			t.Fatalf("%q in %s: just before %s Next is %s", expr, zone, next, got)
		}
		if got := s.Prev(next.Add(time.Nanosecond)); !got.Equal(next) {
			t.Fatalf("%q in %s: just after %s Prev is %s", expr, zone, next, got)
		}
		if got := s.Prev(next); got.After(after) {
			t.Fatalf("%q in %s: Next(%s) = %s leaves out %s", expr, zone, after, next, got)
		}
	})
}
