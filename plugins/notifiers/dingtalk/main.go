// Command dingtalk is the plugin of notifications to DingTalk groups.
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
		pluginapi.Info{Name: "dingtalk", Version: version, Description: "Sends notifications to DingTalk groups."},
		component(webcall.NewTransport(nil), time.Now),
	)
}

func component(transport http.RoundTripper, now func() time.Time) pluginapi.Component {
	s := &sender{transport: transport, now: now, paces: notice.NewPaces(maxCalls, time.Minute)}
	return pluginapi.NotifierOf("dingtalk", "Sends notifications to a group by a robot of DingTalk.", s.newNotifier)
}
