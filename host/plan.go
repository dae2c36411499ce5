package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/redact"
	"github.com/axsched/ax/host/internal/store"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/pluginapi/calendar"
)

// Plan compares a configuration with what this host runs.
func (b backend) Plan(ctx context.Context, c *api.Candidate) (*preview.Plan, error) {
	h := b.h
	path, err := filepath.Abs(h.opts.Config)
	if err != nil {
		return nil, fmt.Errorf("find the configuration: %w", err)
	}
	l, now := h.live.Load(), time.Now().Truncate(time.Microsecond)
	before := h.liveSide(l)
	var after preview.Side
	var warnings []string
	if c == nil {
		after, warnings, err = h.fileSide(l, now)
	} else {
		after, err = h.candidateSide(l, c, now)
	}
	if err != nil {
		return nil, err
	}
	plan := preview.Compare(ctx, before, after, now)
	plan.Config, plan.Warnings = path, warnings
	return plan, nil
}

// liveSide is what the host runs.
func (h *Host) liveSide(l *live) preview.Side {
	side := preview.Side{Calendars: l.cfg.Calendars, Timetable: func(t *ax.Task) (*trigger.Timetable, error) {
		row := &l.entries[t.Name].Row
		return h.timetable(l.cfg, &row.Task, row.AnchorAt)
	}}
	for _, entry := range l.entries {
		side.Tasks = append(side.Tasks, withoutSecrets(h.redactor, entry.Row.Task))
	}
	return side
}

// fileSide is what the host's own file says now.
func (h *Host) fileSide(l *live, now time.Time) (preview.Side, []string, error) {
	cfg, err := loadConfig(h.opts.Config)
	var waiting []string
	if err == nil {
		h.redactor.Set(cfg.Secrets)
		waiting, err = splitFaults(cfg.CheckComponents(h.catalog()))
	}
	if err == nil {
		if taken := cfg.Taken(l.isMade); len(taken) > 0 {
			err = taken
		}
	}
	if err != nil {
		return preview.Side{}, nil, invalidConfig(err)
	}
	warnings := append(restartNeeded(l.cfg, cfg), waiting...)
	for _, w := range cfg.Warnings {
		warnings = append(warnings, w.String())
	}
	side := preview.Side{Calendars: cfg.Calendars}
	whole := make(map[string]*ax.Task, len(cfg.Tasks))
	for i := range cfg.Tasks {
		task := &cfg.Tasks[i]
		whole[task.Name] = task
		side.Tasks = append(side.Tasks, withoutSecrets(h.redactor, *task))
	}
	side.Timetable = func(t *ax.Task) (*trigger.Timetable, error) {
		return h.timetable(cfg, whole[t.Name], l.firstSeen(t, now))
	}
	h.addMade(l, cfg, &side)
	return side, warnings, nil
}

// candidateSide is a configuration that was read elsewhere.
func (h *Host) candidateSide(l *live, c *api.Candidate, now time.Time) (preview.Side, error) {
	if c.App != l.cfg.App {
		return preview.Side{}, &api.Conflict{Reason: fmt.Sprintf("this host runs the app %q, the configuration is that of %q", l.cfg.App, c.App)}
	}
	side := preview.Side{Calendars: make(map[string]*calendar.Calendar, len(c.Calendars))}
	for name, text := range c.Calendars {
		decoded, err := calendar.Unmarshal(text)
		if err != nil {
			return side, &api.Invalid{Reason: fmt.Sprintf("calendar %q: %v", name, err)}
		}
		side.Calendars[name] = decoded
	}
	for _, text := range c.Tasks {
		task := ax.Task{App: c.App}
		if err := json.Unmarshal(text, &task); err != nil {
			return side, &api.Invalid{Reason: "tasks: " + err.Error()}
		}
		if l.isMade(task.Name) {
			return side, &api.Invalid{Reason: fmt.Sprintf("tasks: there is a task %q already that was made in the console", task.Name)}
		}
		side.Tasks = append(side.Tasks, task)
	}
	cfg := &config.Config{Calendars: side.Calendars}
	side.Timetable = func(t *ax.Task) (*trigger.Timetable, error) {
		return h.timetable(cfg, t, l.firstSeen(t, now))
	}
	all := maps.Clone(l.cfg.Calendars) // a candidate has those of its own tasks only
	maps.Copy(all, side.Calendars)
	h.addMade(l, &config.Config{Calendars: all}, &side)
	return side, nil
}

