package preview

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

// planTimes is how many due times before and after are shown.
const planTimes = 5

// Side is one of the two configurations that a plan compares.
type Side struct {
	Tasks []ax.Task
	// Calendars is nil if they are not known.
	Calendars map[string]*calendar.Calendar
	// Timetable makes the trigger of a task of this side.
	Timetable func(*ax.Task) (*trigger.Timetable, error)
}

// Plan says what a configuration would change.
type Plan struct {
	// Config is the file that the host reads, if a host was asked.
	Config  string     `json:"config,omitempty" doc:"The file that the host reads its configuration from"`
	Added   []TaskPlan `json:"added" nullable:"false"`
	Changed []TaskPlan `json:"changed" nullable:"false"`
	Removed []TaskPlan `json:"removed" nullable:"false"`
	// Unchanged counts the other tasks.
	Unchanged int `json:"unchanged"`
	// Warnings tell what takes a restart, and what the configuration warns of.
	Warnings []string `json:"warnings,omitempty" nullable:"false"`
}

// Empty reports whether no task changes.
func (p *Plan) Empty() bool { return len(p.Added)+len(p.Changed)+len(p.Removed) == 0 }

// TaskPlan says what changes about a task.
type TaskPlan struct {
	Task   string      `json:"task"`
	Fields []Field     `json:"fields,omitempty" nullable:"false" doc:"What differs, for a changed task"`
	Before []time.Time `json:"before,omitempty" nullable:"false" doc:"Its next due times as things are"`
	After  []time.Time `json:"after,omitempty" nullable:"false" doc:"Its next due times with the new configuration"`
	Beyond []Beyond    `json:"beyond,omitempty" nullable:"false" doc:"Those of after in years for which a calendar has no list"`
	Moves  []Move      `json:"moves,omitempty" nullable:"false" doc:"Due times of the next 90 days that a changed calendar moves"`
	// MovesTotal counts the moves, which are not all listed.
	MovesTotal int `json:"moves_total,omitempty"`
	// Note says why due times are missing.
	Note string `json:"note,omitempty"`
}

// Compare says what changes from one side to the other as of now. Tasks are in
// the order of their names.
func Compare(ctx context.Context, before, after Side, now time.Time) *Plan {
	p := &Plan{Added: []TaskPlan{}, Changed: []TaskPlan{}, Removed: []TaskPlan{}}
	c := comparison{before: before, after: after, now: now}
	old := make(map[string]*ax.Task, len(before.Tasks))
	for i := range before.Tasks {
		old[before.Tasks[i].Name] = &before.Tasks[i]
	}
	for i := range after.Tasks {
		task := &after.Tasks[i]
		was := old[task.Name]
		delete(old, task.Name)
		switch fields := c.fields(was, task); {
		case was == nil:
			p.Added = append(p.Added, c.plan(ctx, nil, task, nil))
		case len(fields) > 0:
			p.Changed = append(p.Changed, c.plan(ctx, was, task, fields))
		default:
			p.Unchanged++
		}
	}
	for _, task := range old {
		p.Removed = append(p.Removed, c.plan(ctx, task, nil, nil))
	}
	for _, list := range [][]TaskPlan{p.Added, p.Changed, p.Removed} {
		slices.SortFunc(list, func(a, b TaskPlan) int { return cmp.Compare(a.Task, b.Task) })
	}
	return p
}

type comparison struct {
	before, after Side
	now           time.Time
}

// calendarDays begins the name of the field for a calendar whose days differ.
const calendarDays = "days of calendar "

// fields returns what differs about a task, its calendars included.
func (c *comparison) fields(was, task *ax.Task) []Field {
	if was == nil {
		return nil
	}
	fields := changedFields(was, task)
	for _, name := range task.Schedule.CalendarNames() {
		old, new := c.before.Calendars[name], c.after.Calendars[name]
		if old != nil && new != nil && old.Hash() != new.Hash() {
			fields = append(fields, Field{Field: calendarDays + name})
		}
	}
	if c.before.Calendars == nil && len(fields) == 0 && was.Schedule.Version != task.Schedule.Version {
		// All that is kept of calendars is their part in the version.
		fields = append(fields, Field{Field: calendarDays + "one of its calendars"})
	}
	return fields
}

// plan describes a change; was or task is nil for one that is added or removed.
func (c *comparison) plan(ctx context.Context, was, task *ax.Task, fields []Field) TaskPlan {
	p := TaskPlan{Task: cmp.Or(task, was).Name, Fields: fields}
	old, new := p.table(c.before, was), p.table(c.after, task)
	p.Before, p.After = p.next(ctx, old, was, c.now), p.next(ctx, new, task, c.now)
	if new != nil {
		p.Beyond = Unlisted(new, p.After)
	}
	onDays := slices.ContainsFunc(fields, func(f Field) bool { return strings.HasPrefix(f.Field, calendarDays) })
	if onDays && c.before.Calendars != nil && old != nil && new != nil && was.Enabled && task.Enabled {
		if err := p.findMoves(ctx, old, new, c.now); err != nil {
			p.Note = err.Error()
		}
	}
	return p
}

func (p *TaskPlan) table(s Side, task *ax.Task) *trigger.Timetable {
	if task == nil {
		return nil
	}
	table, err := s.Timetable(task)
	if err != nil {
		p.Note = err.Error()
		return nil
	}
	return table
}

// next returns the next due times; those of a disabled task are none.
func (p *TaskPlan) next(ctx context.Context, table *trigger.Timetable, task *ax.Task, now time.Time) []time.Time {
	if table == nil || !task.Enabled {
		return nil
	}
	times, err := Next(ctx, table, now, planTimes)
	if err != nil {
		p.Note = err.Error()
	}
	return times
}
