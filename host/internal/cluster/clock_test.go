package cluster

import (
	"math/rand/v2"
	"testing"
	"time"
)

var noon = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

// TestClockTakesTheBestReading: of several readings the one with the shortest
// round trip counts, wherever within it the clock was read.
func TestClockTakesTheBestReading(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		var c clock
		at, shortest := time.Duration(0), time.Hour
		for range 1 + r.IntN(keptSamples) {
			at += 5 * time.Second
			trip := time.Duration(r.Int64N(int64(200*time.Millisecond))) + time.Microsecond
			read := time.Duration(r.Int64N(int64(trip)))
			if step := c.add(at, at+trip, noon.Add(at+read)); step != 0 {
				t.Fatalf("seed %d: a step of %s, but no clock was set", seed, step)
			}
			shortest = min(shortest, trip)
		}
		at += time.Second
		db, _ := c.now(at)
		// Readings age by 5 ms in 5 s, so an older one may be the best.
		if off := db.Sub(noon.Add(at)).Abs(); off > shortest/2+keptSamples*5*time.Millisecond {
			t.Errorf("seed %d: off by %s with a round trip of %s", seed, off, shortest)
		}
	}
}

func TestClockSteps(t *testing.T) {
	t.Parallel()
	var c clock
	if off := c.offset(noon, 0); off != 0 {
		t.Errorf("offset %s before the first reading", off)
	}
	const trip = 2 * time.Millisecond
	db := noon
	for i, step := range []time.Duration{0, 0, 30 * time.Second, 0, -45 * time.Second, 0, time.Hour, -time.Second} {
		at := time.Duration(i) * 5 * time.Second
		db = db.Add(step)
		got := c.add(at, at+trip, db.Add(at+trip/2))
		if (got - step).Abs() > trip {
			t.Errorf("reading %d: noticed a step of %s, want %s", i, got, step)
		}
		if now, _ := c.now(at + trip); now.Sub(db.Add(at+trip)).Abs() > trip {
			t.Errorf("reading %d: %s, want %s", i, now, db.Add(at+trip))
		}
	}
	// The clock of this host is set by 30 s: known at once, without a reading.
	at := 40 * time.Second
	if off := c.offset(db.Add(at+30*time.Second), at); (off - 30*time.Second).Abs() > 50*time.Millisecond {
		t.Errorf("offset %s, want 30s", off)
	}
	if off := c.offset(db.Add(at-30*time.Second), at); (off + 30*time.Second).Abs() > 50*time.Millisecond {
		t.Errorf("offset %s, want -30s", off)
	}
}
