// Command ax-plugin-diskfree is a job for ax: it fails when a file system has
// less free space than it should, so that whoever the task notifies hears of it
// before it is full. It stands for what a third party would write: a module of
// its own that imports pluginapi and nothing else of ax.
package main

import (
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	serve.Main(pluginapi.Info{
		Name: "diskfree", Version: "1.0.0", Description: "Watches the free space of file systems.",
	}, components()...)
}

// components is what the plugin offers; tests use it as well.
func components() []pluginapi.Component {
	return []pluginapi.Component{
		pluginapi.JobOf("diskfree", "Fails when a file system has too little free space.", newJob),
	}
}
