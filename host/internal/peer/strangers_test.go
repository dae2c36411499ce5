package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestStrangersAreTurnedAway(t *testing.T) {
	t.Parallel()
	var log lines
	at := serve(t, newDesk(1), func(c *ServerConfig) { c.Log = logTo(&log) })
	wrong := connect(t, at.address, func(c *ClientConfig) { c.Trust.Secret = []byte("wrong horse battery staple") })
	for range 5 {
		err := wrong.Dispatch(within(t, time.Minute), dispatch(1))
		if !errors.Is(err, ErrStranger) || errors.Is(err, ErrUnconfirmed) || Broken(err) {
			t.Fatalf("wrong secret: %v", err)
		}
	}
	for _, path := range []string{"/", "/cluster/v1/hello", "/cluster/v1/dispatch", "/cluster/v2/ping"} {
		resp, err := http.Post("http://"+at.address+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get(headerMAC) != "" {
			t.Errorf("%s: status %d", path, resp.StatusCode)
		}
	}
	if n := strings.Count(log.String(), "turned a stranger away"); n != 1 {
		t.Errorf("%d lines about strangers in a minute, want 1:\n%s", n, &log)
	}
}

func TestStrangerLinesGoOn(t *testing.T) {
	t.Parallel()
	var log lines
	s := strangers{log: logTo(&log)}
	now := time.Now()
	for i := range 150 {
		s.met("10.0.0.9:1", "it does not know the secret", now.Add(time.Duration(i)*time.Second))
	}
	if text := log.String(); strings.Count(text, "turned") != 3 || !strings.Contains(text, "strangers=60") {
		t.Errorf("want 3 lines in 150 s with the count of each minute:\n%s", text)
	}
}

// TestAddressOfAnotherHost: another incarnation, or a host of another app that
// has the same secret, has the address now.
func TestAddressOfAnotherHost(t *testing.T) {
	t.Parallel()
	at := serve(t, newDesk(1), nil)
	for _, change := range []func(*ClientConfig){
		func(c *ClientConfig) { c.To = "c" },
		func(c *ClientConfig) { c.Self.App = "billing" },
	} {
		err := connect(t, at.address, change).Dispatch(within(t, time.Minute), dispatch(1))
		if !errors.Is(err, ErrOtherHost) || !Broken(err) || errors.Is(err, ErrUnconfirmed) {
			t.Errorf("error %v", err)
		}
	}
}

// TestStrangerAtTheAddress: whoever cannot prove that he knows the secret is not
// believed, whatever he says.
func TestStrangerAtTheAddress(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"", "{}", `{"answers":[{}]}`, `{"session":"x","nonce":"y","mac":"z"}`, `{"other":true,"mac":""}`} {
		stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, says) }))
		defer stranger.Close()
		c := connect(t, stranger.Listener.Addr().String(), nil)
		if err := c.Dispatch(within(t, time.Minute), dispatch(1)); !errors.Is(err, ErrStranger) || Broken(err) {
			t.Errorf("a stranger says %q: %v", says, err)
		}
	}
}

// middle is somebody on the way between two hosts, who keeps what he sees and
// may change it.
type middle struct {
	target string
	proxy  *httptest.Server

	mu      sync.Mutex
	seen    []*http.Request
	bodies  [][]byte
	request func([]byte) []byte
	answer  func([]byte) []byte
}

func inTheMiddle(t *testing.T, target string) *middle {
	t.Helper()
	m := &middle{target: target}
	m.proxy = httptest.NewServer(m)
	t.Cleanup(m.proxy.Close)
	return m
}

