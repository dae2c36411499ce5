// Command workday is a trigger plugin for working days: every one, the nth or
// last of the month, the ones around a holiday, and any cron expression kept
// to open days. Which days are open is what a calendar says, with make-up
// workdays and holidays, not the weekday.
//
//	trigger:
//	  use: workday
//	  with: {calendar: cn, time: "10:00"}
package main

import (
	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	serve.Main(pluginapi.Info{
		Name:        "workday",
		Version:     "1.0.0",
		Description: "Fires on the working days of a calendar.",
	}, component())
}
