package access

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

func (b *bed) who(cookie string) string {
	w := b.ask("GET", "/api/v1/tasks", "Cookie", cookie)
	if w.Code != http.StatusOK {
		return ""
	}
	return w.Body.String()
}

func TestSession(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	ann, _ := b.login("ann", "correct horse")
	bob, _ := b.login("bob", "battery staple")
	if got := b.who(ann); got != "ann|operator||ann" {
		t.Errorf("ann is %q", got)
	}
	if got := b.who(bob); got != "bob|admin|billing|bob" {
		t.Errorf("bob is %q", got)
	}
	if rows := b.trail("access.login"); len(rows) != 2 || rows[0].Actor != "ann" {
		t.Errorf("logins: %+v", rows)
	}
	// With bob's name in it ann's cookie is worth nothing.
	body, mark, _ := strings.Cut(strings.TrimPrefix(ann, "ax_session="), ".")
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(text), `"ann"`, `"bob"`, 1)))
	for _, cookie := range []string{"ax_session=" + forged + "." + mark, ann + "x", ann[:len(ann)-2], "ax_session=" + body, "ax_session=" + body + "."} {
		if got := b.who(cookie); got != "" {
			t.Errorf("%s is taken for %s", cookie, got)
		}
	}
}

// TestSessionsGoOn: a session that is used lasts, but not longer than a lifetime.
func TestSessionsGoOn(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	cookie, _ := b.login("ann", "correct horse")
	for range 14 {
		b.later(50 * time.Minute)
		w := b.ask("GET", "/tasks", "Cookie", cookie)
		if w.Code != http.StatusOK {
			t.Fatalf("at %s: %d", b.now(), w.Code)
		}
		cookie = cookieOf(w)
	}
	b.later(20 * time.Minute) // 12 hours in all
	if got := b.who(cookie); got != "" {
		t.Error("the session lasts for longer than 12 hours")
	}
	cookie, _ = b.login("ann", "correct horse")
	b.later(time.Hour)
	if got := b.who(cookie); got != "" {
		t.Error("the session lasts although it was not used")
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	login := func() string {
		t.Helper()
		b.guard.Apply(settings(t))
		cookie, _ := b.login("ann", "correct horse")
		if b.who(cookie) == "" {
			t.Fatal("ann is not in")
		}
		return cookie
	}
	for name, change := range map[string]func(*Settings){
		"removed":            func(s *Settings) { s.Users = s.Users[1:] },
		"a new password":     func(s *Settings) { s.Users[0].Hash = hashOf(t, "another horse") },
		"another key":        func(s *Settings) { s.Session.Key = []byte("another") },
		"no key":             func(s *Settings) { s.Session.Key = nil },
		"a shorter lifetime": func(s *Settings) { s.Session.Lifetime = 0 },
	} {
		cookie, s := login(), settings(t)
		change(&s)
		b.guard.Apply(s)
		if got := b.who(cookie); got != "" {
			t.Errorf("%s: %s is still in", name, got)
		}
	}
	cookie, s := login(), settings(t)
	s.Users[0].Role = ax.RoleViewer
	b.guard.Apply(s)
	if got := b.who(cookie); got != "ann|viewer||ann" {
		t.Errorf("with another role: %q", got)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/logout", nil)
	r.Header.Set("Cookie", cookie)
	w := httptest.NewRecorder()
	b.guard.Logout(w, r)
	if b.who(cookie) != "" || !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("after the logout: %q, %v", b.who(cookie), w.Header())
	}
}

// TestLiveCallsEnd: what somebody follows ends when they may not any more, or may do
// something else.
func TestLiveCallsEnd(t *testing.T) {
	t.Parallel()
	b := newBed(t, settings(t))
	ann, _ := b.login("ann", "correct horse")
	follow := func(header ...string) <-chan struct{} {
		t.Helper()
		begun, over := make(chan struct{}), make(chan struct{})
		live := &following{site: b.site, begun: begun}
		go func() {
			defer close(over)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/instances/7/log/stream", nil)
			r.Header.Set(header[0], header[1])
			b.guard.Around(live).ServeHTTP(httptest.NewRecorder(), r)
		}()
		<-begun
		return over
	}
	byCookie, byToken, other := follow("Cookie", ann), follow("Authorization", "Bearer ax_ci"), follow("Authorization", "Bearer ax_root")
	s := settings(t)
	s.Users, s.Tokens[0].Role = s.Users[1:], ax.RoleViewer
	b.guard.Apply(s)
	<-byCookie
	<-byToken
	select {
	case <-other:
		t.Error("a call ended that rests on what is as before")
	default:
	}
	s.Tokens = nil
	b.guard.Apply(s)
	<-other
	b.guard.Apply(settings(t))
	ann, _ = b.login("ann", "correct horse")
	byCookie = follow("Cookie", ann)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/logout", nil)
	r.Header.Set("Cookie", ann)
	b.guard.Logout(httptest.NewRecorder(), r)
	<-byCookie
	if n := len(b.guard.calls.open); n != 0 {
		t.Errorf("%d calls are under way", n)
	}
}

// following is a site that answers for as long as it is asked.
type following struct {
	*site
	begun chan<- struct{}
}

func (f *following) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	close(f.begun)
	<-r.Context().Done()
}

// TestCookies: scripts do not see the session, and other sites cannot send it along.
func TestCookies(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := settings(t)
		s.Secure = secure
		b := newBed(t, s)
		w := httptest.NewRecorder()
		if ok, _ := b.guard.Login(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", nil), "ann", "correct horse"); !ok {
			t.Fatal("ann is not in")
		}
		c := w.Result().Cookies()[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.Secure != secure || strings.HasPrefix(c.Name, "__Host-") != secure {
			t.Errorf("secure %v: %+v", secure, c)
		}
	}
}

// TestHostsWithTheSameKey know one another's sessions.
func TestHostsWithTheSameKey(t *testing.T) {
	t.Parallel()
	one, two := newBed(t, settings(t)), newBed(t, settings(t))
	cookie, _ := one.login("ann", "correct horse")
	if got := two.who(cookie); got != "ann|operator||ann" {
		t.Errorf("on another host: %q", got)
	}
}
