package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
)

// DefinitionSample is the api.DefinitionBackend of a sample, with the task "tidy-up"
// in version 3 that people have made. A definition whose text has the word faulty
// is. Nothing that it is asked for is kept.
type DefinitionSample struct {
	// Noted is told of changes; without it there is nothing.
	Noted func(change string)
}

// tidyUp is the definition of the task that was made over the API.
const tidyUp = `name: tidy-up
description: Empties the scratch disk
cron: "0 30 3 * * ?"
timezone: Asia/Shanghai
job:
  use: http
  with:
    url: https://files.example/tidy
    bearer_token: "${secret:files-token}"
retry: {count: 1}
notify: {to: [ops]}
`

// Definition implements api.DefinitionBackend.
func (d *DefinitionSample) Definition(_ context.Context, name string) (api.Definition, error) {
	made := api.Definition{
		Name: name, Version: 3, Source: api.SourceConsole, YAML: tidyUp, UpdatedAt: Noon().Add(-time.Hour), UpdatedBy: "ann",
		Task: json.RawMessage(`{"name":"tidy-up","cron":"0 30 3 * * ?","job":{"use":"http","with":{"url":"https://files.example/tidy","bearer_token":"${secret:files-token}"}}}`),
	}
	switch {
	case d.Noted == nil:
		return api.Definition{}, missing("task", name)
	case name == "tidy-up":
		return made, nil
	case name == "billing/close-day" || name == "warm-up" || name == "每日对账":
		made.Version, made.Source, made.UpdatedBy = 7, "conf.yaml:12", "config"
		made.YAML = strings.NewReplacer("tidy-up", name, "${secret:files-token}", "[secret]").Replace(tidyUp)
		return made, nil
	}
	return made, missing("task", name)
}

// CheckTask implements api.DefinitionBackend.
func (d *DefinitionSample) CheckTask(_ context.Context, text []byte, _ string) (api.TaskCheck, error) {
	if bytes.Contains(text, []byte("faulty")) {
		return api.TaskCheck{Faults: []api.TaskFault{
			{Field: "cron", Message: "cron: expected 5, 6 or 7 fields, got 1"},
			{Field: "job.with.url", Message: "url: expected an absolute URL"},
			{Message: "the task has no job"},
		}}, nil
	}
	return api.TaskCheck{
		Name: "tidy-up", Warnings: []api.TaskFault{{Field: "at", Message: "at: it is in the past"}},
		Words:    &preview.Words{En: "at 03:30 every day (Asia/Shanghai)", Zh: "每天 03:30（Asia/Shanghai）"},
		Timezone: "Asia/Shanghai", Times: []time.Time{Noon().Add(15*time.Hour + 30*time.Minute), Noon().Add(39*time.Hour + 30*time.Minute)},
	}, nil
}

// CreateTask implements api.DefinitionBackend.
func (d *DefinitionSample) CreateTask(ctx context.Context, text []byte, actor string) (api.Definition, error) {
	if err := d.refuse(text); err != nil {
		return api.Definition{}, err
	}
	if bytes.Contains(text, []byte("warm-up")) {
		return api.Definition{}, &api.Conflict{Reason: `there is a task "warm-up" already, defined in conf.yaml:40`}
	}
	d.note("create by " + actor + ": " + string(text))
	made, err := d.Definition(ctx, "tidy-up")
	made.Version = 1
	return made, err
}

// ReplaceTask implements api.DefinitionBackend.
func (d *DefinitionSample) ReplaceTask(ctx context.Context, name string, text []byte, e api.Edit) (api.Definition, error) {
	made, err := d.editable(ctx, name, e)
	if err == nil {
		err = d.refuse(text)
	}
	if err != nil {
		return api.Definition{}, err
	}
	made.Version++
	d.note("replace " + name + " by " + e.Actor + ": " + string(text))
	return made, nil
}

// DeleteTask implements api.DefinitionBackend.
func (d *DefinitionSample) DeleteTask(ctx context.Context, name string, e api.Edit) error {
	_, err := d.editable(ctx, name, e)
	if err == nil {
		d.note("delete " + name + " by " + e.Actor)
	}
	return err
}

func (d *DefinitionSample) editable(ctx context.Context, name string, e api.Edit) (api.Definition, error) {
	made, err := d.Definition(ctx, name)
	switch {
	case err != nil:
		return made, err
	case made.Source != api.SourceConsole:
		return made, &api.Conflict{Reason: "task " + name + " is defined in " + made.Source + ": change it there"}
	case e.Version != 0 && e.Version != made.Version:
		return made, &api.Stale{Task: name, Asked: e.Version, Present: made.Version, By: made.UpdatedBy, At: made.UpdatedAt}
	}
	return made, nil
}

func (d *DefinitionSample) refuse(text []byte) error {
	check, err := d.CheckTask(context.Background(), text, "")
	if err != nil || len(check.Faults) == 0 {
		return err
	}
	invalid := &api.Invalid{Reason: "the definition has faults"}
	for _, f := range check.Faults {
		invalid.Faults = append(invalid.Faults, api.Fault{Where: api.BodyField(f.Field), Message: f.Message})
	}
	return invalid
}

