package preview

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/trigger"
)

const (
	// planDays is how far the moves of due times are looked for.
	planDays = 90
	// planMoves is how many of them are listed for a task.
	planMoves = 100
)

// Move is a due time that a changed calendar moves.
type Move struct {
	At     time.Time `json:"at" doc:"When the schedule would be due but for its calendar"`
	Before time.Time `json:"before,omitzero" required:"false" doc:"The due time that is no more"`
	After  time.Time `json:"after,omitzero" required:"false" doc:"The due time that is new"`
	Reason string    `json:"reason,omitempty" doc:"Why it is so in the new configuration"`
}

// findMoves finds the due times that are at other times than before. It walks the
// candidates of both timetables side by side; a due time that is there on both
// sides has not moved, whichever candidate it comes from.
func (p *TaskPlan) findMoves(ctx context.Context, old, new *trigger.Timetable, now time.Time) error {
	until := now.AddDate(0, 0, planDays)
	was, err := newTrail(ctx, old, now, until)
	if err != nil {
		return err
	}
	defer was.stop()
	is, err := newTrail(ctx, new, now, until)
	if err != nil {
		return err
	}
	defer is.stop()
	for range 2 * maxCandidates {
		at := earlier(was.step.At, is.step.At)
		if at.IsZero() {
			break
		}
		m := Move{At: at}
		if was.step.At.Equal(at) {
			m.Before = is.without(was.step.Due)
		}
		if is.step.At.Equal(at) {
			m.After, m.Reason = was.without(is.step.Due), is.step.Reason()
		}
		if !m.Before.IsZero() || !m.After.IsZero() {
			if p.MovesTotal++; len(p.Moves) < planMoves {
				p.Moves = append(p.Moves, m)
			}
		}
		for _, t := range []*trail{was, is} {
			if t.step.At.Equal(at) {
				if err := t.advance(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// trail is a way along the candidates of a timetable, with all due times.
type trail struct {
	step trigger.Step // without a time at the end
	pull func() (trigger.Step, error, bool)
	stop func()
	// due are the due times after from and up to until, in nanoseconds, rising.
	due         []int64
	from, until time.Time
}

func newTrail(ctx context.Context, table *trigger.Timetable, from, until time.Time) (*trail, error) {
	t := &trail{from: from, until: until}
	for after := from; len(t.due) < maxCandidates; {
		times, _, err := table.Next(ctx, after, until, replayBatch)
		if err != nil {
			return nil, err
		}
		for _, at := range times {
			t.due = append(t.due, at.UnixNano())
		}
		if len(times) < replayBatch {
			break
		}
		after = times[len(times)-1]
	}
	t.pull, t.stop = iter.Pull2(table.Why(ctx, from, until))
	return t, t.advance()
}

// advance goes to the next candidate.
func (t *trail) advance() error {
	step, err, ok := t.pull()
	if !ok {
		step = trigger.Step{}
	}
	t.step = step
	return err
}

// without returns a due time of the other side that this side does not have,
// and else the zero time.
func (t *trail) without(due time.Time) time.Time {
	if !due.After(t.from) || due.After(t.until) {
		return time.Time{}
	}
	if _, found := slices.BinarySearch(t.due, due.UnixNano()); found {
		return time.Time{}
	}
	return due
}

// earlier returns the earlier of two times, of which zero ones are none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
