package main

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// settings are what a receiver gives in `with:`.
type settings struct {
	WebhookURL string             `json:"webhook_url" ax:"secret,format=uri" doc:"URL of an incoming webhook; this or token is required. Only its host is shown in errors."`
	Token      string             `json:"token" ax:"secret" doc:"Token of a bot (xoxb-…) with the scope chat:write."`
	Channel    string             `json:"channel" doc:"Channel for the bot's messages: an id such as C0123456789, or #name. A webhook has its own."`
	Thread     pluginapi.Duration `json:"thread" ax:"default=12h,min=0s" doc:"With token: how long the further messages about a task become replies to the first one, which is marked as solved when the task recovers. 0s makes no threads."`
	Broadcast  bool               `json:"broadcast" doc:"Show replies in the channel as well."`
	Lang       string             `json:"lang" ax:"enum=en|zh,default=en" doc:"Language of the message: English or Chinese."`
	APIURL     string             `json:"api_url" ax:"default=https://slack.com/api/,format=uri" doc:"Where the API is; GovSlack has its own."`
	Timeout    pluginapi.Duration `json:"timeout" ax:"default=10s,min=1ms,max=5m" doc:"For one request."`
}

// check reports all faults that the schema cannot express, none of which
// quotes a secret. target is where messages go: the webhook or the API.
func (s *settings) check() (target *url.URL, err error) {
	switch {
	case s.WebhookURL == "" && s.Token == "":
		return nil, errors.New("webhook_url or token is required")
	case s.WebhookURL != "" && s.Token != "":
		return nil, errors.New("webhook_url and token exclude each other")
	case s.WebhookURL != "" && s.Channel != "":
		return nil, errors.New("channel: a webhook has its own channel; others need token")
	case s.Token != "" && s.Channel == "":
		return nil, errors.New("channel: is required with token")
	}
	key, text := "webhook_url", s.WebhookURL
	if text == "" {
		key, text = "api_url", s.APIURL
	}
	if target, err = webcall.ParseURL(text); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return target, nil
}
