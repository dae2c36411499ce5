package engine

import (
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Lapse accounts for the due times up to now of a schedule that ends or is
// replaced by another one: those that have no row yet become one that is MISSED.
// entry.Row is the task's row; its trigger may be nil if the schedule cannot be
// read any more, then only the next due time is known. missed is the zero
// Instance if there are none.
func (e *Engine) Lapse(entry Entry, now time.Time, why string) (c ax.Change, missed ax.Instance, err error) {
	row := &entry.Row
	zone, err := time.LoadLocation(row.Schedule.Timezone)
	if err != nil {
		zone = time.UTC
	}
	t := &task{def: &row.Task, st: row.TaskState, zone: zone, trigger: entry.Trigger, remote: entry.Remote}
	if t.trigger == nil {
		t.remote = true // what is planned is all that is known
	}
	s := t.missed(now, 0)
	if s.count == 0 {
		return c, missed, nil
	}
	plan, err := t.following(s.last)
	if err != nil {
		return c, missed, err
	}
	missed = e.missedRow(t, s, now, why)
	return ax.Change{
		Plan: plan, Insert: []ax.Instance{missed},
		Events: []ax.Event{e.event(&missed, now, ax.StageOutcome, "warn", missed.Reason)},
	}, missed, nil
}
