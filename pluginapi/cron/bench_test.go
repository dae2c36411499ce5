package cron_test

import (
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/cron"
)

// benchmarked are kinds of expressions that cost a search more and more.
var benchmarked = []struct{ name, expr string }{
	{"every five seconds", "*/5 * * * * ?"},
	{"weekdays 02:00", "0 0 2 ? * MON-FRI"},
	{"last Friday", "0 0 2 ? * 6L"},
	{"29 February", "0 0 0 29 2 ?"},
	{"fifth Thursday of February", "0 0 0 ? 2 5#5"},
	{"never", "0 0 0 30 2 ?"},
}

func BenchmarkNext(b *testing.B) {
	for _, zone := range []string{"UTC", "America/New_York"} {
		for _, c := range benchmarked {
			b.Run(c.name+"/"+zone, func(b *testing.B) {
				s := mustParse(b, c.expr, zone)
				start := time.Date(2026, 1, 1, 0, 0, 0, 0, s.Location())
				b.ReportAllocs()
				at := start
				for b.Loop() {
					if at = s.Next(at); at.IsZero() {
						at = start
					}
				}
			})
		}
	}
}

func BenchmarkPrev(b *testing.B) {
	s := mustParse(b, "0 0 2 ? * MON-FRI", "America/New_York")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, s.Location())
	b.ReportAllocs()
	at := start
	for b.Loop() {
		if at = s.Prev(at); at.IsZero() {
			at = start
		}
	}
}

func BenchmarkParse(b *testing.B) {
	loc := location(b, "America/New_York")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cron.Parse("0 0/15 9-17 ? * MON-FRI", cron.Options{Location: loc}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseNewZone includes the table of clock changes, which is made
// once for each location.
func BenchmarkParseNewZone(b *testing.B) {
	for b.Loop() {
		if _, err := cron.Parse("0 0 2 ? * MON-FRI", cron.Options{Location: location(b, "America/New_York")}); err != nil {
			b.Fatal(err)
		}
	}
}

func mustParse(t testing.TB, expr, zone string) *cron.Schedule {
	t.Helper()
	s, err := cron.Parse(expr, cron.Options{Location: location(t, zone)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
