// Command slack is the plugin of notifications to Slack.
package main

import (
	"net/http"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const version = "0.1.0"

func main() {
	serve.Main(
		pluginapi.Info{Name: "slack", Version: version, Description: "Sends notifications to Slack."},
		component(webcall.NewTransport(nil), time.Now),
	)
}

// component makes the component. Slack takes a message a second in a channel.
func component(transport http.RoundTripper, now func() time.Time) pluginapi.Component {
	s := &sender{
		client: &http.Client{Transport: transport, CheckRedirect: webcall.NoRedirects},
		now:    now, paces: notice.NewPaces(1, time.Second),
	}
	return pluginapi.NotifierOf("slack", "Sends notifications to a channel of Slack.", s.newNotifier)
}
