package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// The expected values were computed with
//
//	printf 'TIME\nSECabc123' | openssl dgst -sha256 -hmac SECabc123 -binary | base64
func TestSign(t *testing.T) {
	t.Parallel()
	for stamp, want := range map[string]string{
		"1772359200000": "a7zoQNlKRCn7+fTVxnMA8bsCiLri4oocJnGPVdYskbA=",
		"1772359201000": "ZkdIE7i19cVRM+ENB/2ZOWpXK3oonKenOpSks2rnqOk=",
	} {
		if got := sign("SECabc123", stamp); got != want {
			t.Errorf("%s: %s, want %s", stamp, got, want)
		}
	}
}

// Row B88: the signature is escaped once, and the rest of the query stays.
func TestSignedRequest(t *testing.T) {
	t.Parallel()
	var target atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target.Store(r.RequestURI)
		fmt.Fprint(w, `{"errcode":0}`)
	}))
	t.Cleanup(server.Close)
	if err := newNotifier(t, server.URL+"/robot/send?access_token=a%2Fb", map[string]any{"secret": "SECabc123"}).Notify(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	const want = "/robot/send?access_token=a%2Fb&sign=a7zoQNlKRCn7%2BfTVxnMA8bsCiLri4oocJnGPVdYskbA%3D&timestamp=1772359200000"
	if got := target.Load(); got != want {
		t.Errorf("request of %s, want %s", got, want)
	}
}

func TestSignatureIsChecked(t *testing.T) {
	t.Parallel()
	late := func() time.Time { return now().Add(61 * time.Minute) }
	tests := map[string]struct {
		settings  map[string]any
		clock     func() time.Time
		want      string // in the error; none: the message is taken
		permanent bool
	}{
		"right": {map[string]any{"secret": secret}, now, "", false},
		"wrong": {map[string]any{"secret": "SECother"}, now, "errcode 310000: sign not match, more: https://ding-doc.dingtalk.com/doc (secret: is it the key (SEC…) of this very robot?)", true},
		"none":  {nil, now, "(the robot demands a signature: set secret to its key (SEC…))", true},
		"clock": {map[string]any{"secret": secret}, late, "errcode 310000: invalid timestamp (is the clock of this host wrong?)", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &robot{secret: secret}
			n, err := build(component(http.DefaultTransport, tt.clock), r.start(t), tt.settings)
			if err != nil {
				t.Fatal(err)
			}
			err = n.Notify(t.Context(), message())
			if tt.want == "" && err == nil {
				return
			}
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) || pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// A status of 200 is not yet a message that was taken.
func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status    int
		body      string
		want      string
		permanent bool
	}{
		"busy":       {200, `{"errcode":-1,"errmsg":"系统繁忙"}`, "errcode -1: 系统繁忙", false},
		"unheard of": {200, `{"errcode":99,"errmsg":"?"}`, "errcode 99: ?", false},
		"no words":   {200, `{"errcode":99}`, "errcode 99", false},
		"no robot":   {200, `{"errcode":300001,"errmsg":"token is not exist"}`, "errcode 300001: token is not exist (url: is it the webhook of a robot that still exists?)", true},
		"address":    {200, `{"errcode":310000,"errmsg":"ip 1.2.3.4 not in whitelist"}`, "errcode 310000: ip 1.2.3.4 not in whitelist (add the public address of this host to the robot's security setting)", true},
		"security":   {200, `{"errcode":310000,"errmsg":"new rule"}`, "errcode 310000: new rule (compare secret and keyword with the robot's security setting)", true},
		"clock":      {200, `{"errcode":310000,"errmsg":"description:机器人发送的时间戳无效;"}`, "errcode 310000: description:机器人发送的时间戳无效; (is the clock of this host wrong?)", false},
		"content":    {200, `{"errcode":430104,"errmsg":"不合适的内容"}`, "errcode 430104: 不合适的内容 (DingTalk does not allow this content)", true},
		"lines":      {200, `{"errcode":40035,"errmsg":"a\r\nb"}`, "errcode 40035: a b (DingTalk does not understand this plugin: is there a newer one?)", true},
		"web page":   {200, "<html>log in</html>", "the answer is not that of a DingTalk robot", false},
		"other JSON": {200, `{"ok":true}`, "the answer is not that of a DingTalk robot", false},
		"status":     {502, "", "status 502 Bad Gateway", false},
		"no page":    {404, "", "status 404 Not Found", true},
		"redirect":   {302, "", "status 302 Found", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			}))
			t.Cleanup(server.Close)
			err := newNotifier(t, server.URL+"/robot/send?access_token="+token, nil).Notify(t.Context(), message())
			if want := "POST " + server.URL + ": " + tt.want; err == nil || err.Error() != want || pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("error %v, permanent %v, want %s", err, pluginapi.IsPermanent(err), want)
			}
		})
	}
}

