package serve_test

import (
	"context"
	"fmt"
	"os"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

// Clean removes a directory of old reports.
type Clean struct {
	Dir string `json:"dir" ax:"required" doc:"Where the reports are."`
}

// Run does one run. It may be repeated: what is gone stays gone.
func (c Clean) Run(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	old := run.ScheduledAt.AddDate(0, -1, 0).Format("2006-01")
	run.Log.Info("removing", "month", old)
	return pluginapi.Result{Message: "removed " + old}, os.RemoveAll(fmt.Sprintf("%s/%s", c.Dir, old))
}

// A complete plugin with one job; Example_job stands for main.
func Example_job() {
	serve.Main(pluginapi.Info{Name: "clean", Version: "1.0.0", Description: "Housekeeping."},
		pluginapi.JobOf("clean", "Removes last month's reports.",
			func(c Clean, _ pluginapi.Env) (pluginapi.Job, error) { return c, nil }))
}