// firstSeen returns when a task counts as first seen: as it is now if its
// schedule stays as it is.
func (l *live) firstSeen(t *ax.Task, now time.Time) time.Time {
	if e := l.entries[t.Name]; e != nil && e.Row.Schedule.Version == t.Schedule.Version {
		return e.Row.AnchorAt
	}
	return now
}

// invalidConfig turns the faults of a configuration into an answer of the API.
func invalidConfig(err error) error {
	faults, ok := errors.AsType[config.Faults](err)
	if !ok {
		return err
	}
	invalid := &api.Invalid{Reason: "the configuration has faults, nothing was changed"}
	for _, f := range faults {
		invalid.Faults = append(invalid.Faults, api.Fault{Where: f.Position.String(), Message: f.Message})
	}
	return invalid
}

// ReadCandidate reads a configuration for a host to compare with what it runs.
func ReadCandidate(path string) (api.Candidate, error) {
	cfg, err := loadConfig(path)
	if err != nil {
		return api.Candidate{}, err
	}
	redactor := &redact.Redactor{}
	redactor.Set(cfg.Secrets)
	c := api.Candidate{App: cfg.App, Tasks: []json.RawMessage{}, Calendars: map[string]json.RawMessage{}}
	for i := range cfg.Tasks {
		text, err := json.Marshal(withoutSecrets(redactor, cfg.Tasks[i]))
		if err != nil {
			return c, fmt.Errorf("task %q: %w", cfg.Tasks[i].Name, err)
		}
		c.Tasks = append(c.Tasks, text)
		for _, name := range cfg.Tasks[i].Schedule.CalendarNames() {
			c.Calendars[name] = cfg.Calendars[name].Marshal()
		}
	}
	return c, nil
}

// PlanOffline compares a configuration with its database, without a host. The
// database keeps no calendars, so of those it only tells that they differ.
// Warnings go to out.
func PlanOffline(ctx context.Context, path string, out io.Writer) (*preview.Plan, error) {
	c, err := Check(ctx, path, out)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	rows, err := rowsOf(ctx, c.Config, c.log)
	if err != nil {
		return nil, err
	}
	now := time.Now().Truncate(time.Microsecond)
	seen := make(map[string]*ax.TaskRow, len(rows))
	var before, after preview.Side
	for i := range rows {
		if rows[i].Source == ax.SourceConsole { // files do not change it
			continue
		}
		seen[rows[i].Name] = &rows[i]
		before.Tasks = append(before.Tasks, rows[i].Task)
	}
	for _, task := range c.Config.Tasks {
		after.Tasks = append(after.Tasks, withoutSecrets(c.redactor, task))
	}
	after.Calendars = c.Config.Calendars
	timetable := func(t *ax.Task) (*trigger.Timetable, error) {
		firstSeen := now
		if row := seen[t.Name]; row != nil && row.Schedule.Version == t.Schedule.Version {
			firstSeen = row.AnchorAt
		}
		return trigger.Compile(trigger.Spec{
			Schedule: t.Schedule, Task: t.Name, Calendars: c.Config.Calendars, Plugins: c.Triggers, AnchorAt: firstSeen,
		})
	}
	before.Timetable, after.Timetable = timetable, timetable
	plan := preview.Compare(ctx, before, after, now)
	for _, w := range c.Config.Warnings {
		plan.Warnings = append(plan.Warnings, w.String())
	}
	return plan, nil
}

// rowsOf reads the tasks of a database, which need not be there.
func rowsOf(ctx context.Context, cfg *config.Config, log hclog.Logger) ([]ax.TaskRow, error) {
	if path, isFile := strings.CutPrefix(cfg.Store.DSN, "sqlite:"); isFile {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
	}
	s, err := store.Open(ctx, store.Options{DSN: cfg.Store.DSN, Log: log, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.CheckSchema(ctx); err != nil {
		return nil, err
	}
	return s.Tasks(ctx, cfg.App)
}
