// Command noop is a plugin for measurements: its job does nothing but say when
// it began.
package main

import (
	"context"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	serve.Main(pluginapi.Info{Name: "noop", Version: "0.1.0", Description: "Does nothing, for measurements."},
		pluginapi.JobOf("noop", "Does nothing.", func(job, pluginapi.Env) (pluginapi.Job, error) { return job{}, nil }))
}

type job struct{}

// Run implements pluginapi.Job. began is in microseconds since 1970, like the
// times in the database.
func (job) Run(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
	return pluginapi.Result{Data: map[string]any{"began": time.Now().UnixMicro()}}, nil
}
