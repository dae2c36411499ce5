package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

const (
	version = "0.1.0"
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 64 << 10
	// maxMessage is the length of messages and of answers in errors, in runes.
	maxMessage = 200
)

// caller is what all jobs of the plugin share.
type caller struct {
	transport *http.Transport
}

// newJob is the builder of the component.
func (c *caller) newJob(cfg settings, _ pluginapi.Env) (pluginapi.Job, error) {
	target, err := cfg.check()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := cfg.TLS.Config()
	if err != nil {
		return nil, err
	}
	transport := c.transport
	if tlsConfig != nil {
		transport = webcall.NewTransport(tlsConfig)
	}
	j := &job{cfg: cfg, url: target, secrets: secretsOf(&cfg, target)}
	j.client = webcall.Client{
		HTTP:    &http.Client{Transport: transport, CheckRedirect: j.redirect},
		Timeout: cfg.Timeout.Std(), MaxAnswer: maxAnswer,
	}
	return j, nil
}

// job calls one URL.
type job struct {
	cfg     settings
	url     *url.URL
	client  webcall.Client // its scrubber is that of a run
	secrets []string
}

// secretHeader matches names of header fields whose values are not shown.
var secretHeader = regexp.MustCompile(`(?i)auth|token|key|secret|cookie|sign|password`)

// secretsOf lists what must not be shown even if the service quotes it.
func secretsOf(cfg *settings, target *url.URL) []string {
	secrets := append(webcall.CredentialsIn(target), cfg.BearerToken)
	if cfg.BasicAuth != nil {
		secrets = append(secrets, webcall.BasicSecrets(cfg.BasicAuth.Username, cfg.BasicAuth.Password)...)
	}
	for name, value := range cfg.Headers {
		if secretHeader.MatchString(name) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// Run implements pluginapi.Job.
func (j *job) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	if j.cfg.Async && run.CallbackURL == "" {
		return pluginapi.Result{}, pluginapi.Permanent(errors.New("async needs a callback URL, and the host has no HTTP listener that could offer one"))
	}
	req, err := j.request(ctx, run)
	if err != nil {
		return pluginapi.Result{}, pluginapi.Permanent(j.named(err))
	}
	client := j.client
	client.Scrubber = webcall.NewScrubber(append(j.secrets, run.CallbackURL)...)
	begin := time.Now()
	answer, err := client.Exchange(ctx, req)
	if err == nil {
		err = answer.Broken
	}
	if err != nil {
		return pluginapi.Result{}, j.named(err)
	}
	return j.judge(run, answer, time.Since(begin))
}

// named puts the method and the harmless part of the URL before an error.
func (j *job) named(err error) error {
	return fmt.Errorf("%s %s%s: %w", j.cfg.method(), webcall.Origin(j.url), j.url.EscapedPath(), err)
}

// judge turns an answer into the outcome of the attempt.
func (j *job) judge(run *pluginapi.Run, a *webcall.Answer, took time.Duration) (pluginapi.Result, error) {
	_, _ = run.Output.Write([]byte(a.Text)) // never fails
	if a.Cut {
		run.Log.Info("the answer is longer than what is kept", "kept_bytes", maxAnswer)
	}
	line := notice.FirstLine(a.Text, maxMessage)
	if line != "" {
		line = ": " + line
	}
	result := pluginapi.Result{
		Message:  a.Status + line,
		Data:     map[string]any{"status": a.StatusCode, "duration_ms": took.Milliseconds(), "body_bytes": len(a.Text)},
		Deferred: j.cfg.Async,
	}
	if j.cfg.expected(a.StatusCode) {
		return result, nil
	}
	result.Deferred = false
	return result, j.named(fmt.Errorf("%w%s%s", webcall.Status(a.Response, time.Now()), j.hint(a.Response), line))
}

// hint explains statuses that are a success elsewhere.
func (j *job) hint(resp *http.Response) string {
	switch status := resp.StatusCode; {
	case status >= 300 && status < 400 && resp.Header.Get("Location") != "":
		return fmt.Sprintf(" (redirects of %s are not followed, see follow_redirects)", j.cfg.method())
	case status < 400:
		return fmt.Sprintf(" (expected %v)", j.cfg.expectations())
	}
	return ""
}
