package wire

import (
	"fmt"
	"strings"
	"testing"
)

func drainRing(r *ring) (lines []line, dropped uint64) {
	for {
		batch, n := r.take()
		dropped += n
		if len(batch) == 0 {
			return lines, dropped
		}
		lines = append(lines, batch...)
	}
}

func TestRingKeepsOrderAcrossLevels(t *testing.T) {
	t.Parallel()
	r := newRing()
	levels := []string{"error", "trace", levelOutput, "info", "debug", "warn", "unheard of"}
	for i := range 10_000 {
		r.add(line{level: levels[i%len(levels)], text: fmt.Sprint(i)})
	}
	lines, dropped := drainRing(r)
	if len(lines) != 10_000 || dropped != 0 {
		t.Fatalf("%d lines, %d dropped", len(lines), dropped)
	}
	for i, l := range lines {
		if l.text != fmt.Sprint(i) || l.level != levels[i%len(levels)] {
			t.Fatalf("line %d is %+v", i, l)
		}
	}
}

func TestRingDropsLowestFirst(t *testing.T) {
	t.Parallel()
	r := newRing()
	const each = 100
	for _, level := range []string{"error", "warn", "info", levelOutput, "debug", "trace"} {
		for i := range each {
			r.add(line{level: level, text: fmt.Sprint(level, i)})
		}
	}
	extra := ringLines - 3*each // pushes out trace, debug and half of the output
	for range extra - each/2 {
		r.add(line{level: "info", text: "more"})
	}
	lines, dropped := drainRing(r)
	if len(lines)+int(dropped) != 6*each+extra-each/2 || len(lines) != ringLines {
		t.Errorf("%d lines, %d dropped", len(lines), dropped)
	}
	kept := map[string]int{}
	for _, l := range lines {
		kept[l.level]++
	}
	want := map[string]int{"error": each, "warn": each, "info": each + extra - each/2, levelOutput: each / 2}
	for _, level := range []string{"error", "warn", "info", levelOutput, "debug", "trace"} {
		if kept[level] != want[level] {
			t.Errorf("%d lines of level %s are left, want %d", kept[level], level, want[level])
		}
	}
	for _, l := range lines {
		if l.level == levelOutput {
			if l.text != fmt.Sprint(levelOutput, each/2) {
				t.Errorf("oldest output left is %q", l.text)
			}
			break
		}
	}
}

func TestRingBoundsBytes(t *testing.T) {
	t.Parallel()
	r := newRing()
	text := strings.Repeat("x", maxLine)
	for range 100 {
		r.add(line{level: levelOutput, text: text})
	}
	r.add(line{level: "error", text: "the end"})
	batch, _ := r.take()
	if len(batch) != batchBytes/maxLine {
		t.Errorf("a batch of %d long lines is too large for a message", len(batch))
	}
	lines, _ := drainRing(r)
	if last := lines[len(lines)-1]; last.text != "the end" {
		t.Errorf("last line is %q", last.text)
	}
	if total := (len(batch)+len(lines)-1)*maxLine + len("the end"); total > ringBytes {
		t.Errorf("%d bytes were kept", total)
	}
}

func TestRingIsEmptyAfterClose(t *testing.T) {
	t.Parallel()
	r := newRing()
	r.add(line{text: "before"})
	r.close()
	r.add(line{text: "after"})
	if lines, dropped := drainRing(r); len(lines) != 1 || dropped != 0 {
		t.Errorf("%v, %d dropped", lines, dropped)
	}
}

func BenchmarkRing(b *testing.B) {
	r := newRing()
	for b.Loop() {
		r.add(line{level: levelOutput, text: "a line of ordinary length, as programs write them"})
		if r.lines >= batchLines {
			r.take()
		}
	}
}
