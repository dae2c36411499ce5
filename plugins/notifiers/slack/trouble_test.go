package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// answer makes a workspace that answers all with one text.
func answer(t *testing.T, status int, retryAfter, body string) *workspace {
	return &workspace{t: t, refuse: func(w http.ResponseWriter, _ string) bool {
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
		return true
	}}
}

func TestRefusalsOfTheAPI(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status     int
		retryAfter string
		body       string
		want       string
		permanent  bool
	}{
		"token":        {200, "", `{"ok":false,"error":"invalid_auth"}`, "invalid_auth (token: is it the bot's, and is the app still installed?)", true},
		"channel":      {200, "", `{"ok":false,"error":"channel_not_found"}`, "channel_not_found (channel: does it exist, and is the app a member?)", true},
		"scope":        {200, "", `{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"files:read"}`, "missing_scope: needed: chat:write (the app needs the scope chat:write)", true},
		"blocks":       {200, "", `{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":["[ERROR] too long xoxb-s3cret-token\n"]}}`, "invalid_blocks: [ERROR] too long [hidden] (Slack does not understand this plugin: is there a newer one?)", true},
		"internal":     {200, "", `{"ok":false,"error":"internal_error"}`, "internal_error", false},
		"unheard of":   {200, "", `{"ok":false,"error":"moon_phase"}`, "moon_phase", false},
		"web page":     {200, "", `<html>`, "invalid character '<' looking for beginning of value", false},
		"too many":     {429, "30", ``, "there are too many messages, retry after 30s", false},
		"for how long": {429, "", ``, "status 429 Too Many Requests", false},
		"down":         {503, "", `<html>`, "status 503 Service Unavailable", false},
		"elsewhere":    {404, "", ``, "status 404 Not Found", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, _ := newBot(t, component(answer(t, tt.status, tt.retryAfter, tt.body), time.Now), nil)
			err := n.Notify(t.Context(), message())
			if want := "POST https://slack.example for #ops: " + tt.want; err == nil || err.Error() != want || pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("error %v, permanent %v, want %s", err, pluginapi.IsPermanent(err), want)
			}
		})
	}
}

func TestRefusalsOfWebhooks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status     int
		retryAfter string
		body       string
		want       string
		permanent  bool
	}{
		"gone":     {404, "", "no_service", "status 404 Not Found: no_service (webhook_url: does the webhook still exist?)", true},
		"archived": {410, "", "channel_is_archived", "status 410 Gone: channel_is_archived (the channel is archived)", true},
		"payload":  {400, "", "invalid_blocks", "status 400 Bad Request: invalid_blocks (Slack does not understand this plugin: is there a newer one?)", true},
		"quoting":  {403, "", "no T0s3cret, no s3cret-hook\nat all", "status 403 Forbidden: no [hidden], no [hidden]", true},
		"down":     {500, "", "rollup_error", "status 500 Internal Server Error: rollup_error", false},
		"too many": {429, "30", "", "status 429 Too Many Requests, retry after 30s", false},
		"redirect": {302, "", "", "status 302 Found", true},
		"web page": {200, "", "\n<html>log in", "the answer is a web page, not that of a webhook", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := newHook(t, component(answer(t, tt.status, tt.retryAfter, tt.body), time.Now), nil).Notify(t.Context(), message())
			if want := "POST https://hooks.slack.example: " + tt.want; err == nil || err.Error() != want || pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("error %v, permanent %v, want %s", err, pluginapi.IsPermanent(err), want)
			}
		})
	}
}

// Whoever is told to wait asks no more until then, and goes on afterwards.
func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"bot", "hook"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := answer(t, 429, "60", "")
				c := component(s, time.Now)
				n := newHook(t, c, nil)
				if kind == "bot" {
					n, _ = newBot(t, c, nil)
				}
				notify := func() error {
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					return n.Notify(ctx, message())
				}
				for _, want := range []string{"retry after 1m0s", "retry after 50s", "retry after 40s"} {
					err := notify()
					if err == nil || pluginapi.IsPermanent(err) || !strings.HasSuffix(err.Error(), want) {
						t.Errorf("error %v, want %s", err, want)
					}
					if told := "retry after " + pluginapi.RetryWait(err).String(); told != want {
						t.Errorf("the host is told %s, want %s", told, want)
					}
					time.Sleep(10 * time.Second)
				}
				s.refuse = nil
				if err := notify(); err == nil || len(s.all()) != 1 {
					t.Errorf("error %v after %d calls", err, len(s.all()))
				}
				time.Sleep(10 * time.Second)
				if err := notify(); err != nil || len(s.all()) != 2 {
					t.Errorf("error %v after %d calls", err, len(s.all()))
				}
			})
		})
	}
}

// A channel takes a message a second.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &workspace{t: t}
		n := newHook(t, component(s, time.Now), nil)
		start := time.Now()
		for range 5 {
			if err := n.Notify(t.Context(), message()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("five messages took %v", took)
		}
	})
}

// hanging never answers.
type hanging struct{}

func (hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := component(hanging{}, time.Now)
		b, _ := newBot(t, c, nil)
		for _, n := range []pluginapi.Notifier{b, newHook(t, c, nil)} {
			if err := n.Notify(t.Context(), message()); !errors.Is(err, webcall.ErrSlow) || pluginapi.IsPermanent(err) || !strings.HasSuffix(err.Error(), "within the timeout of 10s") {
				t.Errorf("error %v", err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(2*time.Second, func() { cancel(pluginapi.ErrDrain) })
			if err := n.Notify(ctx, message()); !errors.Is(err, pluginapi.ErrDrain) {
				t.Errorf("error %v", err)
			}
		}
	})
}