func (m *middle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.seen, m.bodies = append(m.seen, r), append(m.bodies, body)
	request, answer := m.request, m.answer
	m.mu.Unlock()
	if request != nil && !strings.HasSuffix(r.URL.Path, "hello") {
		body = request(body)
	}
	resp, text := m.forward(r, body)
	if resp == nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	maps.Copy(w.Header(), resp.Header)
	if answer != nil && !strings.HasSuffix(r.URL.Path, "hello") {
		text = answer(text)
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(resp.StatusCode)
	fmt.Fprintf(w, "%s", text)
}

func (m *middle) forward(r *http.Request, body []byte) (*http.Response, []byte) {
	again, err := http.NewRequest(r.Method, "http://"+m.target+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return nil, nil
	}
	again.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(again)
	if err != nil {
		return nil, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp, text
}

// TestReplay: what was said once is not taken again, in the same life of the
// server and in the next one.
func TestReplay(t *testing.T) {
	t.Parallel()
	host := newDesk(10)
	at := serve(t, host, nil)
	m := inTheMiddle(t, at.address)
	c := connect(t, m.proxy.Listener.Addr().String(), nil)
	if err := c.Dispatch(within(t, time.Minute), dispatch(1)); err != nil {
		t.Fatal(err)
	}
	replay := func(when string) {
		t.Helper()
		for i, r := range m.seen {
			resp, _ := m.forward(r, m.bodies[i])
			if strings.HasSuffix(r.URL.Path, "hello") {
				continue // it opens a session of which nobody knows the key
			}
			if resp == nil || resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: %s was taken again: %+v", when, r.URL.Path, resp)
			}
		}
		if n := len(host.got()); n != 1 {
			t.Errorf("%s: %d received, want 1", when, n)
		}
	}
	replay("in the same life")
	at.kill()
	serve(t, host, nil, at.address)
	replay("in the next life")
}

func TestTampering(t *testing.T) {
	t.Parallel()
	host := newDesk(10)
	m := inTheMiddle(t, serve(t, host, nil).address)
	c := connect(t, m.proxy.Listener.Addr().String(), nil)
	m.request = func(body []byte) []byte { return bytes.Replace(body, []byte(`"task_id":5`), []byte(`"task_id":6`), 1) }
	if err := c.Dispatch(within(t, time.Minute), dispatch(1)); !errors.Is(err, ErrStranger) {
		t.Errorf("another task was written into the message: %v", err)
	}
	if n := len(host.got()); n != 0 {
		t.Errorf("%d received", n)
	}
	m.request = nil
	m.answer = func(body []byte) []byte { return append(body, ' ') }
	if err := c.Dispatch(within(t, time.Minute), dispatch(1)); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("the answer was changed: %v", err)
	}
}

// TestForgottenSession: a server that has lost its sessions is greeted anew.
func TestForgottenSession(t *testing.T) {
	t.Parallel()
	host := newDesk(10)
	at := serve(t, host, nil)
	c := connect(t, at.address, nil)
	for id := range 3 {
		if err := c.Dispatch(within(t, time.Minute), dispatch(id)); err != nil {
			t.Fatal(err)
		}
		at.sessions.mu.Lock()
		clear(at.sessions.all)
		at.sessions.mu.Unlock()
	}
	if n := len(host.got()); n != 3 {
		t.Errorf("%d received, want 3", n)
	}
}

func TestTrustIsNeeded(t *testing.T) {
	t.Parallel()
	for _, trust := range []Trust{{}, {Secret: []byte("short")}} {
		_, err1 := NewServer(ServerConfig{Trust: trust, Log: hclog.NewNullLogger()})
		_, err2 := NewClient(ClientConfig{Trust: trust})
		_, err3 := NewPeers(PeersConfig{Trust: trust})
		if err1 == nil || err2 == nil || err3 == nil {
			t.Errorf("secret %q: %v, %v, %v", trust.Secret, err1, err2, err3)
		}
	}
}

func TestOversizedMessage(t *testing.T) {
	t.Parallel()
	at := serve(t, newDesk(10), nil)
	c := connect(t, at.address, nil)
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", maxBody)
	if err := c.call(t.Context(), c.calls, "changed", big, nil); err == nil {
		t.Error("a message beyond all bounds was taken")
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
