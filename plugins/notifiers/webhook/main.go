// Command webhook is the plugin of notifications that go to a URL.
package main

import (
	"net/http"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const version = "0.1.0"

func main() {
	serve.Main(
		pluginapi.Info{Name: "webhook", Version: version, Description: "Sends notifications to URLs."},
		component(webcall.NewTransport(nil), time.Now),
	)
}

func component(transport http.RoundTripper, now func() time.Time) pluginapi.Component {
	s := &sender{transport: transport, now: now, paces: newPaces()}
	return pluginapi.NotifierOf("webhook", "Posts notifications to a URL: as JSON, by a template, or as WeCom, Feishu, Teams or PagerDuty want them.", s.newNotifier)
}
