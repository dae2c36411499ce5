package main

import "github.com/axsched/ax/pluginapi"

// component is what the plugin offers.
func component() pluginapi.Component {
	return pluginapi.TriggerOf("workday", "Working days of a calendar: every, nth of the month, around holidays, or by cron.",
		func(s Settings, env pluginapi.Env) (pluginapi.Trigger, error) {
			return newWorkday(s, env)
		})
}
