package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const (
	// maxAnswer is how much of a webhook's answer is read, in bytes; maxQuote is
	// how much of Slack's words goes into errors, in runes.
	maxAnswer = 4 << 10
	maxQuote  = 300
)

// sender is what all receivers of the plugin share.
type sender struct {
	client *http.Client
	now    func() time.Time
	paces  *notice.Paces // by webhook, or by bot and channel
}

// notifier sends messages to one channel.
type notifier struct {
	*sender
	cfg    settings
	target *url.URL
	pace   *notice.Pace
	calls  webcall.Client
	log    *slog.Logger
}

// newNotifier is the builder of the component.
func (s *sender) newNotifier(cfg settings, env pluginapi.Env) (pluginapi.Notifier, error) {
	target, err := cfg.check()
	if err != nil {
		return nil, err
	}
	secrets := []string{cfg.Token}
	if cfg.WebhookURL != "" {
		secrets = append(webcall.CredentialsIn(target), webcall.SegmentsOf(target)...)
	}
	n := &notifier{
		sender: s, cfg: cfg, target: target, log: env.Log,
		calls: webcall.Client{
			HTTP: s.client, Scrubber: webcall.NewScrubber(secrets...), Timeout: cfg.Timeout.Std(), MaxAnswer: maxAnswer,
		},
		pace: s.paces.Of(cmp.Or(cfg.WebhookURL, cfg.Token+" "+cfg.Channel)),
	}
	if cfg.WebhookURL != "" {
		return &hook{n}, nil
	}
	api := slack.New(cfg.Token, slack.OptionHTTPClient(s.client), slack.OptionAPIURL(strings.TrimSuffix(target.String(), "/")+"/"))
	return &bot{n, api}, nil
}

// named puts the host and the channel before an error.
func (n *notifier) named(err error) error {
	if n.cfg.Channel == "" {
		return fmt.Errorf("POST %s: %w", webcall.Origin(n.target), err)
	}
	return fmt.Errorf("POST %s for %s: %w", webcall.Origin(n.target), n.cfg.Channel, err)
}
