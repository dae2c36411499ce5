package wheel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var base = time.Date(2026, 3, 1, 10, 59, 58, 250_000_000, time.UTC)

func collect(w *Wheel[int], now time.Time) []int {
	var keys []int
	w.Advance(now, func(_ time.Time, k int) { keys = append(keys, k) })
	return keys
}

func TestFiresInOrderAcrossLevels(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{
		0, time.Microsecond, 10 * time.Millisecond, 749 * time.Millisecond, 750 * time.Millisecond,
		time.Second, 2 * time.Second, 59 * time.Second, time.Minute, 61 * time.Second, 59 * time.Minute,
		time.Hour, time.Hour + time.Microsecond, 25 * time.Hour, 400 * 24 * time.Hour,
	}
	w := New[int](base)
	for i, d := range slices.Backward(delays) {
		w.Add(base.Add(d), i)
	}
	for i, d := range delays {
		if d > 0 {
			if got := collect(w, base.Add(d-time.Microsecond)); got != nil {
				t.Fatalf("before %v: fired %v", d, got)
			}
		}
		if got := collect(w, base.Add(d)); !slices.Equal(got, []int{i}) {
			t.Fatalf("at %v: fired %v, want [%d]", d, got, i)
		}
	}
	if w.Len() != 0 {
		t.Fatalf("%d entries left", w.Len())
	}
	if _, ok := w.Wake(); ok {
		t.Fatal("an empty wheel wants to be woken")
	}
}

// TestAgainstSortedList drives the wheel by its own Wake, with adds from within
// due and clock steps both ways, and compares with a plain sorted list.
func TestAgainstSortedList(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			spans := []time.Duration{time.Second, time.Minute, time.Hour, 50 * time.Hour}
			delay := func() time.Duration {
				return time.Duration(r.Int64N(int64(spans[r.IntN(len(spans))]))).Truncate(time.Microsecond)
			}
			now := base.Add(delay())
			w := New[int](now)
			pending := map[int]time.Time{}
			add := func(at time.Time) {
				k := len(pending) + w.Len()*1000003 + r.IntN(1<<30)
				pending[k] = at
				w.Add(at, k)
			}
			for range 300 {
				add(now.Add(delay() - time.Minute))
			}
			for extra := 300; len(pending) > 0; {
				wake, ok := w.Wake()
				if !ok {
					t.Fatalf("%d entries wait but the wheel does not want to be woken", len(pending))
				}
				switch r.IntN(4) {
				case 0:
					now = now.Add(-delay())
				case 1:
					now = now.Add(delay())
				default:
					now = later(now, wake)
				}
				last := time.Time{}
				w.Advance(now, func(at time.Time, k int) {
					want, ok := pending[k]
					if !ok || !at.Equal(want) {
						t.Fatalf("key %d fired at %v, want %v (known %v)", k, at, want, ok)
					}
					if at.After(now) || at.Before(last) {
						t.Fatalf("fired %v at %v, after %v", at, now, last)
					}
					delete(pending, k)
					if extra > 0 {
						extra--
						add(now.Add(delay()))
					} else {
						last = at
					}
				})
				for _, at := range pending {
					if !at.After(now) {
						t.Fatalf("%v did not fire by %v", at, now)
					}
				}
			}
		})
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// BenchmarkAddAndFire keeps 100,000 timers of 1 s to 5 min going, each added
// again when it fires; an operation is one add and one fire.
func BenchmarkAddAndFire(b *testing.B) {
	const timers = 100_000
	now := base
	w := New[int64](now)
	r := rand.New(rand.NewPCG(1, 2))
	delays := make([]time.Duration, 1<<16)
	for i := range delays {
		delays[i] = time.Second + time.Duration(r.Int64N(int64(299*time.Second)))
	}
	for i := range int64(timers) {
		w.Add(now.Add(delays[i%int64(len(delays))]), i)
	}
	b.ReportAllocs()
	for fired := 0; fired < b.N; {
		now = now.Add(5 * time.Millisecond)
		w.Advance(now, func(_ time.Time, k int64) {
			fired++
			w.Add(now.Add(delays[fired%len(delays)]), k)
		})
	}
}
