package main

import (
	"fmt"
	"slices"
	"time"
)

// verdict is what an answer of a library is worth.
type verdict int

// Verdicts, from good to bad.
const (
	right     verdict = iota
	otherRule         // right by another rule for changes of the clock that people document
	refused           // the library does not read the expression
	wrong
)

// judge compares the times that a compiled expression gives with the right
// ones. others are right by another rule. A zero time stands for never. The
// note tells the first difference.
func judge(f next, after time.Time, want []time.Time, others ...[]time.Time) (verdict, string) {
	got, failure := follow(f, after, len(want))
	if failure != "" {
		return wrong, failure
	}
	if slices.EqualFunc(got, want, time.Time.Equal) {
		return right, ""
	}
	for _, other := range others {
		got, failure := follow(f, after, len(other))
		if failure == "" && slices.EqualFunc(got, other, time.Time.Equal) {
			return otherRule, ""
		}
	}
	return wrong, difference(after, got, want)
}

// follow returns n times, or fewer if it is never again. failure is set if the
// library panics or does not move on.
func follow(f next, after time.Time, n int) (times []time.Time, failure string) {
	defer func() {
		if p := recover(); p != nil {
			failure = fmt.Sprintf("panics: %v", p)
		}
	}()
	for at := after; len(times) < n; {
		following := f(at)
		if !following.IsZero() && !following.After(at) {
			return times, fmt.Sprintf("stays at %s", shown(at))
		}
		at = following
		times = append(times, at)
		if at.IsZero() {
			break
		}
	}
	return times, ""
}

// difference says where two lists part.
func difference(after time.Time, got, want []time.Time) string {
	for i := range want {
		if i < len(got) && got[i].Equal(want[i]) {
			after = want[i]
			continue
		}
		have := time.Time{}
		if i < len(got) {
			have = got[i]
		}
		return fmt.Sprintf("after %s comes %s, not %s", shown(after), shown(have), shown(want[i]))
	}
	return "goes on after the end"
}

func shown(t time.Time) string {
	if t.IsZero() {
		return "nothing"
	}
	return t.Format("2006-01-02 15:04:05 MST")
}
