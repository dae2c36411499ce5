package wire

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// drainRing takes everything; where lines are missing it puts one that says so.
func drainRing(r *ring) (lines []line) {
	for {
		batch, missing := r.take()
		if missing.lines > 0 {
			lines = append(lines, line{level: "gap", text: fmt.Sprint(missing.lines, " lines, ", missing.bytes, " bytes")})
		}
		if len(batch) == 0 {
			return lines
		}
		lines = append(lines, batch...)
	}
}

// fill adds output until the ring is full, and returns how many lines that took.
func fill(r *ring) int {
	for n := 0; ; n++ {
		if l := (line{level: levelOutput, text: fmt.Sprint(n)}); !r.fits(l, 0, 0) {
			return n
		}
		r.add(line{level: levelOutput, text: fmt.Sprint(n)})
	}
}

func TestRingKeepsOrderAcrossLevels(t *testing.T) {
	t.Parallel()
	r := newRing()
	levels := []string{"error", "trace", levelOutput, "info", "debug", "warn", "unheard of"}
	for i := range ringLines {
		r.add(line{level: levels[i%len(levels)], text: fmt.Sprint(i)})
	}
	lines := drainRing(r)
	if len(lines) != ringLines {
		t.Fatalf("%d lines", len(lines))
	}
	for i, l := range lines {
		if l.text != fmt.Sprint(i) || l.level != levels[i%len(levels)] {
			t.Fatalf("line %d is %+v", i, l)
		}
	}
}

// A job that is faster than its host gets the host's pace, and loses nothing.
func TestFullRingWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRing()
		const n = 4 * ringLines
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range n {
				r.add(line{level: levelOutput, text: fmt.Sprint(i)})
			}
		})
		next := 0
		for next < n {
			time.Sleep(stallLimit - time.Second) // slow, but alive
			synctest.Wait()
			if r.lines.len() > ringLines {
				t.Fatalf("%d lines are held", r.lines.len())
			}
			batch, missing := r.take()
			if missing.lines > 0 {
				t.Fatalf("%d lines are missing", missing.lines)
			}
			for _, l := range batch {
				if l.text != fmt.Sprint(next) {
					t.Fatalf("line %d is %q", next, l.text)
				}
				next++
			}
		}
		wg.Wait()
	})
}

// A host that has stopped reading stops the job no longer than the limit. What
// is then dropped is told in its place, and warnings are not dropped.
func TestStalledRingDrops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRing()
		n := fill(r)
		begin := time.Now()
		r.add(line{level: levelOutput, text: "12345"}) // waits for the limit, the others do not
		r.add(line{level: "info", text: "678"})
		r.add(line{level: "warn", text: "beware"})
		r.add(line{level: "trace", text: "9"})
		if waited := time.Since(begin); waited != stallLimit {
			t.Errorf("waited %s", waited)
		}
		lines := drainRing(r)
		var end []string
		for _, l := range lines[n:] {
			end = append(end, l.text)
		}
		if want := "2 lines, 8 bytes|beware|1 lines, 1 bytes"; strings.Join(end, "|") != want {
			t.Errorf("after %d lines: %q, want %s", n, end, want)
		}

		fill(r) // the host reads again, so there is patience again
		begin = time.Now()
		r.add(line{level: levelOutput, text: "x"})
		if waited := time.Since(begin); waited != stallLimit {
			t.Errorf("waited %s after the host came back", waited)
		}
	})
}

func TestReserveIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRing()
		n := fill(r)
		for range 2 * reserveLines {
			r.add(line{level: "error", text: "e"})
		}
		lines := drainRing(r)
		if last := lines[len(lines)-1]; len(lines) != n+reserveLines+1 || last.text != fmt.Sprintf("%d lines, %d bytes", reserveLines, reserveLines) {
			t.Errorf("%d lines, the last is %+v", len(lines), last)
		}
	})
}

// A run that is to end waits for little more, however many lines it still has,
// and however often the host takes some.
func TestHurriedRingWaitsLittle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRing()
		fill(r)
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			time.Sleep(stallLimit / 2)
			r.hurry() // in the middle of a wait
			for range 10 {
				time.Sleep(lastWait / 4)
				r.take()
			}
		})
		begin := time.Now()
		for i := range 4 * ringLines {
			r.add(line{level: levelOutput, text: fmt.Sprint(i)})
		}
		if waited := time.Since(begin) - stallLimit/2; waited != lastWait {
			t.Errorf("waited %s", waited)
		}
		if r.dropped.lines == 0 {
			t.Error("nothing was dropped")
		}
	})
}

func TestRingBoundsBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRing()
		text := strings.Repeat("x", maxLine)
		for range 100 {
			r.add(line{level: levelOutput, text: text})
		}
		if r.bytes > ringBytes {
			t.Errorf("%d bytes are kept", r.bytes)
		}
		if batch, _ := r.take(); len(batch) > 2 {
			t.Errorf("a batch of %d long lines is too large for a message", len(batch))
		}
	})
}

func TestClosedRing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRing()
		n := fill(r)
		var wg sync.WaitGroup
		begin := time.Now()
		for range 3 {
			wg.Go(func() { r.add(line{text: "waits"}) })
		}
		synctest.Wait()
		r.close()
		wg.Wait()
		r.add(line{text: "after"})
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("waited %s", waited)
		}
		if lines := drainRing(r); len(lines) != n {
			t.Errorf("%d lines, want %d", len(lines), n)
		}
	})
}

func BenchmarkRing(b *testing.B) {
	r := newRing()
	for b.Loop() {
		r.add(line{level: levelOutput, text: "a line of ordinary length, as programs write them"})
		if r.lines.len() >= batchLines {
			r.take()
		}
	}
}
