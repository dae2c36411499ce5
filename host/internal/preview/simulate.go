package preview

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Unit is the length of time over which due times are counted.
type Unit string

// Units.
const (
	PerMinute Unit = "minute"
	PerHour   Unit = "hour"
	PerDay    Unit = "day"
)

// UnitFor returns the unit in which a span is best looked at.
func UnitFor(span time.Duration) Unit {
	switch {
	case span <= 6*time.Hour:
		return PerMinute
	case span <= 14*24*time.Hour:
		return PerHour
	default:
		return PerDay
	}
}

// Simulation is what to replay.
type Simulation struct {
	// Tasks are all tasks; those that are disabled are left out.
	Tasks     []ax.Task
	Calendars map[string]*calendar.Calendar
	Plugins   trigger.Plugins
	// From and To bound the span: From <= due < To. Tasks are taken as first
	// seen at From.
	From, To time.Time
	// Zone is that of hours and days.
	Zone *time.Location
	Unit Unit
	// Progress, if set, is told now and then how far the replay is.
	Progress func(at time.Time)
}

// Report is what a simulation found.
type Report struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Tasks    int       `json:"tasks"`
	Disabled int       `json:"disabled"`
	DueTimes int64     `json:"due_times"`
	Unit     Unit      `json:"unit"`
	// Buckets are the units with due times, rising.
	Buckets []Bucket `json:"buckets"`
	// Busiest are the minutes with the most due times.
	Busiest    []Moment   `json:"busiest_minutes"`
	Collisions Collisions `json:"collisions"`
	// ClosedDays are the closed days on which something would have been due.
	ClosedDays []ClosedDay `json:"closed_days"`
	// Never are the tasks that are not due once.
	Never []string `json:"never"`
	// PerTask has an entry for each task, in the order of Tasks.
	PerTask []TaskReport `json:"per_task"`
}

// Bucket counts the due times of a unit.
type Bucket struct {
	Start    time.Time `json:"start"`
	DueTimes int       `json:"due_times"`
	Tasks    int       `json:"tasks"` // different ones
}

// Moment is a minute or a second with what is due in it.
type Moment struct {
	At       time.Time   `json:"at"`
	DueTimes int         `json:"due_times"`
	Tasks    []TaskCount `json:"tasks"`
}

// TaskCount is a task with how often it is due.
type TaskCount struct {
	Task     string `json:"task"`
	DueTimes int    `json:"due_times"`
}

// Collisions are times at which several tasks are due.
type Collisions struct {
	Seconds int64 `json:"seconds"` // in which several tasks are due
	Minutes int64 `json:"minutes"`
	// Worst are the seconds with the most due times.
	Worst []Moment `json:"worst_seconds"`
}

// ClosedDay is a closed day that schedules ran into.
type ClosedDay struct {
	Date    string `json:"date"`
	Reason  string `json:"reason"`
	LeftOut int    `json:"left_out"` // times that are not due
	Moved   int    `json:"moved"`    // times that are due on another day
	Tasks   int    `json:"tasks"`
}

// TaskReport is what a simulation found about a task.
type TaskReport struct {
	Task     string    `json:"task"`
	DueTimes int       `json:"due_times"`
	First    time.Time `json:"first,omitzero"`
	Last     time.Time `json:"last,omitzero"`
	// Closed and Blackout count the times left out because of closed days and
	// blackouts, Moved those that are due at another time.
	Closed   int `json:"closed"`
	Blackout int `json:"blackout"`
	Moved    int `json:"moved"`
	// Beyond counts the due times in years for which a calendar has no list;
	// BeyondFrom is the first of them.
	Beyond     int       `json:"beyond"`
	BeyondFrom time.Time `json:"beyond_from,omitzero"`
	// Error says why the task could not be replayed to the end.
	Error string `json:"error,omitempty"`
}

