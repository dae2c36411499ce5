package store

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const eventColumns = "id, instance_id, task_id, at, attempt, stage, level, node, text"

// eventArgs lists the values in the order of eventColumns.
func eventArgs(e *ax.Event) []any {
	return []any{
		e.ID, int64(e.InstanceID), int64(e.TaskID), micros(e.At), e.Attempt,
		string(e.Stage), e.Level, e.Node, Cut(e.Text, MaxData),
	}
}

// Events returns the events that the filter selects, by rising id.
func (s *Store) Events(ctx context.Context, f ax.EventFilter) ([]ax.Event, error) {
	const what = "read the events"
	w := where{}
	w.add("instance_id = ?", int64(f.Instance))
	w.add("id > ?", max(f.After, beforeEvents(int64(f.Instance))))
	in(&w, "stage", f.Stages)
	w.args = append(w.args, limit(f.Limit, 1000))
	rows, err := s.query(ctx, "SELECT "+eventColumns+" FROM ax_log"+w.text+" ORDER BY id LIMIT ?", w.args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	var all []ax.Event
	for rows.Next() {
		var e ax.Event
		err := rows.Scan(&e.ID, &e.InstanceID, &e.TaskID, timeColumn{&e.At}, &e.Attempt, &e.Stage, &e.Level, &e.Node, &e.Text)
		if err != nil {
			return nil, s.wrap(what, err)
		}
		all = append(all, e)
	}
	return all, s.wrap(what, rows.Err())
}

// beforeEvents returns an id before those of all events of an instance: hosts
// whose clocks differ by less than a day make no older ones. It spares tables
// with partitions a look into those of the days before.
func beforeEvents(instance int64) int64 { return instance - idsOfDay }

var idsOfDay = ax.FirstID(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)) - ax.FirstID(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
