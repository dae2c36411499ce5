// Command email is the plugin of notifications by mail.
package main

import (
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

const version = "0.1.0"

func main() {
	serve.Main(
		pluginapi.Info{Name: "email", Version: version, Description: "Sends notifications by mail."},
		component(time.Now),
	)
}

func component(now func() time.Time) pluginapi.Component {
	return pluginapi.NotifierOf("email", "Sends notifications by mail, with a thread for each task.",
		func(cfg settings, env pluginapi.Env) (pluginapi.Notifier, error) { return newNotifier(cfg, env, now) })
}