// Simulate replays all tasks over a span. A task whose trigger fails is in the
// report with the error. Tasks with a fixed delay are taken as if each run were
// over at once. The error is that of ctx.
func Simulate(ctx context.Context, s Simulation) (*Report, error) {
	r := &Report{
		From: s.From, To: s.To, Unit: s.Unit,
		Buckets: []Bucket{}, Busiest: []Moment{}, ClosedDays: []ClosedDay{}, Never: []string{}, PerTask: []TaskReport{},
		Collisions: Collisions{Worst: []Moment{}},
	}
	var tables []*trigger.Timetable
	for i := range s.Tasks {
		task := &s.Tasks[i]
		if !task.Enabled {
			r.Disabled++
			continue
		}
		report := TaskReport{Task: task.Name}
		table, err := trigger.Compile(trigger.Spec{
			Schedule: task.Schedule, Task: task.Name, Calendars: s.Calendars, Plugins: s.Plugins, AnchorAt: s.From,
		})
		if err != nil {
			report.Error = err.Error()
		}
		tables, r.PerTask = append(tables, table), append(r.PerTask, report)
	}
	r.Tasks = len(r.PerTask)
	newReplay(s, r, tables).run(ctx)
	if ctx.Err() == nil {
		r.trails(ctx, s, tables)
	}
	for _, task := range r.PerTask {
		if task.DueTimes == 0 && task.Error == "" {
			r.Never = append(r.Never, task.Task)
		}
	}
	return r, ctx.Err()
}

// trails counts what calendars and blackouts do to each task.
func (r *Report) trails(ctx context.Context, s Simulation, tables []*trigger.Timetable) {
	days := make([]map[calendar.Date]ClosedDay, len(tables))
	jobs := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range jobs {
				days[i] = r.PerTask[i].trail(ctx, tables[i], s)
			}
		})
	}
	for i, table := range tables {
		if table != nil && table.Narrowed() {
			jobs <- i
		}
	}
	close(jobs)
	workers.Wait()
	r.gather(days)
}

// trail walks the candidates of a task and returns the closed days among them.
func (t *TaskReport) trail(ctx context.Context, table *trigger.Timetable, s Simulation) map[calendar.Date]ClosedDay {
	days := map[calendar.Date]ClosedDay{}
	for step, err := range table.Why(ctx, s.From.Add(-1), s.To.Add(-1)) {
		if err != nil {
			t.Error = cmp.Or(t.Error, err.Error())
			break
		}
		if ctx.Err() != nil {
			break
		}
		switch step.Verdict {
		case trigger.VerdictClosed:
			t.Closed++
		case trigger.VerdictBlackout:
			t.Blackout++
		case trigger.VerdictMoved:
			t.Moved++
		case trigger.VerdictDue, trigger.VerdictOutside, trigger.VerdictMerged:
		}
		if step.Closed == nil {
			continue
		}
		day, known := days[step.Closed.Date]
		if !known {
			day = ClosedDay{Date: step.Closed.Date.String(), Reason: dayText(step.Closed), Tasks: 1}
		}
		if step.Due.IsZero() {
			day.LeftOut++
		} else {
			day.Moved++
		}
		days[step.Closed.Date] = day
	}
	return days
}

func dayText(d *calendar.Day) string {
	text := d.Layer + ": " + d.Reason
	if d.Source != "" {
		text += ", from " + d.Source
	}
	return text
}

// gather adds up the closed days of all tasks.
func (r *Report) gather(perTask []map[calendar.Date]ClosedDay) {
	type key struct{ date, reason string }
	sum := map[key]ClosedDay{}
	for _, days := range perTask {
		for _, day := range days {
			k := key{day.Date, day.Reason}
			all := sum[k]
			all.Date, all.Reason = day.Date, day.Reason
			all.LeftOut, all.Moved, all.Tasks = all.LeftOut+day.LeftOut, all.Moved+day.Moved, all.Tasks+day.Tasks
			sum[k] = all
		}
	}
	for _, day := range sum {
		r.ClosedDays = append(r.ClosedDays, day)
	}
	slices.SortFunc(r.ClosedDays, func(a, b ClosedDay) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Reason, b.Reason))
	})
}

// ParseUnit reads a unit.
func ParseUnit(text string) (Unit, error) {
	if u := Unit(text); u == PerMinute || u == PerHour || u == PerDay {
		return u, nil
	}
	return "", fmt.Errorf("expected minute, hour or day, got %q", text)
}
