package console_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
)

// logins lets ann in with a password, after three attempts nobody, and at a provider
// everybody who comes with a code.
type logins struct {
	off   bool
	tries int
}

func (l *logins) Ways() (password bool, provider string) {
	if l.off {
		return false, ""
	}
	return true, "Example ID"
}

func (l *logins) Login(w http.ResponseWriter, _ *http.Request, name, password string) (ok bool, wait time.Duration) {
	if l.tries++; l.tries > 3 {
		return false, 90 * time.Second
	}
	if name != "ann" || password != "correct horse" {
		return false, 0
	}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: "ann"})
	return true, 0
}

func (l *logins) Logout(w http.ResponseWriter, _ *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: "session", MaxAge: -1})
}

func (l *logins) Depart(w http.ResponseWriter, r *http.Request, back string) error {
	if strings.Contains(back, "away") {
		return errors.New("the provider does not answer")
	}
	http.Redirect(w, r, "https://id.example/authorize?back="+url.QueryEscape(back), http.StatusSeeOther)
	return nil
}

func (l *logins) Arrive(_ http.ResponseWriter, r *http.Request) (back string, err error) {
	if r.URL.Query().Get("code") == "" {
		return "", errors.New("no code")
	}
	return r.URL.Query().Get("to"), nil
}

func TestLogin(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	c := config(sample)
	c.Logins = &logins{}
	server := serveTo(t, c, ax.Caller{})
	page := shown(t, server, "/login?back=/tasks%3Fq%3Da")
	says(t, "the page", text(page.root), "Log in", "Name", "Password", "Log in with Example ID")
	if menu := page.all(func(n *html.Node) bool { return n.Data == "nav" }); len(menu) > 0 {
		t.Error("strangers see the menu")
	}
	for _, test := range []struct {
		form   url.Values
		status int
		says   string
		to     string
	}{
		{url.Values{"name": {"ann"}, "password": {"wrong"}}, 401, "Name or password is wrong.", ""},
		{url.Values{"name": {"nobody"}, "password": {"wrong"}}, 401, "Name or password is wrong.", ""},
		{url.Values{"name": {" ann "}, "password": {"correct horse"}, "back": {"/tasks?q=a"}}, 303, "", "/tasks?q=a"},
		{url.Values{"name": {"ann"}, "password": {"correct horse"}}, 429, "Too many attempts: wait 1 min.", ""},
	} {
		got := ask(t, server, "POST", "/login", test.form)
		if got.status != test.status || got.header.Get("Location") != test.to || !strings.Contains(text(got.root), test.says) {
			t.Errorf("%v: %d to %q: %s", test.form, got.status, got.header.Get("Location"), text(got.root))
		}
		if strings.Contains(got.raw, "correct horse") {
			t.Errorf("%v: the page has the password", test.form)
		}
	}
}

// TestLoginLeadsNowhereElse: what leads back after a login is an address of this host.
func TestLoginLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	c := config(sample)
	c.Logins = &logins{}
	server := serveTo(t, c, ax.Caller{})
	for _, evil := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "javascript:alert(1)"} {
		for _, got := range []answer{
			ask(t, server, "POST", "/login", url.Values{"name": {"ann"}, "password": {"correct horse"}, "back": {evil}}),
			ask(t, server, "GET", "/login/oidc/callback?code=1&to="+url.QueryEscape(evil), nil),
		} {
			if to := got.header.Get("Location"); got.status == http.StatusSeeOther && to != "/" {
				t.Errorf("%s leads to %q", evil, to)
			}
		}
		page := ask(t, server, "GET", "/login?back="+url.QueryEscape(evil), nil)
		for _, n := range page.all(func(*html.Node) bool { return true }) {
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Val, evil) || strings.HasPrefix(a.Val, "/login/oidc?") && a.Val != "/login/oidc?back=%2f" {
					t.Errorf("%s: the page has %s=%q", evil, a.Key, a.Val)
				}
			}
		}
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serveTo(t, config(sample), ax.Caller{})
	if got := ask(t, server, "GET", "/login/oidc?back=/tasks", nil); got.status != 303 || got.header.Get("Location") != "https://id.example/authorize?back=%2Ftasks" {
		t.Errorf("%d to %s", got.status, got.header.Get("Location"))
	}
	if got := ask(t, server, "GET", "/login/oidc?back=/away", nil); got.status != 502 || !strings.Contains(got.raw, "cannot be asked") {
		t.Errorf("without a provider: %d", got.status)
	}
	if got := ask(t, server, "GET", "/login/oidc/callback?code=1&to=/runs", nil); got.header.Get("Location") != "/runs" {
		t.Errorf("back: %d to %q", got.status, got.header.Get("Location"))
	}
	if got := ask(t, server, "GET", "/login/oidc/callback?error=access_denied", nil); got.status != 403 || !strings.Contains(got.raw, "does not let you in") {
		t.Errorf("refused: %d", got.status)
	}
}

func TestLogout(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serveTo(t, config(sample), ax.Caller{Name: "ann", Role: ax.RoleViewer, Session: true})
	if forms := shown(t, server, "/tasks").forms(); len(forms) != 1 || forms[0] != "/logout" {
		t.Errorf("forms: %q", forms)
	}
	got := ask(t, server, "POST", "/logout", url.Values{})
	if got.status != 303 || got.header.Get("Location") != "/login" || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%d %v", got.status, got.header)
	}
}

// TestNoLogins: where everybody may do everything there is nothing to log in to.
func TestNoLogins(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	c := config(sample)
	c.Logins = &logins{off: true}
	if got := ask(t, serve(t, c), "GET", "/login?back=/runs", nil); got.status != 303 || got.header.Get("Location") != "/runs" {
		t.Errorf("%d to %q", got.status, got.header.Get("Location"))
	}
}

var _ console.Logins = (*logins)(nil)
