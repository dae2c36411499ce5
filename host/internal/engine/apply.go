package engine

import (
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// Apply replaces the set of tasks, and keeps the entries, which must not be
// changed any more. Tasks whose schedule is the same go on as they are; the
// others take the plan of their new row. Removed tasks are not
// started any more, runs under way end as usual.
func (e *Engine) Apply(entries []Entry) {
	e.call(func(now time.Time) { e.apply(entries, now) })
}

func (e *Engine) apply(entries []Entry, now time.Time) {
	seen := make(map[ax.TaskID]bool, len(entries))
	for i := range entries {
		id := entries[i].Row.ID
		seen[id] = true
		t := e.tasks[id]
		if t == nil {
			t = &task{away: e.mine != nil && !e.mine(&entries[i].Row.Task)}
			e.tasks[id] = t
		}
		t.replace(&entries[i], e.zone(entries[i].Row.Schedule.Timezone))
		e.names[t.def.Name] = t
		e.recheck(t, now)
	}
	for id, t := range e.tasks {
		if !seen[id] {
			e.remove(t, now)
		}
	}
}

func (t *task) replace(entry *Entry, zone *time.Location) {
	row := &entry.Row
	if t.def == nil || t.def.Schedule.Version != row.Schedule.Version || t.gone {
		t.st, t.pending, t.fetching = row.TaskState, false, false
		t.gen++
	}
	t.def, t.gone = &row.Task, false
	t.trigger, t.remote, t.ready, t.params = entry.Trigger, entry.Remote, entry.Ready, entry.Params
	if !t.held { // else it keeps its place
		t.lane = entry.Lane
	}
	if t.ready == nil {
		t.ready = func() error { return nil }
	}
	t.zone = zone
}

// zone returns the location of a name, which tasks share: each one that is read
// anew takes half a kilobyte and more.
func (e *Engine) zone(name string) *time.Location {
	zone := e.zones[name]
	if zone == nil {
		var err error
		if zone, err = time.LoadLocation(name); err != nil {
			zone = time.UTC // refused when the configuration was loaded
		}
		e.zones[name] = zone
	}
	return zone
}

func (e *Engine) remove(t *task, now time.Time) {
	if !t.gone {
		t.gone = true
		t.gen++
		delete(e.names, t.def.Name)
		for _, inst := range slices.Concat(t.waiting, t.retries, t.backfill) {
			e.cancelRow(inst, "the task was removed", now, nil)
		}
		t.waiting, t.retries, t.backfill = nil, nil, nil
	}
	if len(t.active) == 0 {
		delete(e.tasks, t.def.ID)
	}
}

// adopt takes on instances that an earlier life of the host, or another host,
// left unfinished.
func (e *Engine) adopt(unfinished []ax.Instance, now time.Time) {
	touched := map[*task]bool{}
	for _, inst := range unfinished {
		t := e.tasks[inst.TaskID]
		if t == nil || t.gone {
			e.cancelRow(inst, "the task was removed", now, nil)
			continue
		}
		if t.away {
			continue
		}
		touched[t] = true
		e.takeOn(t, inst, now)
	}
	for t := range touched {
		t.sortBackfill()
		e.visit(t, now)
	}
}

// View is what people see of a task's state.
type View struct {
	Row      ax.TaskRow
	Running  int
	Waiting  int
	Retrying int
	// Backfill is how many past due times wait for their turn.
	Backfill int
	Held     bool // due, but all workers are busy
	// HeldSince is when it found no room for the first time.
	HeldSince time.Time
	Remote    bool
	// Writing: nothing is decided until a change of its plan is in the database.
	Writing bool
	// Away: another host schedules it, and the rest is only what this one knew.
	Away bool
	// TryAt is when it is tried again after a failure, zero if there was none.
	TryAt time.Time
}

// Views returns the state of the tasks with these names, as far as there are
// such, or of all tasks if there are none.
func (e *Engine) Views(names ...string) []View {
	var views []View
	e.call(func(time.Time) {
		for _, name := range names {
			if t := e.names[name]; t != nil {
				views = append(views, t.view())
			}
		}
		if len(names) > 0 {
			return
		}
		views = make([]View, 0, len(e.names))
		for _, t := range e.names {
			views = append(views, t.view())
		}
	})
	return views
}

func (t *task) view() View {
	return View{
		Row:     ax.TaskRow{Task: *t.def, TaskState: t.st},
		Running: len(t.active), Waiting: len(t.waiting), Retrying: len(t.retries), Backfill: len(t.backfill),
		Held: t.held, HeldSince: t.heldSince, Remote: t.remote, Writing: t.pending, Away: t.away, TryAt: t.tryAt,
	}
}

// Count returns how many tasks there are, and how many of them are parked.
func (e *Engine) Count() (tasks, parked int) {
	e.call(func(time.Time) {
		tasks = len(e.names)
		for _, t := range e.names {
			if t.st.Parked != "" {
				parked++
			}
		}
	})
	return tasks, parked
}
