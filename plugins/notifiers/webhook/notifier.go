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
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const (
	// maxAnswer is how much of an answer is read, in bytes; maxQuote is how
	// much of its text goes into errors, in runes.
	maxAnswer = 4 << 10
	maxQuote  = 200
)

// Header fields that this plugin sets.
const (
	messageHeader   = "X-Ax-Message-Id"
	timestampHeader = "X-Ax-Timestamp"
	signatureHeader = "X-Ax-Signature"
)

// sender is what all receivers of the plugin share.
type sender struct {
	transport http.RoundTripper
	now       func() time.Time
	paces     map[string]*notice.Paces // by preset, for each URL
}

// newNotifier is the builder of the component.
func (s *sender) newNotifier(cfg settings, env pluginapi.Env) (pluginapi.Notifier, error) {
	target, err := cfg.check()
	if err != nil {
		return nil, err
	}
	receiver, err := s.newReceiver(&cfg)
	if err != nil {
		return nil, err
	}
	transport, err := s.transportFor(&cfg.TLS)
	if err != nil {
		return nil, err
	}
	if cfg.TLS.InsecureSkipVerify {
		env.Log.Warn("the certificate of the receiver is not checked: anybody on the way can read the messages", "receiver", webcall.Origin(target))
	}
	secrets := append(webcall.CredentialsIn(target), webcall.SegmentsOf(target)...)
	secrets = append(secrets, cfg.Secret)
	for _, value := range cfg.Headers {
		secrets = append(secrets, value)
	}
	return &notifier{
		sender: s, cfg: cfg, url: target, receiver: receiver, pace: s.paces[cfg.Preset].Of(cfg.URL),
		client: webcall.Client{
			HTTP:     &http.Client{Transport: transport, CheckRedirect: webcall.NoRedirects},
			Scrubber: webcall.NewScrubber(secrets...), Timeout: cfg.Timeout.Std(), MaxAnswer: maxAnswer,
		},
	}, nil
}

// transportFor returns the transport that all share unless the settings of TLS
// need one of their own.
func (s *sender) transportFor(settings *webcall.TLS) (http.RoundTripper, error) {
	config, err := settings.Config()
	if err != nil || config == nil {
		return s.transport, err
	}
	return webcall.NewTransport(config), nil
}

// notifier sends messages to one URL.
type notifier struct {
	*sender
	cfg      settings
	url      *url.URL
	receiver receiver
	pace     *notice.Pace
	client   webcall.Client
}

// Notify implements pluginapi.Notifier. It keeps the receiver's pace: it waits
// for its turn if there is time for that, else a temporary error says how long
// to wait.
func (n *notifier) Notify(ctx context.Context, msg pluginapi.Message) error {
	done, err := n.pace.Wait(ctx)
	if err != nil {
		return n.named(err)
	}
	defer done()
	body, err := n.receiver.body(msg)
	if err != nil {
		return pluginapi.Permanent(fmt.Errorf("make the body: %w", err))
	}
	req, err := n.request(ctx, msg.ID, body)
	if err != nil {
		return pluginapi.Permanent(n.named(webcall.Cause(err)))
	}
	answer, err := n.client.Exchange(ctx, req)
	if err != nil {
		return n.named(err)
	}
	if err := n.judge(answer); err != nil {
		return n.named(err)
	}
	return nil
}

// judge returns nil if the message was taken, and closes the pace if the
// receiver wants no more for a while.
func (n *notifier) judge(answer *webcall.Answer) error {
	err := n.receiver.judge(answer)
	if refusal, ok := errors.AsType[*webcall.RefusalError](err); ok {
		n.pace.Close(refusal.Blocked)
		return refusal.Outcome()
	}
	if err != nil || answer.Good() { // delivered, whatever became of the rest of the answer
		return err
	}
	n.pace.Close(webcall.RetryAfter(answer.Header, n.now()))
	return n.unwelcome(answer)
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
	if n.cfg.signs() {
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

// unwelcome explains a status with the first line of the answer.
func (n *notifier) unwelcome(answer *webcall.Answer) error {
	err := webcall.Status(answer.Response, n.now())
	if answer.StatusCode >= 300 && answer.StatusCode < 400 {
		err = fmt.Errorf("%w (redirects are not followed: give the final URL)", err)
	}
	if line := notice.FirstLine(answer.Text, maxQuote); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return err
}
