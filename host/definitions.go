package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/redact"
	"github.com/axsched/ax/host/internal/secrets"
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

const (
	// definitionFile names the text of a definition in positions.
	definitionFile = "definition"
	// previewTimes is how many due times of a definition are shown.
	previewTimes = 10
)

// gate decides whether who asks may define tasks of a group; commands tells that
// their job runs commands on the machines of the hosts. The error is an
// *api.Forbidden.
type gate func(ctx context.Context, group string, commands bool) error

// runsCommands reports whether a job runs what the definition says on the machine.
func runsCommands(job ax.Use) bool { return path.Base(job.Name) == "exec" }

// mayDefine asks the gate. Without one no access is configured: only this machine
// reaches the host, and everybody there may do everything.
func (h *Host) mayDefine(ctx context.Context, task *ax.Task) error {
	if h.gate == nil {
		return nil
	}
	return h.gate(ctx, task.Group, runsCommands(task.Job))
}

// Definition implements api.DefinitionBackend.
func (b backend) Definition(ctx context.Context, name string) (api.Definition, error) {
	row, err := b.row(ctx, name)
	if err != nil {
		return api.Definition{}, err
	}
	return b.definition(row)
}

// row reads a task that is in force.
func (b backend) row(ctx context.Context, name string) (ax.TaskRow, error) {
	cfg := b.h.live.Load().cfg
	row, err := b.h.store.Task(ctx, cfg.App, name)
	if errors.Is(err, ax.ErrNotFound) {
		return row, b.noTask(name)
	}
	return row, err
}

func (b backend) definition(row ax.TaskRow) (api.Definition, error) {
	cfg := b.h.live.Load().cfg
	d := api.Definition{Name: row.Name, Version: row.Revision, Source: row.Source, UpdatedAt: row.UpdatedAt, UpdatedBy: row.UpdatedBy}
	shown := newShowing(b.h.catalog(), b.h.redactor).task(row.Task)
	text, err := cfg.WriteTask(&shown)
	if err == nil {
		d.YAML = string(text)
		d.Task, err = cfg.WriteTaskJSON(&shown)
	}
	return d, err
}

// written is a definition that was read, and what it replaces.
type written struct {
	*config.Defined
	// old is the row of the task that it replaces, nil for none.
	old *ax.TaskRow
	// missing are components that may come later.
	missing config.Faults
}

// read reads a definition and checks all that needs no plugin to run. replaces is
// the name of the task in whose place it comes, empty for none.
func (b backend) read(ctx context.Context, text []byte, replaces string) (*written, error) {
	cfg := b.h.live.Load().cfg
	w := &written{Defined: cfg.ReadTask(text, definitionFile)}
	if replaces != "" {
		row, err := b.row(ctx, replaces)
		if err != nil {
			return nil, err
		}
		w.old = &row
	}
	b.checkName(w)
	w.missing = w.CheckComponents(b.h.catalog())
	if bytes.Contains(w.Task.Params, []byte(redact.Mark)) {
		w.Faults = append(w.Faults, config.Fault{Field: "params", Message: "params: " + redact.Mark + " stands for a value that is not shown: write the value itself"})
	}
	if secrets.Named(string(w.Task.Params)) {
		w.Faults = append(w.Faults, config.Fault{Field: "params", Message: "params: secrets are filled in in settings that plugins keep secret, and params are shown: " + secrets.Reference("…")})
	}
	return w, nil
}

// checkName refuses a name that is in use, and one that differs from that of the
// task to be replaced.
func (b backend) checkName(w *written) {
	name := w.Task.Name
	switch entry := b.h.live.Load().entries[name]; {
	case name == "":
	case w.old != nil && name != w.old.Name:
		w.Faults = append(w.Faults, config.Fault{
			Field: "name", Message: fmt.Sprintf("name: a task keeps its name %q: make a copy with another name, and delete this one", w.old.Name),
		})
	case w.old == nil && entry != nil:
		w.Faults = append(w.Faults, config.Fault{Field: "name", Message: "name: " + inUse(name, entry.Row.Source)})
	}
}

func inUse(name, source string) string {
	if source == ax.SourceConsole {
		return fmt.Sprintf("there is a task %q already, made in the console", name)
	}
	return fmt.Sprintf("there is a task %q already, defined in %s", name, source)
}

