package host

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/params"
	"github.com/axsched/ax/host/internal/pluginhost"
	"github.com/axsched/ax/host/internal/redact"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
)

// live is the configuration in force with what was made of it. It is replaced
// as a whole, never changed.
type live struct {
	// cfg has no Tasks once there are entries, which have them.
	cfg *config.Config
	// entries holds what the engine got, by task.
	entries map[string]*engine.Entry
	byID    map[ax.TaskID]*ax.Task
	// secrets are the tasks of this host's file that hold any: rows do not.
	secrets map[ax.TaskID]*ax.Task
}

// changes is how a new configuration differs from the rows of the database.
type changes struct {
	cfg       *config.Config
	now       time.Time
	templates params.Compiler

	entries []engine.Entry
	upsert  []ax.TaskRow // those that differ
	remove  []ax.TaskID
	added   int
	changed int
	// seen is when tasks were due next whose plan is replaced or that are removed,
	// and reached those of them that were due by then and have no row for it yet.
	seen    map[ax.TaskID]time.Time
	reached []*ax.TaskRow
}

// compare makes all that the engine and the store need of a configuration,
// without touching either.
func (h *Host) compare(ctx context.Context, cfg *config.Config, now time.Time) (*changes, error) {
	rows, err := h.store.Tasks(ctx, cfg.App)
	if err != nil {
		return nil, err
	}
	known := make(map[ax.TaskID]*ax.TaskRow, len(rows))
	for i := range rows {
		known[rows[i].ID] = &rows[i]
	}
	if taken := cfg.Taken(func(name string) bool {
		row := known[ax.NewTaskID(cfg.App, name)]
		return row != nil && row.Source == ax.SourceConsole
	}); len(taken) > 0 {
		return nil, taken
	}
	c := &changes{cfg: cfg, now: now, entries: make([]engine.Entry, 0, len(cfg.Tasks)), seen: map[ax.TaskID]time.Time{}}
	var differ []int // which of the entries
	for i := range cfg.Tasks {
		task := &cfg.Tasks[i]
		row := known[task.ID]
		delete(known, task.ID)
		same, err := h.compareTask(c, task, row)
		if err != nil {
			return nil, fmt.Errorf("task %q: %w", task.Name, err)
		}
		if !same {
			differ = append(differ, i)
		}
		if row != nil && (len(c.reached) == 0 || c.reached[len(c.reached)-1] != row) {
			row.Task = ax.Task{} // its texts are garbage now, and there may be very many
		}
	}
	for i := range rows {
		if row := &rows[i]; known[row.ID] != nil && row.Source == ax.SourceConsole {
			delete(known, row.ID)
			if !h.compareMade(c, row) {
				differ = append(differ, len(c.entries)-1)
			}
		}
	}
	// Rows are large: they are copied into a list that does not grow.
	c.upsert = make([]ax.TaskRow, len(differ))
	for i, at := range differ {
		c.upsert[i] = h.kept(&c.entries[at])
	}
	for id, row := range known {
		c.remove = append(c.remove, id)
		c.ends(row, now)
	}
	return c, nil
}

// kept is the row of a task as it may stand in the database.
func (h *Host) kept(e *engine.Entry) ax.TaskRow {
	row := e.Row
	if row.Source != ax.SourceConsole { // those have no others than their own
		row.Task = withoutSecrets(h.redactor, row.Task)
	}
	return row
}

// compareTask adds a task to the entries of changes and tells whether its row is
// as it should be. old is what the database has of it, nil for nothing.
func (h *Host) compareTask(c *changes, task *ax.Task, old *ax.TaskRow) (same bool, err error) {
	var row ax.TaskRow
	if old != nil {
		row = *old
	}
	if old != nil && old.PlanVersion != task.Schedule.Version {
		c.ends(old, c.now)
	}
	entry, err := h.entry(c, task, row)
	if err != nil {
		return false, err
	}
	c.entries = append(c.entries, entry)
	same = old != nil && sameDefinition(old.Task, h.kept(&entry).Task)
	switch {
	case old == nil:
		c.added++
	case !same:
		c.changed++
	}
	return same && old.Source == task.Source && old.PlanVersion == task.Schedule.Version, nil
}

// entry makes a task ready for the engine. row is what the database has of it.
func (h *Host) entry(c *changes, task *ax.Task, row ax.TaskRow) (engine.Entry, error) {
	replan := row.PlanVersion != task.Schedule.Version
	if replan {
		row.AnchorAt, row.NextAt, row.Planned, row.PlanDone = c.now.Truncate(time.Microsecond), time.Time{}, nil, false
		row.PlanVersion = ""
	}
	row.Task = *task
	trig, err := h.timetable(c.cfg, task, row.AnchorAt)
	if err != nil {
		return engine.Entry{}, err
	}
	tmpl, err := c.templates.Compile(task.Params)
	if err != nil {
		return engine.Entry{}, err
	}
	e := engine.Entry{Trigger: trig, Remote: task.Schedule.Trigger != nil, Lane: jobs{h}.Lane(task), Ready: h.readiness(task)}
	if node := c.cfg.Node; task.ParamsFrom == nil && !h.redactor.Found(task.Params) {
		e.Params = func(inst *ax.Instance) ([]byte, bool) {
			rendered, err := tmpl.Render(values(node, inst))
			return rendered, err == nil // the executor renders again and reports what is wrong
		}
	}
	if replan && !e.Remote {
		if err := engine.Plan(&row, trig, c.now); err != nil {
			return engine.Entry{}, err
		}
	}
	e.Row = row
	return e, nil
}

