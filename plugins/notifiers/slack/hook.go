package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/slack-go/slack"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// hook sends messages by an incoming webhook, which has no threads. It posts
// them itself: slack-go drops the text of a refusal, which holds the reason.
type hook struct{ *notifier }

// Notify implements pluginapi.Notifier.
func (h *hook) Notify(ctx context.Context, msg pluginapi.Message) error {
	p := newPost(msg, h.cfg.Lang)
	body, err := json.Marshal(slack.WebhookMessage{
		Text: p.head, Attachments: p.details, UnfurlLinks: new(false), UnfurlMedia: new(false),
	})
	if err != nil {
		return pluginapi.Permanent(fmt.Errorf("encode the message: %w", err))
	}
	exchange, end, err := h.exchange(ctx)
	if err != nil {
		return h.named(err)
	}
	defer end()
	req, err := http.NewRequestWithContext(exchange, http.MethodPost, h.target.String(), bytes.NewReader(body))
	if err != nil {
		return pluginapi.Permanent(h.named(webcall.Cause(err)))
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.client.Do(req)
	if err != nil {
		return h.named(h.explain(ctx, exchange, err))
	}
	defer resp.Body.Close()
	text, _, err := webcall.ReadHead(resp.Body, maxAnswer)
	if resp.StatusCode == http.StatusOK {
		return nil // delivered, whatever became of the rest of the answer
	}
	if err != nil {
		text = ""
	}
	return h.named(h.status(resp, text))
}

// status explains an unwelcome status with the first line of the answer, which
// is a code such as no_service.
func (h *hook) status(resp *http.Response, text string) error {
	h.pace.Close(webcall.RetryAfter(resp.Header, h.now()))
	err := webcall.Status(resp, h.now())
	code := webcall.FirstLine(text, maxQuote)
	if code == "" {
		return err
	}
	return withCure(fmt.Errorf("%w: %s", err, h.scrubber.Scrub(code)), code)
}
