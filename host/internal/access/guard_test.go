package access

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	b := newBed(t, Settings{Open: true})
	if w := b.ask("POST", "/api/v1/reload", ActorHeader, "ann (cli)"); w.Body.String() != "console|admin||ann (cli)" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for host, want := range map[string]int{
		"localhost:8090": 200, "LOCALHOST": 200, "127.0.0.1:8090": 200, "[::1]:8090": 200, "192.168.1.7": 200,
		"evil.example.com": 421, "127.0.0.1.nip.io": 421, "localhost.evil.com": 421, "": 421,
	} {
		if w := b.ask("GET", "/tasks", "Host", host); w.Code != want {
			t.Errorf("%s: %d %s, want %d", host, w.Code, w.Body, want)
		}
	}
}

// TestOpenBehindAProxy: a proxy on this machine does not open the host to the world.
func TestOpenBehindAProxy(t *testing.T) {
	t.Parallel()
	b := newBed(t, Settings{Open: true})
	for _, header := range [][]string{{"X-Forwarded-For", "198.51.100.9"}, {"Forwarded", "for=198.51.100.9"}, {"X-Real-IP", "198.51.100.9"}} {
		if w := b.ask("GET", "/tasks", header...); w.Code != 403 || !strings.Contains(w.Body.String(), "a proxy leads here") {
			t.Errorf("%q: %d %s", header, w.Code, w.Body)
		}
	}
}

// TestNobody: without anybody who may, and not open either, nothing is served.
func TestNobody(t *testing.T) {
	t.Parallel()
	b := newBed(t, Settings{})
	for _, header := range [][]string{nil, {"Authorization", "Bearer "}, {"Authorization", "Bearer x"}, {"Cookie", "ax_session=e30.AAAA"}, {"Cookie", "ax_session=."}} {
		if w := b.ask("GET", "/api/v1/tasks", header...); w.Code != 401 {
			t.Errorf("%q: %d %s", header, w.Code, w.Body)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	for _, test := range []struct {
		method, path, token string
		status              int
		body                string
	}{
		{"GET", "/api/v1/tasks", "Bearer ax_ci", 200, "ci (token)|operator|billing|ci (token)"},
		{"POST", "/api/v1/tasks/a/run", "bearer ax_ci", 200, "ci (token)|operator|billing|ci (token)"},
		{"GET", "/tasks", "Bearer ax_ci", 200, "ci (token)|operator|billing|ci (token)"},
		{"POST", "/api/v1/reload", "Bearer ax_ci", 403, "the role admin is needed"},
		{"GET", "/api/v1/nodes", "Bearer ax_ci", 403, "not only those of your groups"},
		{"GET", "/api/v1/nodes", "Bearer ax_root", 200, "root (token)|admin||root (token)"},
		{"GET", "/api/v1/tasks", "Bearer ax_c", 401, "not known"},
		{"GET", "/api/v1/tasks", "Basic cm9vdA==", 401, "Bearer"},
		{"GET", "/api/v1/nothing", "Bearer ax_ci", 404, ""},
		{"GET", "/forgotten", "Bearer ax_root", 403, "nobody may"},
		{"GET", "/healthz", "Bearer nonsense", 200, "|||"},
	} {
		w := b.ask(test.method, test.path, "Authorization", test.token, ActorHeader, "the boss")
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.body) {
			t.Errorf("%+v: %d %s", test, w.Code, w.Body)
		}
	}
	b.later(12 * time.Hour)
	if w := b.ask("GET", "/api/v1/nodes", "Authorization", "Bearer ax_root"); w.Code != 401 || !strings.Contains(w.Body.String(), "expired") {
		t.Errorf("an expired token: %d %s", w.Code, w.Body)
	}
	if rows := b.trail("access.denied"); len(rows) != 2 || rows[0].Actor != "ci (token)" || rows[0].Object != "POST /api/v1/reload" || string(rows[0].Detail) != `{"address":"192.0.2.7"}` {
		t.Errorf("denied: %+v", rows)
	}
}

func TestStrangersAreLedToTheLogin(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	if w := b.ask("GET", "/tasks?q=a%26b"); w.Code != 303 || w.Header().Get("Location") != "/login?back=%2Ftasks%3Fq%3Da%2526b" {
		t.Errorf("a page: %d %s", w.Code, w.Header().Get("Location"))
	}
	if w := b.ask("GET", "/"); w.Header().Get("Location") != "/login" {
		t.Errorf("the first page: %s", w.Header().Get("Location"))
	}
	if w := b.ask("POST", "/tasks/a/run"); w.Code != 303 || w.Header().Get("Location") != "/login" {
		t.Errorf("a form: %d %s", w.Code, w.Header().Get("Location"))
	}
	if w := b.ask("GET", "/", "HX-Request", "true"); w.Code != 401 || w.Header().Get("HX-Redirect") != "/login" {
		t.Errorf("a part of a page: %d %v", w.Code, w.Header())
	}
	if w := b.ask("GET", "/nowhere"); w.Code != 303 {
		t.Errorf("a page that is not there: %d, which tells strangers so", w.Code)
	}
	if w := b.ask("GET", "/api/v1/tasks"); w.Code != 401 || w.Header().Get("WWW-Authenticate") != `Bearer realm="ax"` {
		t.Errorf("the API: %d %v", w.Code, w.Header())
	}
	if len(b.rows) != 0 {
		t.Errorf("who shows nothing is noted: %+v", b.rows)
	}
}

func TestForeignPagesChangeNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	cookie, _ := b.login("ann", "correct horse")
	for _, test := range []struct {
		header []string
		status int
	}{
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Sec-Fetch-Site", "same-site"}, 403},
		{[]string{"Origin", "https://evil.example"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Sec-Fetch-Site", "same-origin"}, 200},
		{[]string{"Origin", "http://127.0.0.1:8090"}, 200},
		{[]string{"Origin", "https://ax.example"}, 200}, // a proxy asks for another host
		{nil, 200},
	} {
		if w := b.ask(http.MethodPost, "/tasks/a/run", append([]string{"Cookie", cookie}, test.header...)...); w.Code != test.status {
			t.Errorf("%q: %d %s", test.header, w.Code, w.Body)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	for _, test := range []struct{ from, forwarded, want string }{
		{"192.0.2.7:1", "198.51.100.9", "192.0.2.7"}, // anybody can write that
		{"10.0.0.1:1", "198.51.100.9", "198.51.100.9"},
		{"10.0.0.1:1", "203.0.113.5, 198.51.100.9", "198.51.100.9"},
		{"10.0.0.1:1", "203.0.113.5, 198.51.100.9, 10.2.3.4", "198.51.100.9"},
		{"10.0.0.1:1", "nonsense", "10.0.0.1"},
		{"10.0.0.1:1", "", "10.0.0.1"},
		{"[::ffff:10.0.0.1]:1", "2001:db8::7", "2001:db8::7"},
	} {
		b.later(refusalSpan)
		b.ask("GET", "/api/v1/tasks", "From", test.from, "X-Forwarded-For", test.forwarded, "Authorization", "Bearer x")
		rows := b.trail("access.bad_token")
		if got := string(rows[len(rows)-1].Detail); got != `{"address":"`+test.want+`"}` {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