// inProcess hands requests to a handler without a network, which synctest
// could not see through.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, req)
	return w.Result(), nil
}

const robotURL = "https://oapi.dingtalk.example/robot/send?access_token=" + token

// Row B54: thirty tasks fail in one minute. Two notifiers share the robot; each
// gets its messages one at a time and has 30 s for each, as hosts give.
func TestTwentyMessagesAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &robot{t: t, now: time.Now, secret: secret}
		c := component(inProcess{r}, time.Now)
		start := time.Now()
		refused := make(chan int, 2)
		for range 2 {
			n, err := build(c, robotURL, map[string]any{"secret": secret})
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				waits := 0
				for sent := 0; sent < 15; {
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					err := n.Notify(ctx, message())
					cancel()
					if err == nil {
						sent++
						continue
					}
					waits++
					if pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "takes no more messages for now, retry after ") {
						t.Errorf("error %v", err)
					}
					time.Sleep(5 * time.Second)
				}
				refused <- waits
			}()
		}
		if a, b := <-refused, <-refused; a+b == 0 || a+b > 40 {
			t.Errorf("told %d times to wait", a+b)
		}
		if len(r.got) != 30 {
			t.Errorf("%d messages were taken", len(r.got))
		}
		if took := time.Since(start); took < time.Minute || took > 2*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

// Others may have used up the robot's minute. Then nothing is sent until it
// opens again, since each try could prolong the block.
func TestBlockedRobotIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &robot{t: t, now: time.Now}
		r.blocked = time.Now().Add(10 * time.Minute)
		n, err := build(component(inProcess{r}, time.Now), robotURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		notify := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			return n.Notify(ctx, message())
		}
		err = notify()
		if err == nil || pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "errcode 130101: send too fast") || !strings.HasSuffix(err.Error(), "retry after 10m0s") {
			t.Errorf("error %v", err)
		}
		time.Sleep(4 * time.Minute)
		if err := notify(); err == nil || !strings.HasSuffix(err.Error(), "retry after 6m0s") || pluginapi.RetryWait(err) != 6*time.Minute {
			t.Errorf("error %v", err)
		}
		if len(r.times) != 1 {
			t.Errorf("%d requests to a robot that is blocked", len(r.times))
		}
		time.Sleep(6 * time.Minute)
		if err := notify(); err != nil || len(r.got) != 1 {
			t.Errorf("error %v", err)
		}
	})
}

func TestRetryAfterOfHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		proxy := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		})
		n, err := build(component(inProcess{proxy}, time.Now), robotURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for range 2 {
			if err := n.Notify(ctx, message()); err == nil || pluginapi.IsPermanent(err) || !strings.HasSuffix(err.Error(), "retry after 2m0s") {
				t.Errorf("error %v", err)
			}
		}
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the client is not seen
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	err := newNotifier(t, server.URL, map[string]any{"timeout": "50ms"}).Notify(t.Context(), message())
	if !errors.Is(err, webcall.ErrSlow) || pluginapi.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(pluginapi.ErrDrain)
	if err := newNotifier(t, server.URL, nil).Notify(ctx, message()); !errors.Is(err, pluginapi.ErrDrain) {
		t.Errorf("error %v", err)
	}
}
