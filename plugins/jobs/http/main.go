// Command http is the plugin of jobs that call a URL.
package main

import (
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
	"github.com/axsched/ax/plugins/internal/webcall"
)

func main() {
	c := &caller{transport: webcall.NewTransport(nil)}
	serve.Main(
		pluginapi.Info{Name: "http", Version: version, Description: "Calls URLs."},
		pluginapi.JobOf("http", "Calls a URL and judges the status of the answer.", c.newJob),
	)
}