// timetable makes the trigger of a task that was first seen at an instant.
func (h *Host) timetable(cfg *config.Config, task *ax.Task, firstSeen time.Time) (*trigger.Timetable, error) {
	schedule := task.Schedule
	if use := schedule.Trigger; use != nil {
		with, err := h.fill(cfg, task, pluginapi.KindTrigger, *use)
		if err != nil {
			return nil, err
		}
		schedule.Trigger = &ax.Use{Name: use.Name, With: with}
	}
	return trigger.Compile(trigger.Spec{
		Schedule: schedule, Task: task.Name, Calendars: cfg.Calendars,
		Plugins: triggers{h.plugins}, AnchorAt: firstSeen,
	})
}

func values(node string, inst *ax.Instance) params.Values {
	return params.Values{
		App: inst.App, Task: inst.TaskName, InstanceID: inst.ID.String(), Kind: string(inst.Kind),
		Node: node, TraceID: inst.TraceID, ScheduledAt: inst.ScheduledAt, Shard: inst.Shard, Shards: inst.Shards,
	}
}

// withoutSecrets is the task as it may stand in the database.
func withoutSecrets(r *redact.Redactor, task ax.Task) ax.Task {
	clean := func(u ax.Use) ax.Use { u.With = r.Bytes(u.With); return u }
	task.Job = clean(task.Job)
	task.Params = r.Bytes(task.Params)
	for _, use := range []**ax.Use{&task.ParamsFrom, &task.Schedule.Trigger} {
		if *use != nil {
			u := clean(**use)
			*use = &u
		}
	}
	return task
}

func sameDefinition(a, b ax.Task) bool {
	a.Source, b.Source = "", ""
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (h *Host) setLive(cfg *config.Config, entries []engine.Entry) {
	slim := *cfg
	slim.Tasks = nil // they are large, and may be very many
	h.live.Store(makeLive(&slim, entries, h.holdingSecrets(cfg)))
	h.noteInForce()
	h.setAlertSettings()
	h.metrics.KeepTasks(func(name string) bool { return h.taskNamed(name) != nil })
}

// holdingSecrets returns the tasks of a file that hold secrets, if other hosts can
// change what is in the database.
func (h *Host) holdingSecrets(cfg *config.Config) map[ax.TaskID]*ax.Task {
	if !cfg.Store.Shared() {
		return nil
	}
	holding := map[ax.TaskID]*ax.Task{}
	for _, task := range cfg.Tasks {
		if !sameDefinition(task, withoutSecrets(h.redactor, task)) {
			holding[task.ID] = &task
		}
	}
	return holding
}

// makeLive makes the configuration in force of what the engine gets.
func makeLive(cfg *config.Config, entries []engine.Entry, secrets map[ax.TaskID]*ax.Task) *live {
	l := &live{
		entries: make(map[string]*engine.Entry, len(entries)),
		byID:    make(map[ax.TaskID]*ax.Task, len(entries)), secrets: secrets,
	}
	var made []ax.Task
	for i := range entries {
		l.byID[entries[i].Row.ID] = &entries[i].Row.Task
		l.entries[entries[i].Row.Name] = &entries[i]
		if entries[i].Row.Source == ax.SourceConsole {
			made = append(made, entries[i].Row.Task)
		}
	}
	l.cfg = cfg.With(made)
	return l
}

// taskOf returns the definition of a task in force, nil if there is none.
func (h *Host) taskOf(id ax.TaskID) *ax.Task { return h.live.Load().byID[id] }

// triggers makes plugin triggers for package trigger.
type triggers struct{ plugins *pluginhost.Host }

func (t triggers) Trigger(use ax.Use, zone *time.Location, seed uint64, calendars []*calendar.Calendar) trigger.Trigger {
	return t.plugins.Trigger(pluginhost.Spec{Use: use.Name, Settings: use.With, Zone: zone, Seed: seed, Calendars: calendars})
}

// plans gives the engine what it wants of the store.
type plans struct {
	*store.Store
	app string
}

func (p plans) LoadState(ctx context.Context, task *ax.Task) (engine.Taken, error) {
	row, err := p.Task(ctx, p.app, task.Name)
	if err != nil {
		return engine.Taken{}, err
	}
	taken := engine.Taken{Task: row.ID, State: row.TaskState}
	if taken.PauseAt, err = pauseAt(ctx, p.Store, p.app, task.Name); err != nil {
		return engine.Taken{}, err
	}
	taken.Unfinished, err = p.Instances(ctx, ax.InstanceFilter{App: p.app, Task: task.Name, Statuses: ax.Unfinished(), Limit: 100_000})
	return taken, err
}

// pauseAt returns the instant of the last pause or resumption of a task, zero if
// there was none.
func pauseAt(ctx context.Context, db *store.Store, app, task string) (time.Time, error) {
	rows, err := db.AuditTrail(ctx, ax.AuditFilter{App: app, Object: task, Actions: []string{store.ActionPause, store.ActionResume}, Limit: 1})
	if err != nil || len(rows) == 0 {
		return time.Time{}, err
	}
	return rows[0].At, nil
}

func (p plans) SetPaused(ctx context.Context, c engine.PauseChange) error {
	return p.Store.SetPaused(ctx, store.PauseParams{Task: c.Task, Paused: c.Paused, Until: c.Until, Actor: c.By, Now: c.At})
}

func (p plans) SetParked(ctx context.Context, id ax.TaskID, reason string) error {
	return p.Store.SetParked(ctx, store.ParkParams{Task: id, Reason: reason, Now: time.Now()})
}
