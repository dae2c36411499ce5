package cron_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi/cron"
)

// fromEnvironment returns the value of a variable: CRON_COMPARISONS is how
// many answers the property tests compare, CRON_SEED repeats a run.
func fromEnvironment(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// compare runs check with fresh random numbers until it has compared the
// demanded number of answers.
func compare(t *testing.T, check func(t *testing.T, g generator) int) {
	t.Helper()
	want := int64(fromEnvironment(t, "CRON_COMPARISONS", 20_000))
	seed := fromEnvironment(t, "CRON_SEED", rand.Uint64())
	t.Logf("CRON_SEED=%d", seed)
	var done, round atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for done.Load() < want && !t.Failed() {
				g := generator{rand.New(rand.NewPCG(seed, uint64(round.Add(1))))}
				done.Add(int64(check(t, g)))
			}
		})
	}
	workers.Wait()
	t.Logf("%d comparisons in %d rounds", done.Load(), round.Load())
}

// TestAgainstReference compares Next and Prev around the clock changes of all
// zones with the slow reference.
func TestAgainstReference(t *testing.T) {
	t.Parallel()
	var zones []clockChanges
	for name := range lines(t, "testdata/zones.txt") {
		zones = append(zones, changesOf(location(t, name)))
	}
	compare(t, func(t *testing.T, g generator) int {
		z := zones[g.IntN(len(zones))]
		at := time.Unix(-2_000_000_000+g.Int64N(8_000_000_000), 0)
		if len(z.at) > 0 && g.IntN(10) > 0 {
			at = z.at[g.IntN(len(z.at))]
		}
		near := reading(z.loc, at.Add(time.Duration(g.IntN(3)-2)*time.Second))
		return compareAround(t, g, g.expression(near), z.loc, at)
	})
}

// TestInventedZones compares in zones that no government has thought of yet:
// up to eight jumps of any size within minutes or days.
func TestInventedZones(t *testing.T) {
	t.Parallel()
	compare(t, func(t *testing.T, g generator) int {
		at := time.Unix(g.Int64N(7_000_000_000), 0)
		loc, err := time.LoadLocationFromTZData("Invented", g.zone(at))
		if err != nil {
			t.Error(err)
			return 0
		}
		near := reading(loc, at.Add(time.Duration(g.IntN(8))*time.Hour))
		return compareAround(t, g, g.expression(near), loc, at.Add(time.Duration(g.IntN(20))*time.Hour))
	})
}

// compareAround compares the answers of an expression for times around at
// and returns how many.
func compareAround(t *testing.T, g generator, expr string, loc *time.Location, at time.Time) int {
	t.Helper()
	s, err := cron.Parse(expr, cron.Options{Location: loc})
	if err != nil {
		t.Errorf("generated %q: %v", expr, err)
		return 0
	}
	wide := 3 * time.Hour
	if !strings.HasPrefix(expr, "*") && g.IntN(2) == 0 {
		wide = 30 * time.Hour
	}
	from, to := at.Add(-wide), at.Add(wide)
	fires := newReference(expr).fires(loc, from, to)
	asked := []time.Time{from.Add(-time.Second), at.Add(-time.Second), at, at.Add(time.Second), to.Add(-time.Second)}
	for range min(len(fires), 10) {
		f := fires[g.IntN(len(fires))]
		asked = append(asked, f.Add(-time.Second), f, f.Add(time.Millisecond), f.Add(time.Second))
	}
	for _, q := range asked {
		if got, want := s.Next(q), firstAfter(fires, q); !agree(got, want, !got.IsZero() && got.Before(to)) {
			t.Errorf("%q in %s: Next(%s) = %s, want %s", expr, loc, q.In(loc), got, want.In(loc))
		}
		if got, want := s.Prev(q), lastBefore(fires, q); !agree(got, want, !got.Before(from)) {
			t.Errorf("%q in %s: Prev(%s) = %s, want %s", expr, loc, q.In(loc), got, want.In(loc))
		}
	}
	return 2 * len(asked)
}

// agree compares an answer with the reference, which knows a window of time
// only: where it has none, the answer must lie outside.
func agree(got, want time.Time, inside bool) bool {
	if want.IsZero() {
		return !inside
	}
	return got.Equal(want)
}

func firstAfter(fires []time.Time, q time.Time) time.Time {
	if i := slices.IndexFunc(fires, q.Before); i >= 0 {
		return fires[i]
	}
	return time.Time{}
}

func lastBefore(fires []time.Time, q time.Time) time.Time {
	for _, f := range slices.Backward(fires) {
		if f.Before(q) {
			return f
		}
	}
	return time.Time{}
}

// clockChanges are the times at which a zone's clock jumps.
type clockChanges struct {
	loc *time.Location
	at  []time.Time
}

// changesOf collects the jumps of three and a half centuries.
func changesOf(loc *time.Location) clockChanges {
	z := clockChanges{loc: loc}
	for t := time.Date(1840, 1, 1, 0, 0, 0, 0, time.UTC); t.Year() < 2200; {
		_, end := t.In(loc).ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(t) {
			end = t.Add(24 * time.Hour)
		}
		if offset(loc, end) != offset(loc, end.Add(-time.Second)) {
			z.at = append(z.at, end)
		}
		t = end
	}
	return z
}
