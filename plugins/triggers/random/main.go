// Command random is a trigger plugin that fires once a day, week or month at
// a random time within a window, such as a cache warm-up between 01:00 and
// 05:00. The time is drawn from the task's seed and the date alone, so every
// host and every restart comes to the same one.
//
//	trigger:
//	  use: random
//	  with: {per: day, from: "01:00", to: "05:00"}
package main

import (
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	serve.Main(pluginapi.Info{
		Name:        "random",
		Version:     "1.0.0",
		Description: "Fires once per period at a random but stable time.",
	}, component())
}
