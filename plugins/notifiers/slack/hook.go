package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/slack-go/slack"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.target.String(), bytes.NewReader(body))
	if err != nil {
		return pluginapi.Permanent(h.named(webcall.Cause(err)))
	}
	req.Header.Set("Content-Type", "application/json")
	done, err := h.pace.Wait(ctx)
	if err != nil {
		return h.named(err)
	}
	defer done()
	answer, err := h.calls.Exchange(ctx, req)
	if err != nil {
		return h.named(err)
	}
	switch {
	case answer.StatusCode != http.StatusOK:
		return h.named(h.status(answer))
	case strings.HasPrefix(strings.TrimSpace(answer.Text), "<"): // of a proxy that wants a login
		return h.named(errors.New("the answer is a web page, not that of a webhook"))
	}
	return nil // delivered, whatever became of the rest of the answer
}

// status explains an unwelcome status with the first line of the answer, which
// is a code such as no_service.
func (h *hook) status(answer *webcall.Answer) error {
	h.pace.Close(webcall.RetryAfter(answer.Header, h.now()))
	err := webcall.Status(answer.Response, h.now())
	code := notice.FirstLine(answer.Text, maxQuote)
	if code == "" {
		return err
	}
	return withCure(fmt.Errorf("%w: %s", err, code), code)
}
