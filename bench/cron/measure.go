package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

const (
	// sampleTime is how long one sample takes about.
	sampleTime = 25 * time.Millisecond
	// compared is how many times of an expression are compared before it is
	// measured.
	compared = 500
)

// entry is a candidate in the race of a kind.
type entry struct {
	verdict verdict
	note    string
	run     next
	calls   int // per sample
	samples []sample
}

type sample struct{ ns, allocs float64 } // per call

// median returns the medians of the samples.
func (e *entry) median() sample {
	pick := func(value func(sample) float64) float64 {
		values := make([]float64, 0, len(e.samples))
		for _, s := range e.samples {
			values = append(values, value(s))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return sample{pick(func(s sample) float64 { return s.ns }), pick(func(s sample) float64 { return s.allocs })}
}

// race measures all candidates whose answers to a kind of expression are
// right: one sample of each a round, each round begun by another one, so that
// what the machine does beside falls on all alike.
func race(k kind, all []candidate, rounds int) ([]*entry, error) {
	zone, err := time.LoadLocation(k.zone)
	if err != nil {
		return nil, fmt.Errorf("load zone of %q: %w", k.name, err)
	}
	entries, err := enter(k, all, zone)
	if err != nil {
		return nil, err
	}
	start, end := k.span(zone)
	var runners []*entry
	for _, e := range entries {
		if e.verdict == right || e.verdict == otherRule {
			e.calls = calibrate(e.run, start, end)
			runners = append(runners, e)
		}
	}
	for round := range rounds {
		for i := range runners {
			e := runners[(i+round)%len(runners)]
			e.samples = append(e.samples, measure(e.run, start, end, e.calls))
		}
	}
	return entries, nil
}

// enter checks the answers of all candidates to a kind of expression. The first
// one, ax, must know the facts, and the others are compared with it.
func enter(k kind, all []candidate, zone *time.Location) ([]*entry, error) {
	start, end := k.span(zone)
	var reference []time.Time
	entries := make([]*entry, len(all))
	for i, c := range all {
		f, err := c.compile(parseExpression(k.expr), zone)
		if err != nil {
			entries[i] = &entry{verdict: refused, note: err.Error()}
			continue
		}
		if i == 0 {
			if reference, err = k.reference(f, start, end); err != nil {
				return nil, err
			}
		}
		entries[i] = &entry{run: f}
		entries[i].verdict, entries[i].note = judge(f, start, reference, skipping(reference))
	}
	if reference == nil {
		return nil, fmt.Errorf("%s does not read %q: %s", all[0].name, k.expr, entries[0].note)
	}
	return entries, nil
}

// reference returns the times that all answers are compared with: those of ax,
// of which the first ones must be the known facts.
func (k kind) reference(f next, start, end time.Time) ([]time.Time, error) {
	times, failure := follow(f, start, compared)
	if failure != "" || len(times) < len(k.want) {
		return nil, fmt.Errorf("%s: %d times only; %s", k.name, len(times), failure)
	}
	for i, want := range k.want {
		if got := times[i].Format(layout); got != want {
			return nil, fmt.Errorf("%s: time %d is %s, want %s", k.name, i, got, want)
		}
	}
	if i := slices.IndexFunc(times, func(t time.Time) bool { return !t.Before(end) || t.IsZero() }); i >= 0 {
		times = times[:i]
	}
	return times, nil
}

// skipping returns the times without those to which a gap of the clock has
// moved them, which is the rule of some libraries. Only for schedules of one
// time a day; others come out without most of their times and equal nothing.
func skipping(times []time.Time) []time.Time {
	clock := times[0].Format(time.TimeOnly)
	return slices.DeleteFunc(slices.Clone(times), func(t time.Time) bool { return t.Format(time.TimeOnly) != clock })
}

// calibrate returns how many calls take about sampleTime.
func calibrate(f next, start, end time.Time) int {
	for n := 1; ; n *= 2 {
		begin := time.Now()
		walk(f, start, end, n)
		if took := time.Since(begin); took >= sampleTime/2 {
			return max(1, int(float64(n)*float64(sampleTime)/float64(took)))
		}
	}
}

func measure(f next, start, end time.Time, calls int) sample {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	walk(f, start, end, calls)
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return sample{
		ns:     float64(took.Nanoseconds()) / float64(calls),
		allocs: float64(after.Mallocs-before.Mallocs) / float64(calls),
	}
}

// walk goes from one time to the next, and begins anew at the end.
func walk(f next, start, end time.Time, calls int) {
	at := start
	for range calls {
		if at = f(at); at.IsZero() || !at.Before(end) {
			at = start
		}
	}
}
