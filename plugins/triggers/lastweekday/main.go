// Command lastweekday is a trigger plugin for "the last Friday of the month"
// and the like: the nth weekday from the start or the end of each month.
//
//	trigger:
//	  use: lastweekday
//	  with: {weekday: FRI, time: "02:00"}
package main

import (
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	serve.Main(pluginapi.Info{
		Name:        "lastweekday",
		Version:     "1.0.0",
		Description: "Fires on the last or nth weekday of the month.",
	}, component())
}
