package alert

import (
	"cmp"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// gathering is what some events do to the messages of one task. It is pure: what
// the database has goes in, what it is to have comes out.
type gathering struct {
	task     *ax.Task
	events   []ax.AlertEvent
	story    *story
	rows     []*row // of the task, unsettled or settled lately, by rising ID
	settings *Settings
	ids      *ax.IDs
	now      time.Time
}

// run returns the rows that have changed.
func (g *gathering) run() []*row {
	slices.SortStableFunc(g.events, func(a, b ax.AlertEvent) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	var t telling
	var goesOn time.Time
	for i := range g.events {
		ev := &g.events[i]
		if ev.Event == unparked {
			goesOn = ev.At
			continue
		}
		g.story.take(g.task, ev, &t)
	}
	var changed []*row
	for i, notifier := range g.task.Notify.To {
		if slices.Contains(g.task.Notify.To[:i], notifier) {
			continue
		}
		if r := g.tell(notifier, &t, goesOn); r != nil {
			changed = append(changed, r)
		}
	}
	return changed
}

// tell adds to the message that gathers for a notifier, and returns it if it has
// changed.
func (g *gathering) tell(notifier string, t *telling, goesOn time.Time) *row {
	r := g.open(notifier)
	told := len(t.tallies) > 0
	if told {
		if r == nil {
			r = newRow(g.task, notifier, g.ids.Next(g.now), g.now, g.leaves(notifier))
			r.facts.Subject = len(g.events[0].Receivers) > 0
		}
		r.add(t)
	}
	// A task may have gone on before it was parked again.
	if r != nil && !goesOn.IsZero() && !goesOn.Before(r.newestParking()) && r.facts.unpark(goesOn) {
		return r
	}
	if !told {
		return nil
	}
	return r
}

func (r *row) newestParking() time.Time {
	for _, t := range r.facts.Tallies {
		if t.Event == parked {
			return t.Last
		}
	}
	return time.Time{}
}

// open returns the row that takes further events, nil if a new one must.
func (g *gathering) open(notifier string) *row {
	for _, r := range g.rows {
		if r.Notifier == notifier && r.State == ax.AlertOpen {
			return r
		}
	}
	return nil
}

// leaves returns when a new message is to leave: soon, or a window after the one
// before.
func (g *gathering) leaves(notifier string) time.Time {
	at := g.now.Add(g.settings.Gather)
	for _, r := range g.rows {
		if r.Notifier == notifier {
			at = newest(at, quietAfter(&r.AlertRow, g.settings.Window, g.now))
		}
	}
	return at
}

// maxSkew is how far the clocks of two hosts may be apart.
const maxSkew = time.Minute

// quietAfter returns until when nothing more may be sent of a task after one of
// its messages. One that is under way counts as if it arrived now.
func quietAfter(r *ax.AlertRow, window time.Duration, now time.Time) time.Time {
	switch r.State {
	case ax.AlertSending, ax.AlertFailed:
		return now.Add(window)
	case ax.AlertSent, ax.AlertMerged, ax.AlertGivenUp, ax.AlertDropped:
		if r.WindowEnd.After(now.Add(maxSkew)) {
			return time.Time{} // by a clock that was wrong
		}
		return r.WindowEnd.Add(window)
	}
	return time.Time{}
}
