package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

// now is the clock of all notifiers of these tests.
func now() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }

const (
	token  = "s3cret-token"
	secret = "SECs3cret-key"
)

// robot behaves as DingTalk's do: it answers 200 whatever happens, and checks
// signature, keyword, size and pace.
type robot struct {
	t               *testing.T
	secret, keyword string
	now             func() time.Time

	mu      sync.Mutex
	got     []request
	bodies  []string
	times   []time.Time // of all requests of the last minute
	blocked time.Time   // until then nothing is taken
}

// ServeHTTP implements http.Handler.
func (r *robot) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Errorf("read request: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	code, text := r.judge(req, body)
	fmt.Fprintf(w, `{"errcode":%d,"errmsg":%q}`, code, text)
}

func (r *robot) judge(req *http.Request, body []byte) (int, string) {
	var message request
	switch {
	case req.URL.Query().Get("access_token") != token:
		return 300001, "token is not exist"
	case req.Method != http.MethodPost || !strings.HasPrefix(req.Header.Get("Content-Type"), "application/json"):
		return 43004, "invalid content type"
	case r.tooFast():
		return 130101, "send too fast, exceed 20 times per minute"
	case len(body) > 20000:
		return 460101, "message too long, exceed 20000 bytes"
	case json.Unmarshal(body, &message) != nil:
		return 40035, "missing parameter json"
	}
	if code, text := r.checkSignature(req); code != 0 {
		return code, text
	}
	if !strings.Contains(string(body), r.keyword) {
		return 310000, "keywords not in content"
	}
	r.got, r.bodies = append(r.got, message), append(r.bodies, string(body))
	return 0, "ok"
}

// checkSignature computes the signature anew, with the query decoded once.
func (r *robot) checkSignature(req *http.Request) (int, string) {
	if r.secret == "" {
		return 0, ""
	}
	stamp := req.URL.Query().Get("timestamp")
	millis, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return 310000, "description:机器人发送签名不匹配;solution:请确认签名和生成签名的时间戳必须都放在调用的网址中"
	}
	if off := r.now().Sub(time.UnixMilli(millis)); off.Abs() > time.Hour {
		return 310000, "invalid timestamp"
	}
	mac := hmac.New(sha256.New, []byte(r.secret))
	fmt.Fprintf(mac, "%s\n%s", stamp, r.secret)
	if req.URL.Query().Get("sign") != base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
		return 310000, "sign not match, more: https://ding-doc.dingtalk.com/doc"
	}
	return 0, ""
}

// tooFast counts as DingTalk does: the 21st message within a minute blocks the
// robot for ten.
func (r *robot) tooFast() bool {
	at := r.now()
	r.times = slices.DeleteFunc(r.times, func(t time.Time) bool { return at.Sub(t) >= time.Minute })
	r.times = append(r.times, at)
	if len(r.times) > 20 {
		r.blocked = at.Add(10 * time.Minute)
	}
	return at.Before(r.blocked)
}

// last returns the newest message that was taken.
func (r *robot) last() (request, string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) == 0 {
		r.t.Fatal("no message was taken")
	}
	return r.got[len(r.got)-1], r.bodies[len(r.bodies)-1]
}

// start serves the robot. With now as its clock all messages come within one
// instant, so it is a robot for at most 20 of them.
func (r *robot) start(t *testing.T) (url string) {
	t.Helper()
	r.t, r.now = t, now
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return server.URL + "/robot/send?access_token=" + token
}

// build makes a notifier from settings as a host would, from JSON.
func build(c pluginapi.Component, url string, settings map[string]any) (pluginapi.Notifier, error) {
	all := map[string]any{"url": url}
	maps.Copy(all, settings)
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	built, err := c.Build(raw, pluginapi.Env{})
	if err != nil {
		return nil, err
	}
	return built.(pluginapi.Notifier), nil
}

func newNotifier(t *testing.T, url string, settings map[string]any) pluginapi.Notifier {
	t.Helper()
	n, err := build(component(http.DefaultTransport, now), url, settings)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func message() pluginapi.Message {
	return pluginapi.Message{
		ID: "42", App: "shop", Node: "host-1", Task: "sync_eu", Event: "failed", Severity: "error",
		Title: "sync_eu failed 3 times", Text: "Task sync_eu of app shop failed 3 times.\nNewest error:\nboom ![x](http://x)\n# line 2",
		Count: 3, First: now().Add(-time.Hour), Last: now(), LastError: "boom ![x](http://x)\n# line 2",
		InstanceID: "7", Zone: "Asia/Shanghai",
	}
}
