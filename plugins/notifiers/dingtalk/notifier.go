package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 4 << 10
)

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
	return &notifier{
		sender: s, cfg: &cfg, url: target, layout: layout{&cfg, link},
		pace: s.paces.Of(cmp.Or(target.Query().Get("access_token"), cfg.URL)),
		client: webcall.Client{
			HTTP:    &http.Client{Transport: s.transport, CheckRedirect: webcall.NoRedirects},
			Timeout: cfg.Timeout.Std(), MaxAnswer: maxAnswer,
		},
	}, nil
}

// notifier sends messages by one robot.
type notifier struct {
	*sender
	cfg    *settings
	url    *url.URL
	layout layout
	pace   *notice.Pace
	client webcall.Client // its scrubber is that of a request
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
	if err := n.send(ctx, body); err != nil {
		return n.named(err)
	}
	return nil
}

// send posts a body and understands the answer.
func (n *notifier) send(ctx context.Context, body []byte) error {
	target := n.signedURL()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return webcall.Cause(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "ax-dingtalk/"+version)
	client := n.client
	secrets := append(webcall.CredentialsIn(n.url), webcall.CredentialsIn(target)...)
	client.Scrubber = webcall.NewScrubber(append(secrets, n.cfg.Secret)...)
	answer, err := client.Exchange(ctx, req)
	if err != nil {
		return err
	}
	return n.judge(answer)
}

// signedURL is the URL with a signature of the present time.
func (n *notifier) signedURL() *url.URL {
	if n.cfg.Secret == "" {
		return n.url
	}
	stamp := strconv.FormatInt(n.now().UnixMilli(), 10)
	query := n.url.Query()
	query.Set("timestamp", stamp)
	query.Set("sign", sign(n.cfg.Secret, stamp))
	signed := *n.url
	signed.RawQuery = query.Encode()
	return &signed
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
