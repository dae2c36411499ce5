package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const (
	version = "0.1.0"
	// maxAnswer is how much of an answer is read, in bytes; maxQuote is how
	// much of its first line goes into errors, in runes.
	maxAnswer = 4 << 10
	maxQuote  = 200
)

// Header fields that this plugin sets.
const (
	messageHeader   = "X-Ax-Message-Id"
	timestampHeader = "X-Ax-Timestamp"
	signatureHeader = "X-Ax-Signature"
)

// errSlow is the cause that ends a request after the timeout setting.
var errSlow = errors.New("no answer within the timeout")

// sender is what all receivers of the plugin share.
type sender struct {
	transport *http.Transport
	now       func() time.Time
}

// newNotifier is the builder of the component.
func (s *sender) newNotifier(cfg settings, _ pluginapi.Env) (pluginapi.Notifier, error) {
	target, err := cfg.check()
	if err != nil {
		return nil, err
	}
	body, err := newBody(&cfg)
	if err != nil {
		return nil, err
	}
	secrets := append(webcall.CredentialsIn(target), webcall.SegmentsOf(target)...)
	for _, value := range cfg.Headers {
		secrets = append(secrets, value)
	}
	return &notifier{
		sender: s, cfg: cfg, url: target, body: body, scrubber: webcall.NewScrubber(secrets...),
		client: &http.Client{Transport: s.transport, CheckRedirect: refuse},
	}, nil
}

// refuse follows no redirects: they would turn a POST into a GET or send the
// message to a stranger.
func refuse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// notifier sends messages to one URL.
type notifier struct {
	*sender
	cfg      settings
	url      *url.URL
	body     bodyMaker
	client   *http.Client
	scrubber webcall.Scrubber
}

// Notify implements pluginapi.Notifier.
func (n *notifier) Notify(ctx context.Context, msg pluginapi.Message) error {
	body, err := n.body(msg)
	if err != nil {
		return pluginapi.Permanent(fmt.Errorf("make the body: %w", err))
	}
	exchange, cancel := context.WithTimeoutCause(ctx, n.cfg.Timeout.Std(), errSlow)
	defer cancel()
	req, err := n.request(exchange, msg.ID, body)
	if err != nil {
		return pluginapi.Permanent(n.named(err))
	}
	resp, err := n.client.Do(req)
	if err != nil {
		return n.failure(ctx, exchange, err)
	}
	defer resp.Body.Close()
	text, _, err := webcall.ReadHead(resp.Body, maxAnswer)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil // delivered, whatever became of the rest of the answer
	}
	if err != nil {
		text = ""
	}
	return n.refusal(resp, text)
}

func (n *notifier) request(ctx context.Context, id string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, n.cfg.Method, n.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", n.cfg.ContentType)
	req.Header.Set("User-Agent", "ax-webhook/"+version)
	for name, value := range n.cfg.Headers {
		req.Header.Set(name, value)
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
	}
	req.Header.Set(messageHeader, id)
	if n.cfg.Secret != "" {
		stamp := strconv.FormatInt(n.now().Unix(), 10)
		req.Header.Set(timestampHeader, stamp)
		req.Header.Set(signatureHeader, sign(n.cfg.Secret, stamp, body))
	}
	return req, nil
}

// sign makes the signature of a body that was sent at a time. The receiver
// checks both, so that nobody can send an old request again.
func sign(secret, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// named puts the method and the host before an error: the path of a webhook's
// URL is often its password.
func (n *notifier) named(err error) error {
	return fmt.Errorf("%s %s: %w", n.cfg.Method, webcall.Origin(n.url), err)
}

// failure explains why there is no answer. ctx is the caller's, exchange ends
// with it or with the timeout of the settings.
func (n *notifier) failure(ctx, exchange context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return n.named(context.Cause(ctx))
	case errors.Is(context.Cause(exchange), errSlow):
		return n.named(fmt.Errorf("%w of %v", errSlow, n.cfg.Timeout))
	}
	return n.named(webcall.Cause(err))
}

// refusal explains an unwelcome status with the first line of the answer.
func (n *notifier) refusal(resp *http.Response, text string) error {
	err := webcall.Status(resp, n.now())
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		err = fmt.Errorf("%w (redirects are not followed: give the final URL)", err)
	}
	if line := webcall.FirstLine(n.scrubber.Scrub(text), maxQuote); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return n.named(err)
}
