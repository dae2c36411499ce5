// Package preview tells what schedules will do before they do it: the next due
// times and why they are what they are, all due times of a span, and what a
// changed configuration changes. Its types are the JSON of the API and of the
// command line. Nothing here reads the clock.
package preview

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/trigger"
)

// Beyond is a due time in a year for which a calendar of its schedule has no
// list: what the calendar says about it is computed from its patterns.
type Beyond struct {
	At        time.Time `json:"at"`
	Calendars []string  `json:"calendars" nullable:"false"`
}

// Next returns up to n due times after an instant, rising.
func Next(ctx context.Context, t trigger.Trigger, after time.Time, n int) ([]time.Time, error) {
	times := []time.Time{}
	for len(times) < n {
		more, exhausted, err := t.Next(ctx, after, time.Time{}, n-len(times))
		if err != nil {
			return nil, err
		}
		times = append(times, more...)
		if exhausted || len(more) == 0 {
			break
		}
		after = more[len(more)-1]
	}
	return times, nil
}

// Unlisted returns those of the due times that are beyond what a calendar knows.
func Unlisted(t *trigger.Timetable, times []time.Time) []Beyond {
	var found []Beyond
	for _, at := range times {
		if calendars := t.Beyond(at); len(calendars) > 0 {
			b := Beyond{At: at}
			for _, c := range calendars {
				b.Calendars = append(b.Calendars, c.Name())
			}
			found = append(found, b)
		}
	}
	return found
}

// Step is a candidate of a schedule and what becomes of it, or several of them
// in a row that are left out for the same reason.
type Step struct {
	At time.Time `json:"at" doc:"When the task would be due but for calendar, blackouts, jitter and bounds"`
	// Last is the last of several; zero for a single one.
	Last    time.Time       `json:"last,omitzero" required:"false" doc:"The last one, if this stands for several in a row"`
	Times   int             `json:"times" doc:"How many candidates this stands for"`
	Due     time.Time       `json:"due,omitzero" required:"false" doc:"When the task is due because of it"`
	Verdict trigger.Verdict `json:"verdict" enum:"due,moved,closed,blackout,outside,merged"`
	Reason  string          `json:"reason,omitempty"`
}

// Bounds of what Why returns and of how far it looks.
const (
	maxSteps      = 20_000
	maxCandidates = 2_000_000
	// afterEnd is how many steps are shown where no due time is left.
	afterEnd = 20
)

// Why returns the candidates that lead to the due times which Next found after
// an instant; more tells that Next was asked for more than there are.
func Why(ctx context.Context, t *trigger.Timetable, after time.Time, times []time.Time, more bool) ([]Step, error) {
	steps := []Step{}
	var last, until time.Time
	if len(times) > 0 {
		last = times[len(times)-1]
	}
	if !more {
		until = last
	}
	candidates, limit, ended := 0, maxSteps, false
	for s, err := range t.Why(ctx, after, until) {
		if err != nil {
			return nil, err
		}
		steps = appendStep(steps, s)
		if more && !ended && !s.At.Before(last) {
			ended, limit = true, min(limit, len(steps)+afterEnd)
		}
		if candidates++; len(steps) >= limit || candidates >= maxCandidates {
			break
		}
	}
	return steps, nil
}

// appendStep adds a candidate, to the last step if that is left out alike.
func appendStep(steps []Step, s trigger.Step) []Step {
	step := Step{At: s.At, Times: 1, Due: s.Due, Verdict: s.Verdict, Reason: s.Reason()}
	if n := len(steps); n > 0 && step.Due.IsZero() {
		if last := &steps[n-1]; last.Due.IsZero() && last.Verdict == step.Verdict && last.Reason == step.Reason {
			last.Last, last.Times = step.At, last.Times+1
			return steps
		}
	}
	return append(steps, step)
}
