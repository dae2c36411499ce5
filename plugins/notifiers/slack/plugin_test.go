package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack/slacktest"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

func TestSettingsFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		settings map[string]any
		want     string
	}{
		{map[string]any{}, "webhook_url or token is required"},
		{map[string]any{"webhook_url": "https://h/s3cret", "token": "xoxb-s3cret"}, "exclude each other"},
		{map[string]any{"webhook_url": "https://h/s3cret", "channel": "#a"}, "channel: a webhook has its own channel"},
		{map[string]any{"token": "xoxb-s3cret"}, "channel: is required with token"},
		{map[string]any{"webhook_url": "hooks.slack.com/s3cret"}, "webhook_url: expected a URL beginning with http"},
		{map[string]any{"token": "xoxb-s3cret", "channel": "#a", "api_url": "slack.com"}, "api_url: expected a URL beginning with http"},
		{map[string]any{"webhook_url": "https://h/s3cret", "lang": "de"}, "lang: expected en or zh"},
		{map[string]any{"token": "xoxb-s3cret", "channel": "#a", "thread": "-1h"}, "thread"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			_, err := build(component(http.DefaultTransport, time.Now), tt.settings, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// recorded stands before a server and remembers the forms that it gets.
func recorded(t *testing.T, serverURL string) (front string, forms func() []url.Values) {
	t.Helper()
	target, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []url.Values
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			t.Error(err)
		}
		form.Set("method", r.URL.Path)
		mu.Lock()
		all = append(all, form)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/", func() []url.Values {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// The built plugin as a host sees it, with the test server of slack-go: a
// message, a reply, and the update once the task has recovered.
func TestBuiltPlugin(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ax-plugin-slack")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "--ax-describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "slack"`, `"kind": "notifier"`, `"webhook_url"`, `"writeOnly": true`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.update", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"ok":true,"channel":"C1","ts":"1"}`)
		})
	})
	server.Start()
	t.Cleanup(server.Stop)
	api, forms := recorded(t, server.GetAPIURL())

	host := plugintest.Start(t, binary)
	n := host.Notifier("slack", map[string]any{"token": testToken, "channel": "C1", "api_url": api})
	var receipt string
	for _, msg := range []pluginapi.Message{message(), recovery()} {
		msg.Receipt = receipt
		var err error
		if receipt, err = n.NotifyReceipt(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
	got := forms()
	if len(got) != 3 {
		t.Fatalf("requests %v", got)
	}
	thread := got[1].Get("thread_ts")
	if got[0].Get("thread_ts") != "" || thread == "" || got[2].Get("ts") != thread {
		t.Errorf("requests %v", got)
	}
	for i, want := range []string{"/chat.postMessage 🔴", "/chat.postMessage 🟢", "/chat.update 🟢"} {
		if line := got[i].Get("method") + " " + got[i].Get("text"); !strings.HasPrefix(line, want) || got[i].Get("channel") != "C1" {
			t.Errorf("request %v, want %s", got[i], want)
		}
	}
	gone := host.Notifier("slack", map[string]any{"webhook_url": server.GetAPIURL() + "nothing-here"})
	if err := gone.Notify(t.Context(), message()); !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("error %v", err)
	}
}
