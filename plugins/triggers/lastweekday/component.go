package main

import "github.com/axsched/ax/pluginapi"

// component is what the plugin offers.
func component() pluginapi.Component {
	return pluginapi.TriggerOf("lastweekday", "The last or nth weekday of the month.",
		func(s Settings, env pluginapi.Env) (pluginapi.Trigger, error) {
			return newLastWeekday(s, env.Zone)
		})
}
