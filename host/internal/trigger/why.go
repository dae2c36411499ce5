package trigger

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// Verdict is what becomes of a candidate.
type Verdict string

// Verdicts.
const (
	VerdictDue      Verdict = "due"      // the task is due, jitter aside at this very time
	VerdictMoved    Verdict = "moved"    // it is due at another time instead
	VerdictClosed   Verdict = "closed"   // left out: a closed day
	VerdictBlackout Verdict = "blackout" // left out: a blackout
	VerdictOutside  Verdict = "outside"  // left out: before from, or not before until
	VerdictMerged   Verdict = "merged"   // it falls together with another due time
)

// Step is a candidate, a time at which the schedule would be due but for its
// calendar, blackouts, jitter and bounds, with what becomes of it.
type Step struct {
	// At is the candidate. A time of a closed day that the clock skipped is
	// shown as the first instant after the gap, and moved as what it says.
	At time.Time
	// Due is when the task is due because of it, zero if it is not.
	Due     time.Time
	Verdict Verdict
	// Closed is the closed day that it falls on, nil if that is open.
	Closed *calendar.Day
	// Blackout is the one that it falls into, empty for none.
	Blackout string
	// Delay is what jitter adds.
	Delay time.Duration
	// Beyond names the calendars without a list for the year: what they say
	// about it is computed from their patterns.
	Beyond []string
	// Into is the due time that it falls together with, if it does; that is due
	// because of an earlier candidate.
	Into time.Time
	// outside is the bound that it lies outside of, in words.
	outside string
}

// Reason says in words why the verdict is what it is; empty if it is due as a
// matter of course.
func (s Step) Reason() string {
	var parts []string
	if s.Closed != nil {
		day := fmt.Sprintf("%s is closed in %s: %s", s.Closed.Date, s.Closed.Layer, s.Closed.Reason)
		if s.Closed.Source != "" {
			day += ", from " + s.Closed.Source
		}
		parts = append(parts, day)
	}
	if s.Blackout != "" {
		parts = append(parts, "blackout "+s.Blackout)
	}
	switch s.Verdict {
	case VerdictOutside:
		parts = append(parts, s.outside)
	case VerdictMerged:
		if s.Into.Equal(s.At) {
			parts = append(parts, "due already, because of an earlier one")
			break
		}
		parts = append(parts, "falls together with the due time "+s.Into.Format(time.RFC3339))
	case VerdictDue, VerdictMoved, VerdictClosed, VerdictBlackout:
	}
	if s.Delay > 0 {
		parts = append(parts, fmt.Sprintf("put off by %v of jitter", s.Delay))
	}
	for _, name := range s.Beyond {
		parts = append(parts, BeyondText(name))
	}
	return strings.Join(parts, "; ")
}

// BeyondText says what it means that a calendar has no list for a year.
func BeyondText(calendar string) string {
	return "beyond the known years of calendar " + calendar + ": computed from its weekly pattern"
}

// trailBatch is how many times a plugin is asked for at once.
const trailBatch = 256

// Why walks the candidates after an instant in rising order and tells what
// becomes of each. Earlier ones that come to be due after it are among them. It
// ends when no candidate is left that could be due up to until; a zero until is
// no bound, so that the walk may never end. The error is that of a plugin.
func (t *Timetable) Why(ctx context.Context, after, until time.Time) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		w := newWalk(ctx, t, after)
		until := w.horizon(until)
		for {
			step, err := w.next()
			switch {
			case err != nil:
				yield(Step{}, err)
				return
			case step.At.IsZero() || beyond(step.At, until):
				return
			case !step.At.After(after) && !step.Due.After(after):
			case !yield(step, nil), w.past(step.At):
				return
			}
			w.leap(step.At)
		}
	}
}
