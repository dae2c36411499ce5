package verdict

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// dueTimes walks over the due times and the rows of each task side by side.
func (j *judge) dueTimes() {
	rows := map[string][]*Row{}
	for i := range j.facts.Rows {
		r := &j.facts.Rows[i]
		rows[r.Task] = append(rows[r.Task], r)
	}
	for _, t := range j.facts.Tasks {
		j.dueTimesOf(t, rows[t.Name])
		delete(rows, t.Name)
	}
	for task, rows := range rows {
		for _, r := range rows {
			j.find(Stray, 1, []ax.InstanceID{r.ID}, "there is no task %s", task)
		}
	}
}

func (j *judge) dueTimesOf(t Task, rows []*Row) {
	var gap []time.Time // due times without a row since the last one that has one
	end := func() {
		if len(gap) > 0 {
			j.find(Missing, len(gap), nil, "%s: %d due times have no row, from %s to %s", t.Name, len(gap), stamp(gap[0]), stamp(gap[len(gap)-1]))
		}
		gap = nil
	}
	var before *Row
	for due := t.Next(j.facts.From.Add(-1)); due.Before(j.facts.Until); due = t.Next(due) {
		j.Due++
		for len(rows) > 0 && rows[0].Due.Before(due) {
			j.extra(before, rows[0])
			rows = rows[1:]
		}
		switch {
		case len(rows) > 0 && rows[0].Due.Equal(due):
			end()
			if before != nil && before.covers(due) {
				j.extra(before, rows[0])
			} else if before = rows[0]; before.Status == ax.StatusMissed {
				j.span(t, before)
			}
			rows = rows[1:]
		case before == nil || !before.covers(due):
			gap = append(gap, due)
		}
	}
	end()
	for _, r := range rows {
		j.extra(before, r)
	}
}

// extra judges a row that does not stand for the next due time.
func (j *judge) extra(before, r *Row) {
	if before != nil && (before.covers(r.Due) || before.Due.Equal(r.Due)) {
		j.find(Doubled, 1, []ax.InstanceID{before.ID, r.ID}, "%s of %s has two rows: %s and %s", stamp(r.Due), r.Task, before.Status, r.Status)
		return
	}
	j.find(Stray, 1, []ax.InstanceID{r.ID}, "%s has a row for %s, which is not one of its due times", r.Task, stamp(r.Due))
}

// covers reports whether a MISSED row stands for a later due time as well.
func (r *Row) covers(due time.Time) bool {
	return r.Status == ax.StatusMissed && !r.MissedUntil.Before(due)
}

// span holds the number in a MISSED row against the due times that it stands for.
func (j *judge) span(t Task, r *Row) {
	n := 0
	for due := t.Next(r.Due.Add(-1)); !due.After(r.MissedUntil); due = t.Next(due) {
		n++
	}
	if n != r.Missed {
		j.find(Stray, 1, []ax.InstanceID{r.ID}, "%s of %s: the MISSED row says %d due times and stands for %d", stamp(r.Due), t.Name, r.Missed, n)
	}
}
