package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	t.Parallel()
	all := []candidate{{name: "ax"}, {name: "fast", version: "v1"}, {name: "slow", version: "v2"}, {name: "lost", version: "v3"}, {name: "mute", version: "v4"}}
	entries := []*entry{
		{samples: []sample{{100, 0}, {20, 0}, {10, 0}}},
		{samples: []sample{{90, 1}}, verdict: otherRule},
		{samples: []sample{{2_500, 3}}},
		{verdict: wrong, note: "comes nothing"},
		{verdict: refused},
	}
	table := newTimes(all)
	table.add(kind{name: "now", expr: "* * * * * ?"}, all, entries)
	var text strings.Builder
	table.write(&text)
	want := `| kind of expression | ax | fast v1 | slow v2 | lost v3 | mute v4 | best peer ÷ ax |
|---|--:|--:|--:|--:|--:|--:|
| now ` + "`* * * * * ?`" + ` | 20 ns, 0 | 90 ns, 1 (1) | 2.5 µs, 3 | wrong (2) | – | 4.5 |

1. fast, now: leaves out the day on which the clock skips the time.
2. lost, now: comes nothing.

`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
}

// TestRaceMeasures: each one that is right is sampled as often as there are
// rounds, and its allocations are counted.
func TestRaceMeasures(t *testing.T) {
	t.Parallel()
	all := candidates()[:1]
	wasteful := func(x expression, zone *time.Location) (next, error) {
		f, err := compileAx(x, zone)
		return func(after time.Time) time.Time {
			kept = new(time.Time)
			return f(after)
		}, err
	}
	deaf := func(expression, *time.Location) (next, error) { return nil, errors.New("no") }
	entries, err := race(kinds()[1], append(all, candidate{"wasteful", "", wasteful}, candidate{"deaf", "", deaf}), 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 2, 0} {
		if got := len(entries[i].samples); got != want {
			t.Errorf("candidate %d has %d samples, want %d", i, got, want)
		}
	}
	if m := entries[1].median(); m.ns <= 0 || m.allocs < 1 {
		t.Errorf("an allocation a call is measured as %+v", m)
	}
}

// kept keeps an allocation out of the compiler's reach.
var kept *time.Time
