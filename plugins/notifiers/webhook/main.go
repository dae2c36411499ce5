// Command webhook is the plugin of notifications that go to a URL.
package main

import (
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
	"github.com/axsched/ax/plugins/internal/webcall"
)

func main() {
	s := &sender{transport: webcall.NewTransport(nil), now: time.Now}
	serve.Main(
		pluginapi.Info{Name: "webhook", Version: version, Description: "Sends notifications to URLs."},
		pluginapi.NotifierOf("webhook", "Posts notifications to a URL, as JSON or by a template.", s.newNotifier),
	)
}
