package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const (
	// maxCalls is how many messages a robot takes in a minute; after more it
	// takes none for blockTime.
	maxCalls  = 20
	blockTime = 10 * time.Minute
	// maxAnswer is how much of an answer is read, in bytes; maxQuote is how
	// much of its text goes into errors, in runes.
	maxAnswer = 4 << 10
	maxQuote  = 300
)

// errSlow is the cause that ends a request after the timeout setting.
var errSlow = errors.New("no answer within the timeout")

// sender is what all receivers of the plugin share.
type sender struct {
	transport http.RoundTripper
	now       func() time.Time
	paces     *notice.Paces // by robot
}

// newNotifier is the builder of the component.
func (s *sender) newNotifier(cfg settings, _ pluginapi.Env) (pluginapi.Notifier, error) {
	target, link, err := cfg.check()
	if err != nil {
		return nil, err
	}
	secrets := append(webcall.CredentialsIn(target), cfg.Secret)
	return &notifier{
		sender: s, cfg: &cfg, url: target, layout: layout{&cfg, link},
		pace:     s.paces.Of(cmp.Or(target.Query().Get("access_token"), cfg.URL)),
		client:   &http.Client{Transport: s.transport, CheckRedirect: refuse},
		scrubber: webcall.NewScrubber(secrets...),
	}, nil
}

// refuse follows no redirects: they would turn a POST into a GET or send the
// message to a stranger.
func refuse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// notifier sends messages by one robot.
type notifier struct {
	*sender
	cfg      *settings
	url      *url.URL
	layout   layout
	pace     *notice.Pace
	client   *http.Client
	scrubber webcall.Scrubber
}

// Notify implements pluginapi.Notifier. It keeps the robot's pace: it waits for
// its turn if there is time for that, else a temporary error says how long to
// wait.
func (n *notifier) Notify(ctx context.Context, msg pluginapi.Message) error {
	body, err := n.layout.body(msg)
	if err != nil {
		return pluginapi.Permanent(fmt.Errorf("make the message: %w", err))
	}
	done, err := n.pace.Wait(ctx)
	if err != nil {
		return n.named(err)
	}
	defer done()
	exchange, cancel := context.WithTimeoutCause(ctx, n.cfg.Timeout.Std(), errSlow)
	defer cancel()
	err = n.send(exchange, body)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(context.Cause(exchange), errSlow):
		err = fmt.Errorf("%w of %v", errSlow, n.cfg.Timeout)
	}
	return n.named(err)
}

// send posts a body and understands the answer.
func (n *notifier) send(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.signedURL(), bytes.NewReader(body))
	if err != nil {
		return webcall.Cause(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "ax-dingtalk/"+version)
	resp, err := n.client.Do(req)
	if err != nil {
		return webcall.Cause(err)
	}
	defer resp.Body.Close()
	text, _, err := webcall.ReadHead(resp.Body, maxAnswer)
	if resp.StatusCode != http.StatusOK {
		n.pace.Close(webcall.RetryAfter(resp.Header, n.now()))
		return webcall.Status(resp, n.now())
	}
	if err != nil {
		return err
	}
	return n.understand(text)
}

// understand makes an error of an answer that does not say yes.
func (n *notifier) understand(text string) error {
	answer, err := readAnswer(text)
	if err != nil || answer == nil {
		return err
	}
	answer.text = notice.OneLine(n.scrubber.Scrub(answer.text), maxQuote)
	answer.trouble = troubleOf(answer.code, answer.text, n.cfg.Secret != "")
	switch {
	case answer.trouble.blocked:
		n.pace.Close(blockTime)
		return fmt.Errorf("%w, retry after %v", answer, blockTime)
	case answer.trouble.permanent:
		return pluginapi.Permanent(answer)
	}
	return answer
}

// signedURL is the URL with a signature of the present time.
func (n *notifier) signedURL() string {
	if n.cfg.Secret == "" {
		return n.url.String()
	}
	stamp := strconv.FormatInt(n.now().UnixMilli(), 10)
	query := n.url.Query()
	query.Set("timestamp", stamp)
	query.Set("sign", sign(n.cfg.Secret, stamp))
	signed := *n.url
	signed.RawQuery = query.Encode()
	return signed.String()
}

// sign is the signature of a time in milliseconds as DingTalk defines it: the
// key is signed as well.
func sign(secret, stamp string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "\n" + secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// named puts the host before an error: the rest of the URL is a password.
func (n *notifier) named(err error) error {
	return fmt.Errorf("POST %s: %w", webcall.Origin(n.url), err)
}
