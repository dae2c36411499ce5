package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/params"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/trigger"
)

// Tasks that people have made over the API or in the console are in the database
// only, in full: what the defaults of the files say later does not change them.
// They go through compare and write like those of the files.

// compareMade adds a task that people have made to the entries of changes, and
// tells whether its row is as it should be. One that cannot be made any more, as a
// calendar is gone, stays as it is and tells why it is never due: the files can be
// changed without it.
func (h *Host) compareMade(c *changes, row *ax.TaskRow) (same bool) {
	task, err := h.revised(c.cfg, row.Task)
	if err == nil {
		if same, err = h.compareTask(c, &task, row); err == nil {
			return same
		}
	}
	h.log.Warn("a task that was made in the console waits", "task", row.Name, "error", err)
	c.entries = append(c.entries, unable(*row, err))
	return true
}

// revised is a task that people have made, with the version that its schedule has
// by the calendars of a configuration. The error says why it cannot be made.
func (h *Host) revised(cfg *config.Config, task ax.Task) (ax.Task, error) {
	if name := cfg.Missing(&task.Schedule); name != "" {
		return task, fmt.Errorf("it needs the calendar %q, which the configuration does not have any more", name)
	}
	task.Schedule.Version = config.Version(task.Schedule, cfg.Calendars)
	markOff(&task)
	if _, err := h.timetable(cfg, &task, h.now()); err != nil {
		return task, err
	}
	_, err := params.Compile(task.Params)
	return task, err
}

// addMade adds the tasks that people have made to what a plan compares: a changed
// calendar moves their due times too.
func (h *Host) addMade(l *live, cfg *config.Config, side *preview.Side) {
	timetable := side.Timetable
	made := map[string]*ax.Task{}
	for _, entry := range l.entries {
		if entry.Row.Source != ax.SourceConsole {
			continue
		}
		task, err := h.revised(cfg, entry.Row.Task)
		if err != nil {
			task = entry.Row.Task // says so itself, once the configuration is in force
		}
		made[task.Name] = &task
		side.Tasks = append(side.Tasks, withoutSecrets(h.redactor, task))
	}
	side.Timetable = func(t *ax.Task) (*trigger.Timetable, error) {
		if whole := made[t.Name]; whole != nil {
			return h.timetable(cfg, whole, l.firstSeen(whole, h.now()))
		}
		return timetable(t)
	}
}

// isMade reports whether a task in force was made by people.
func (l *live) isMade(name string) bool {
	entry := l.entries[name]
	return entry != nil && entry.Row.Source == ax.SourceConsole
}

// redefinition is a change of one task that people make.
type redefinition struct {
	// task is the new definition, nil to delete the one with that name.
	task *ax.Task
	name string
	// revision is the one that is replaced, 0 for a task that must not be there.
	revision int64
	actor    string
}

// redefine puts the definition of a task in force, or takes it out, here and in
// the database. ax.ErrRevised says that the revision is not there any more.
// h.reload is held.
func (h *Host) redefine(ctx context.Context, r redefinition) error {
	cfg := h.live.Load().cfg
	id := ax.NewTaskID(cfg.App, r.name)
	p := store.ApplyParams{App: cfg.App, Actor: r.actor, Revisions: map[ax.TaskID]int64{id: r.revision}, Shown: h.auditedDefinition}
	c, err := h.settle(ctx, true, p, func(now time.Time) (*changes, error) { return h.compareOne(ctx, cfg, r, now) })
	if err != nil {
		return err
	}
	replaced, gone := map[ax.TaskID]engine.Entry{}, map[ax.TaskID]bool{}
	if r.task == nil {
		gone[id] = true
	} else {
		replaced[id] = c.entries[0]
	}
	before := h.taskOf(id)
	h.exchange(replaced, gone)
	for _, task := range []*ax.Task{before, h.taskOf(id)} {
		if task != nil && !h.fleet.sole {
			h.fleet.elsewhere(task)
		}
	}
	return nil
}

// compareOne finds how a redefinition differs from the row of its task.
func (h *Host) compareOne(ctx context.Context, cfg *config.Config, r redefinition, now time.Time) (*changes, error) {
	c := &changes{cfg: cfg, now: now, seen: map[ax.TaskID]time.Time{}}
	row, err := h.store.Task(ctx, cfg.App, r.name)
	old := &row
	if errors.Is(err, ax.ErrNotFound) {
		old, err = nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case r.task == nil && old == nil:
		return nil, ax.ErrRevised
	case r.task == nil:
		c.remove = []ax.TaskID{old.ID}
		c.ends(old, now)
		return c, nil
	}
	if _, err := h.compareTask(c, r.task, old); err != nil {
		return nil, err
	}
	c.upsert = []ax.TaskRow{h.kept(&c.entries[0])}
	return c, nil
}

// auditedDefinition is a definition as the audit trail may show it: with the keys
// of the configuration.
func (h *Host) auditedDefinition(text json.RawMessage) json.RawMessage {
	var task ax.Task
	if json.Unmarshal(text, &task) != nil {
		return nil
	}
	clean := newShowing(h.catalog(), h.redactor).task(task)
	shown, err := h.live.Load().cfg.WriteTaskJSON(&clean)
	if err != nil {
		return nil
	}
	return shown
}