func (d *DefinitionSample) note(change string) {
	if d.Noted != nil {
		d.Noted(change)
	}
}

// Components implements api.DefinitionBackend.
func (d *DefinitionSample) Components(context.Context) ([]api.ComponentSchema, error) {
	if d.Noted == nil {
		return nil, nil
	}
	return []api.ComponentSchema{
		{Kind: "job", Name: "exec", Plugin: "exec", Description: "Runs a program or a shell command", Schema: json.RawMessage(`{"type":"object","additionalProperties":false,
			"properties":{"command":{"type":"array","items":{"type":"string"},"description":"Program and arguments."},"shell":{"type":"string","description":"A script for sh."},
			"timeout":{"type":"string","format":"duration","default":"30s"},"env":{"type":"object","additionalProperties":{"type":"string"}}}}`)},
		{Kind: "job", Name: "http", Plugin: "http", Description: "Calls a URL", Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["url"],
			"properties":{"url":{"type":"string","format":"uri","description":"Absolute http or https URL."},"method":{"type":"string","enum":["GET","POST"],"description":"Default: GET."},
			"bearer_token":{"type":"string","writeOnly":true,"description":"Token for the header Authorization."},"async":{"type":"boolean","description":"The service answers later."},
			"tries":{"type":"integer","minimum":1,"maximum":5,"default":1},"basic_auth":{"type":"object","required":["username"],"properties":{"username":{"type":"string"},"password":{"type":"string","writeOnly":true}}}}}`)},
		{Kind: "trigger", Name: "random", Plugin: "random", Description: "A random time in a window", Schema: json.RawMessage(`{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"}}}`)},
	}, nil
}

// ListCalendars implements api.CalendarBackend.
func (d *DefinitionSample) ListCalendars(context.Context) ([]api.CalendarView, error) {
	if d.Noted == nil {
		return nil, nil
	}
	return []api.CalendarView{{Name: "cn", First: 2026, Last: 2026, Files: []string{"cn.csv"}, Tasks: []string{"billing/close-day"}, Gap: "calendar cn has no days for 2027"}}, nil
}

// CheckCalendar implements api.CalendarBackend.
func (d *DefinitionSample) CheckCalendar(_ context.Context, name, file string, content []byte) (api.CalendarCheck, error) {
	switch {
	case name != "cn" || d.Noted == nil:
		return api.CalendarCheck{}, missing("calendar", name)
	case file != "" && file != "cn.csv":
		return api.CalendarCheck{}, &api.Conflict{Reason: "calendar cn does not read the file " + file}
	case bytes.Contains(content, []byte("faulty")):
		return api.CalendarCheck{}, &api.Invalid{Reason: "the file has faults", Faults: []api.Fault{{Where: "cn.csv:1:1", Message: "expected a date"}}}
	}
	old, moved := Noon().Add(24*time.Hour), Noon().Add(48*time.Hour)
	return api.CalendarCheck{
		Calendar: "cn", File: "cn.csv", Same: 2,
		Days: []api.CalendarDay{{Date: "2026-03-03", Before: true, After: false, Reason: "清明节"}},
		Tasks: []preview.TaskPlan{{
			Task: "billing/close-day", Before: []time.Time{old}, After: []time.Time{moved}, MovesTotal: 1,
			Moves: []preview.Move{{At: old, Before: old, After: moved, Reason: "清明节"}},
		}},
		Warnings: []string{"cn.csv:4:1: the day is here twice"},
	}, nil
}

// AuditTrail implements api.Backend.
func (d *DefinitionSample) AuditTrail(_ context.Context, f ax.AuditFilter) ([]ax.AuditRow, error) {
	if d.Noted == nil {
		return nil, nil
	}
	noon := Noon()
	var found []ax.AuditRow
	for _, row := range []ax.AuditRow{
		{ID: 4, At: noon.Add(-30 * time.Minute), Actor: "ann", Action: "task.update", Object: "tidy-up", Detail: []byte(`{"revision":3,"before":{"name":"tidy-up"},"after":{"name":"tidy-up"}}`)},
		{ID: 3, At: noon.Add(-time.Hour), Actor: "ann", Action: "task.pause", Object: "每日对账", Detail: []byte(`{"until":"2026-03-02T06:00:00Z"}`)},
		{ID: 2, At: noon.Add(-26 * time.Hour), Actor: "config", Action: "task.update", Object: "billing/close-day", Detail: []byte(`{"revision":2}`)},
		{ID: 1, At: noon.Add(-50 * time.Hour), Actor: "config", Action: "task.create", Object: "billing/close-day"},
	} {
		if (f.Object == "" || f.Object == row.Object) && (f.Before == 0 || row.ID < f.Before) && (f.Limit == 0 || len(found) < f.Limit) {
			found = append(found, row)
		}
	}
	return found, nil
}
