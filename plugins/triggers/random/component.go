package main

import "github.com/axsched/ax/pluginapi"

// component is what the plugin offers.
func component() pluginapi.Component {
	return pluginapi.TriggerOf("random", "Once per day, week or month at a random time within a window.",
		func(s Settings, env pluginapi.Env) (pluginapi.Trigger, error) {
			return newRandom(s, env)
		})
}
