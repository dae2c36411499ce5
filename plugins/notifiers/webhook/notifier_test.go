package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// now is the clock of all notifiers of these tests.
func now() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }

func testComponent() pluginapi.Component { return component(webcall.NewTransport(nil), now) }

// build makes a notifier from settings as a host would, from JSON.
func build(settings map[string]any) (pluginapi.Notifier, error) {
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	built, err := testComponent().Build(raw, pluginapi.Env{})
	if err != nil {
		return nil, err
	}
	return built.(pluginapi.Notifier), nil
}

func newNotifier(t *testing.T, settings map[string]any) pluginapi.Notifier {
	t.Helper()
	n, err := build(settings)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// request is one that a receiver got.
type request struct {
	method, target, body string
	header               http.Header
}

// newReceiver answers with handle; its requests come out of the channel.
func newReceiver(t *testing.T, handle http.HandlerFunc) (url string, got <-chan request) {
	t.Helper()
	requests := make(chan request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		requests <- request{r.Method, r.RequestURI, string(body), r.Header.Clone()}
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func accept(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func message() pluginapi.Message {
	return pluginapi.Message{
		ID: "m-1", App: "shop", Task: "sync", Event: "failed", Severity: "error", Title: `sync "eu" failed`,
		Text: "line 1\nline 2", Count: 3, First: now().Add(-time.Hour), Last: now(), Zone: "Asia/Shanghai",
	}
}

func TestDefaultBodyIsTheMessage(t *testing.T) {
	t.Parallel()
	url, got := newReceiver(t, accept)
	n := newNotifier(t, map[string]any{"url": url + "/hook?key=1", "headers": map[string]string{"authorization": "Bearer abc"}})
	if err := n.Notify(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	r := <-got
	var sent pluginapi.Message
	if err := json.Unmarshal([]byte(r.body), &sent); err != nil || !reflect.DeepEqual(sent, message()) {
		t.Errorf("body %s, %v", r.body, err)
	}
	if r.method != "POST" || r.target != "/hook?key=1" {
		t.Errorf("request %s %s", r.method, r.target)
	}
	want := map[string]string{
		"Content-Type": "application/json", "X-Ax-Message-Id": "m-1", "User-Agent": "ax-webhook/0.1.0",
		"Authorization": "Bearer abc", "X-Ax-Signature": "", "X-Ax-Timestamp": "",
	}
	for name, value := range want {
		if r.header.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, r.header.Get(name), value)
		}
	}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ template, contentType, want string }{
		"JSON": {
			`{"text": {{json (print .Title "\n" .Text)}}, "n": {{.Count}}}`, "application/json",
			`{"text": "sync \"eu\" failed\nline 1\nline 2", "n": 3}`,
		},
		"time": {
			`{{.Last | in .Zone | json}} {{(in .Zone .Last).Format "15:04"}} {{in "No/Where" .Last}}`, "text/plain",
			`"2026-03-01T18:00:00+08:00" 18:00 2026-03-01 10:00:00 +0000 UTC`,
		},
		"text": {`{{.Title}}{{if eq .Event "failed"}}!{{end}}`, "text/plain; charset=utf-8", `sync "eu" failed!`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, got := newReceiver(t, accept)
			n := newNotifier(t, map[string]any{"url": url, "method": "PUT", "template": tt.template, "content_type": tt.contentType})
			if err := n.Notify(t.Context(), message()); err != nil {
				t.Fatal(err)
			}
			r := <-got
			if r.body != tt.want || r.header.Get("Content-Type") != tt.contentType || r.method != "PUT" {
				t.Errorf("got %+v, want %s", r, tt.want)
			}
		})
	}
}

// The expected value was computed with
//
//	printf '%s' '1772359200.hello' | openssl dgst -sha256 -hmac s3cret-key
func TestSignature(t *testing.T) {
	t.Parallel()
	url, got := newReceiver(t, accept)
	n := newNotifier(t, map[string]any{"url": url, "template": "hello", "content_type": "text/plain", "secret": "s3cret-key"})
	if err := n.Notify(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.header.Get("X-Ax-Timestamp") != "1772359200" || r.header.Get("X-Ax-Signature") != "sha256=8516672276831e4c7e4e9e380bfaab40641444e014ef70ad420ebf2781038297" {
		t.Errorf("header %v", r.header)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	answer := func(status int, header, value, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	tests := map[string]struct {
		handle    http.HandlerFunc
		want      string
		permanent bool
	}{
		"busy":     {answer(503, "Retry-After", "30", "busy\n"), "status 503 Service Unavailable, retry after 30s: busy", false},
		"too many": {answer(429, "Retry-After", "Sun, 01 Mar 2026 10:02:00 GMT", ""), "status 429 Too Many Requests, retry after 2m0s", false},
		"gone":     {answer(410, "X", "", "channel_is_archived"), "status 410 Gone: channel_is_archived", true},
		"moved":    {answer(301, "Location", "/elsewhere", ""), "status 301 Moved Permanently (redirects are not followed: give the final URL)", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, got := newReceiver(t, tt.handle)
			err := newNotifier(t, map[string]any{"url": url + "/hook"}).Notify(t.Context(), message())
			if want := "POST " + url + ": " + tt.want; err == nil || err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
			if pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("permanent %v: %v", !tt.permanent, err)
			}
			if len(got) != 1 {
				t.Errorf("%d requests", len(got))
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	url, got := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	err := newNotifier(t, map[string]any{"url": url, "timeout": "50ms"}).Notify(t.Context(), message())
	if !errors.Is(err, webcall.ErrSlow) || pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
	<-got
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-got
		cancel(pluginapi.ErrDrain)
	}()
	if err := newNotifier(t, map[string]any{"url": url}).Notify(ctx, message()); !errors.Is(err, pluginapi.ErrDrain) {
		t.Errorf("error %v", err)
	}
}

func TestSettingsFaults(t *testing.T) {
	t.Parallel()
	with := func(key string, value any) map[string]any {
		return map[string]any{"url": "https://hooks.example/s3cret", key: value}
	}
	tests := []struct {
		settings map[string]any
		want     string
	}{
		{map[string]any{}, "url: is required"},
		{map[string]any{"url": "hooks.example/s3cret"}, "url: expected a URL beginning with http"},
		{with("method", "GET"), "method: expected POST, PUT or PATCH"},
		{with("headers", map[string]string{"A B": "s3cret"}), `headers: "A B" cannot be the name`},
		{with("headers", map[string]string{"x-ax-signature": "s3cret"}), "headers: x-ax-signature is set by the plugin"},
		{with("content_type", "a\nb"), "content_type: Content-Type: the value holds a control character"},
		{with("template", "{{.Titel}}"), "can't evaluate field Titel"},
		{with("template", "{{.Title"), "unclosed action"},
		{with("template", `{"text": "{{.Text}}"}`), "does not make valid JSON from texts with quotes"},
		{with("preset", "slack"), "preset: expected wecom, feishu, teams or pagerduty"},
		{with("lang", "de"), "lang: expected en or zh"},
		{with("preset", "pagerduty"), "secret: preset pagerduty needs the integration key"},
		{map[string]any{"url": "https://h", "preset": "wecom", "secret": "s3cret"}, "secret: preset wecom knows no signature"},
		{map[string]any{"url": "https://h", "preset": "teams", "template": "{}"}, "preset and template exclude each other"},
		{map[string]any{"url": "https://h", "preset": "teams", "method": "PUT"}, "method, content_type: preset teams has its own"},
		{map[string]any{"url": "https://h", "preset": "teams", "content_type": "text/plain"}, "method, content_type: preset teams has its own"},
		{map[string]any{"url": "https://h", "template": `{"text": "{{.Text}}"}`, "content_type": "application/cloudevents+json; charset=utf-8"}, "does not make valid JSON"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.settings), func(t *testing.T) {
			t.Parallel()
			_, err := build(tt.settings)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// The same as a host sees it: over gRPC.
func TestOverTheWire(t *testing.T) {
	t.Parallel()
	url, got := newReceiver(t, accept)
	host := plugintest.New(t, testComponent())
	if err := host.Notifier("webhook", map[string]any{"url": url}).Notify(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if r := <-got; !strings.Contains(r.body, `"count":3`) {
		t.Errorf("body %s", r.body)
	}
	refused, _ := newReceiver(t, http.NotFound)
	if err := host.Notifier("webhook", map[string]any{"url": refused}).Notify(t.Context(), message()); !pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "ax-plugin-webhook")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "--ax-describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "webhook"`, `"kind": "notifier"`, `"template"`, `"writeOnly": true`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}