// CheckTask implements api.DefinitionBackend.
func (b backend) CheckTask(ctx context.Context, text []byte, replaces string) (api.TaskCheck, error) {
	w, err := b.read(ctx, text, replaces)
	if err != nil {
		return api.TaskCheck{}, err
	}
	check := api.TaskCheck{Name: w.Task.Name, Faults: b.faults(w.Faults), Warnings: b.faults(append(w.missing, w.Warnings...))}
	task := w.Task
	if b.mayPreview(w) {
		words := preview.Describe(&task.Schedule, task.Name)
		check.Words, check.Timezone = &words, task.Schedule.Timezone
		b.previewTimes(ctx, w, &check)
	}
	if len(w.Faults) > 0 {
		return check, nil
	}
	shown := newShowing(b.h.catalog(), b.h.redactor).task(task)
	yaml, err := b.h.live.Load().cfg.WriteTask(&shown)
	check.YAML = string(yaml)
	return check, err
}

// mayPreview reports whether a definition says when its task is due, whatever else
// is wrong with it.
func (b backend) mayPreview(w *written) bool {
	for _, f := range w.Faults {
		key, _, _ := strings.Cut(f.Field, ".")
		key, _, _ = strings.Cut(key, "[")
		switch key {
		case "", "cron", "every", "delay", "at", "trigger", "anchor", "repeat_count", "timezone", "from", "until",
			"calendar", "on_closed", "blackout", "on_blackout", "jitter", "enabled":
			return false
		}
	}
	s := &w.Task.Schedule
	return s.Cron != "" || s.Every > 0 || s.Delay > 0 || !s.At.IsZero() || s.Trigger != nil
}

// previewTimes adds when the task would be due next. A fixed delay counts from the
// end of runs, so it is not asked.
func (b backend) previewTimes(ctx context.Context, w *written, check *api.TaskCheck) {
	h, now, task := b.h, b.h.now(), w.Task
	markOff(&task)
	switch {
	case !task.Enabled || task.Schedule.Delay > 0:
		return
	case w.old != nil && w.old.Schedule.Version == task.Schedule.Version:
		now = w.old.AnchorAt
	}
	table, err := h.timetable(h.live.Load().cfg, &task, now)
	if err == nil {
		check.Times, err = preview.Next(ctx, table, h.now(), previewTimes)
	}
	if err != nil {
		check.Note = h.redactor.String(err.Error())
		return
	}
	check.Beyond = preview.Unlisted(table, check.Times)
}

// faults are those of a configuration as the API shows them.
func (b backend) faults(list config.Faults) []api.TaskFault {
	var shown []api.TaskFault
	for _, f := range list {
		shown = append(shown, api.TaskFault{Field: f.Field, Message: b.h.redactor.String(f.Message)})
	}
	return shown
}

// refused turns faults into an answer of the API, nil for none.
func (b backend) refused(list config.Faults) error {
	if len(list) == 0 {
		return nil
	}
	invalid := &api.Invalid{Reason: "the definition has faults, nothing was changed"}
	for _, f := range b.faults(list) {
		invalid.Faults = append(invalid.Faults, api.Fault{Where: api.BodyField(f.Field), Message: f.Message})
	}
	return invalid
}

// validateTimeout bounds how long plugins may look at settings.
const validateTimeout = 10 * time.Second

// validate lets the plugins themselves look at the settings, for what their schemas
// do not say. One that is not there, or does not answer, has no objection: it may
// come later.
func (b backend) validate(ctx context.Context, w *written) {
	if len(w.Faults) > 0 || len(w.missing) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, validateTimeout)
	defer cancel()
	cfg := b.h.live.Load().cfg
	check := func(kind pluginapi.Kind, use *ax.Use) {
		if use == nil {
			return
		}
		s, err := b.h.spec(cfg, &w.Task, kind, *use)
		if err != nil {
			return // is a fault already
		}
		if kind == pluginapi.KindTrigger {
			for _, name := range w.Task.Schedule.Calendars {
				s.Calendars = append(s.Calendars, cfg.Calendars[name])
			}
		}
		err = b.h.plugins.Validate(ctx, kind, s)
		if _, refused := errors.AsType[*wire.ProblemError](err); refused {
			w.Reject(kind, err)
		}
	}
	check(pluginapi.KindJob, &w.Task.Job)
	check(pluginapi.KindParams, w.Task.ParamsFrom)
	check(pluginapi.KindTrigger, w.Task.Schedule.Trigger)
}
