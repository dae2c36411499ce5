package why

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Former is the definition that a task had at an earlier time.
type Former struct {
	Task ax.Task
	// ChangedAt is when it was replaced, ChangedBy by whom.
	ChangedAt time.Time
	ChangedBy string
	// Due tells whether it made the task due at the instant; Computed tells
	// whether that could be found out.
	Due, Computed bool
}

// FormerOf finds in the trail of a task, newest first, the definition that was
// in force at an instant; nil if that is the one of now, as far as the trail
// goes back.
func FormerOf(audit []ax.AuditRow, at time.Time) *Former {
	var found *Former
	for _, row := range audit {
		if !row.At.After(at) {
			break
		}
		if row.Action != "task.update" {
			continue
		}
		var detail struct{ Before *ax.Task }
		if json.Unmarshal(row.Detail, &detail) == nil && detail.Before != nil {
			found = &Former{Task: *detail.Before, ChangedAt: row.At, ChangedBy: row.Actor}
		}
	}
	return found
}

// text says what the change was about, as far as it concerns due times.
func (f *Former) text(now *ax.Task) string {
	text := "the task was changed by " + f.ChangedBy
	old := scheduleText(f.Task.Schedule)
	switch {
	case !f.Task.Enabled && now.Enabled:
		return text + ": it was switched on"
	case f.Task.Enabled && !now.Enabled:
		return text + ": it was switched off"
	case old != scheduleText(now.Schedule):
		return text + ": its schedule was " + old + " before"
	case f.Task.Schedule.Version != now.Schedule.Version:
		return text + ": its calendar or its limits were others before"
	}
	return text + ": its schedule stayed as it is"
}

// rescheduled reports whether the change has moved due times.
func (f *Former) rescheduled(now *ax.Task) bool {
	return f.Task.Schedule.Version != now.Schedule.Version
}

// stretch is a time in which something held; an open one has no end.
type stretch struct {
	from, to time.Time
	by       string // who began it
	endedBy  string
	until    time.Time // when it was to end by itself, zero if never
	reason   string
}

func (s *stretch) holds(at time.Time) bool {
	return !s.from.After(at) && (s.to.IsZero() || s.to.After(at))
}

// overlaps reports whether it shares an instant with [from, to].
func (s *stretch) overlaps(from, to time.Time) bool {
	return !s.from.After(to) && (s.to.IsZero() || s.to.After(from))
}

// trail is the audit trail of a task as stretches of time, oldest first.
type trail struct {
	paused, parked, absent []stretch
}

// readTrail reads a trail that is newest first.
func readTrail(audit []ax.AuditRow) trail {
	var t trail
	end := func(list []stretch, row *ax.AuditRow) {
		if n := len(list); n > 0 && list[n-1].to.IsZero() {
			list[n-1].to, list[n-1].endedBy = row.At, row.Actor
		}
	}
	for i := len(audit) - 1; i >= 0; i-- {
		row := &audit[i]
		var detail struct {
			Until  time.Time
			Reason string
		}
		// A detail that cannot be read leaves the stretch without its reason.
		_ = json.Unmarshal(row.Detail, &detail)
		begun := stretch{from: row.At, by: row.Actor, until: detail.Until, reason: detail.Reason}
		switch row.Action {
		case "task.pause":
			end(t.paused, row)
			t.paused = append(t.paused, begun)
		case "task.resume":
			end(t.paused, row)
		case "task.park":
			end(t.parked, row)
			t.parked = append(t.parked, begun)
		case "task.unpark":
			end(t.parked, row)
		case "task.delete":
			t.absent = append(t.absent, begun)
		case "task.create":
			end(t.absent, row)
		}
	}
	return t
}

// during returns the first of the stretches that holds at an instant, or nil.
func during(list []stretch, at time.Time) *stretch {
	for i := range list {
		if list[i].holds(at) {
			return &list[i]
		}
	}
	return nil
}

// absentThen says why the task was not there at the instant, and since when that
// was so; empty if it was there.
func (q *inquiry) absentThen() (text string, since time.Time) {
	if gone := during(q.trail.absent, q.At); gone != nil {
		return fmt.Sprintf("it was removed by %s on %s, and there again from %s on", gone.by, q.clock(gone.from), q.clock(gone.to)), gone.from
	}
	if made := q.Task.CreatedAt; made.After(q.At) {
		return fmt.Sprintf("it was made by %s on %s, after that", q.Task.CreatedBy, q.clock(made)), made
	}
	return "", time.Time{}
}

// pauseText says who paused the task, and for how long.
func (q *inquiry) pauseText(s *stretch) string {
	text := "paused by " + s.by + " on " + q.clock(s.from)
	if s.until.IsZero() {
		return text
	}
	return text + " until " + q.clock(s.until)
}

// tellPauses and tellParkings tell of what held in a span of time.
func (q *inquiry) tellPauses(from, to time.Time) {
	for _, s := range q.trail.paused {
		if s.overlaps(from, to) {
			q.tell(s.from, StepPause, q.pauseText(&s))
			if !s.to.IsZero() {
				q.tell(s.to, StepPause, "resumed by "+s.endedBy)
			}
		}
	}
}

func (q *inquiry) tellParkings(from, to time.Time) {
	for _, s := range q.trail.parked {
		if s.overlaps(from, to) {
			q.tell(s.from, StepPark, joined("parked", line(s.reason)))
			if !s.to.IsZero() {
				q.tell(s.to, StepPark, "it could go on")
			}
		}
	}
}
