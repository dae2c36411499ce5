package pluginapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// Backup is a job with its settings.
type Backup struct {
	Dir  string             `json:"dir" ax:"required" doc:"What to copy."`
	Keep int                `json:"keep" ax:"default=7,min=1"`
	Stop pluginapi.Duration `json:"stop" ax:"default=90s"`
}

// Run does one run.
func (b Backup) Run(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	if b.Dir == "/" {
		return pluginapi.Result{}, pluginapi.Permanent(errors.New("that is too much"))
	}
	return pluginapi.Result{Message: fmt.Sprintf("%s of %s, %d kept", b.Dir, run.ScheduledAt.Format(time.DateOnly), b.Keep)}, nil
}

// NewBackup makes the job of one task.
func NewBackup(b Backup, _ pluginapi.Env) (pluginapi.Job, error) { return b, nil }

func ExampleJobOf() {
	component := pluginapi.JobOf("backup", "Copies a directory.", NewBackup)

	_, err := component.Build(json.RawMessage(`{"keep": 0, "stop": 90}`), pluginapi.Env{})
	fmt.Println(err)

	job, err := component.Build(json.RawMessage(`{"dir": "/srv"}`), pluginapi.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	due := time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC)
	result, err := job.(pluginapi.Job).Run(context.Background(), &pluginapi.Run{Fire: pluginapi.Fire{ScheduledAt: due}})
	fmt.Println(result.Message, err)
	// Output:
	// keep: expected at least 1, got 0
	// stop: expected a duration with a unit (ms, s, m, h, d or w), such as "90s", got 90
	// dir: is required
	// /srv of 2026-05-01, 7 kept <nil>
}

func ExampleSchemaOf() {
	schema, err := pluginapi.SchemaOf[struct {
		Hour int `json:"hour" ax:"default=2,min=0,max=23" doc:"Hour of the day."`
	}]()
	fmt.Println(string(schema), err)
	// Output:
	// {"type":"object","properties":{"hour":{"type":"integer","description":"Hour of the day.","default":2,"minimum":0,"maximum":23}},"additionalProperties":false} <nil>
}

func ExampleParseDuration() {
	for _, text := range []string{"1.5d", "90", "-5m"} {
		fmt.Println(pluginapi.ParseDuration(text))
	}
	// Output:
	// 1d12h <nil>
	// 0s duration "90": "90" has no unit: want ms, s, m, h, d or w, as in "90s"
	// 0s duration "-5m" is negative
}

func ExamplePermanent() {
	err := fmt.Errorf("copy table: %w", pluginapi.Permanent(errors.New("no such table")))
	fmt.Println(err, pluginapi.IsPermanent(err))
	// Output: copy table: no such table true
}
