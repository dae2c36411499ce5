package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/axsched/ax/pluginapi"
)

const (
	testToken  = "xoxb-s3cret-token"
	apiURL     = "https://slack.example/api/"
	hookTarget = "https://hooks.slack.example/services/T0s3cret/B0s3cret/s3cret-hook"
)

func at() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }

func message() pluginapi.Message {
	return pluginapi.Message{
		ID: "42", App: "shop", Node: "host-1", Task: "sync", Event: "failed", Severity: "error",
		Title: "sync <eu> & us failed 3 times", Text: "Task sync of app shop failed 3 times.\nNewest error:\nboom <!channel> & ```",
		Count: 3, First: at().Add(-time.Hour), Last: at(), LastError: "boom <!channel> & ```",
		InstanceID: "7", Zone: "Asia/Shanghai",
	}
}

func recovery() pluginapi.Message {
	msg := message()
	msg.ID, msg.Event, msg.Severity, msg.Count = "43", "recovered", "info", 1
	msg.Title, msg.Text, msg.LastError = "sync recovered after 37m", "Task sync of app shop recovered.", ""
	return msg
}

// call is what a workspace was asked for.
type call struct {
	method string // such as chat.postMessage
	at     time.Time
	post   sentPost
}

// sentPost is a message as it comes to Slack, by API or webhook.
type sentPost struct {
	Text        string           `json:"text"`
	Attachments []sentAttachment `json:"attachments"`

	channel, ts, threadTS, broadcast string
}

type sentAttachment struct {
	Color  string      `json:"color"`
	Blocks []sentBlock `json:"blocks"`
}

type sentBlock struct {
	Type   string     `json:"type"`
	Text   *sentText  `json:"text"`
	Fields []sentText `json:"fields"`
}

type sentText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// workspace is Slack's side of the API and of webhooks, with its limits. It is
// called in process, so that it works in synctest's time.
type workspace struct {
	t *testing.T
	// refuse answers instead; nil or false: the workspace does.
	refuse func(w http.ResponseWriter, method string) bool

	mu    sync.Mutex
	calls []call
	known map[string]bool // ts of messages
}

// RoundTrip implements http.RoundTripper.
func (s *workspace) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve(w, req)
	return w.Result(), nil
}

func (s *workspace) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		s.t.Errorf("read request: %v", err)
	}
	c := call{method: req.URL.Path, at: time.Now()}
	if req.URL.Host == "slack.example" {
		c.method = req.URL.Path[len("/api/"):]
		c.post, err = readForm(string(body))
	} else {
		err = json.Unmarshal(body, &c.post)
	}
	if err != nil {
		s.t.Errorf("request %s: %v", body, err)
	}
	s.calls = append(s.calls, c)
	switch {
	case s.refuse != nil && s.refuse(w, c.method):
	case !withinLimits(c.post):
		fmt.Fprint(w, `{"ok":false,"error":"invalid_blocks"}`)
	case req.URL.Host != "slack.example":
		fmt.Fprint(w, "ok")
	case c.post.threadTS != "" && !s.known[c.post.threadTS], c.method == "chat.update" && !s.known[c.post.ts]:
		fmt.Fprint(w, `{"ok":false,"error":"thread_not_found"}`)
	default:
		ts := fmt.Sprintf("%d.000%d", time.Now().Unix(), len(s.calls))
		if s.known == nil {
			s.known = map[string]bool{}
		}
		s.known[ts] = true
		fmt.Fprintf(w, `{"ok":true,"channel":"C0123456789","ts":%q}`, ts)
	}
}

func readForm(body string) (sentPost, error) {
	values, err := url.ParseQuery(body)
	if err != nil {
		return sentPost{}, err
	}
	post := sentPost{
		Text: values.Get("text"), channel: values.Get("channel"), ts: values.Get("ts"),
		threadTS: values.Get("thread_ts"), broadcast: values.Get("reply_broadcast"),
	}
	if values.Get("token") != testToken {
		return post, fmt.Errorf("token %q", values.Get("token"))
	}
	return post, json.Unmarshal([]byte(values.Get("attachments")), &post.Attachments)
}

// withinLimits holds a message against Slack's limits.
func withinLimits(post sentPost) bool {
	size := func(text string) int { return len(utf16.Encode([]rune(text))) }
	ok := post.Text != "" && size(post.Text) <= 40_000
	for _, attachment := range post.Attachments {
		ok = ok && len(attachment.Blocks) > 0 && len(attachment.Blocks) <= 50
		for _, block := range attachment.Blocks {
			ok = ok && block.Type == "section" && (block.Text != nil || len(block.Fields) > 0) && len(block.Fields) <= 10
			if block.Text != nil {
				ok = ok && size(block.Text.Text) > 0 && size(block.Text.Text) <= 3000
			}
			for _, field := range block.Fields {
				ok = ok && size(field.Text) > 0 && size(field.Text) <= 2000
			}
		}
	}
	return ok
}

func (s *workspace) all() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// logBuffer keeps a log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// build makes a notifier from settings as a host would, from JSON.
func build(c pluginapi.Component, settings map[string]any, log io.Writer) (pluginapi.Notifier, error) {
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	built, err := c.Build(raw, pluginapi.Env{Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		return nil, err
	}
	return built.(pluginapi.Notifier), nil
}

// newBot makes a notifier that works by the API; newHook one by a webhook.
func newBot(t *testing.T, c pluginapi.Component, more map[string]any) (pluginapi.Notifier, *logBuffer) {
	t.Helper()
	settings := map[string]any{"token": testToken, "channel": "#ops", "api_url": apiURL}
	maps.Copy(settings, more)
	var log logBuffer
	n, err := build(c, settings, &log)
	if err != nil {
		t.Fatal(err)
	}
	return n, &log
}

func newHook(t *testing.T, c pluginapi.Component, more map[string]any) pluginapi.Notifier {
	t.Helper()
	settings := map[string]any{"webhook_url": hookTarget}
	maps.Copy(settings, more)
	n, err := build(c, settings, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
