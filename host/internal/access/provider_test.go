package access

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/axsched/ax/host/internal/ax"
)

// idp is an identity provider: whoever it is asked about is who has its claims.
type idp struct {
	*httptest.Server
	keys   *oidctest.Server
	key    *rsa.PrivateKey
	mu     sync.Mutex
	claims map[string]any
	codes  map[string]url.Values // what the login was asked for, by its code
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &idp{
		key: key, claims: map[string]any{}, codes: map[string]url.Values{},
		keys: &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}},
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	p.keys.SetIssuer(p.URL)
	return p
}

func (p *idp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/token" {
		p.keys.ServeHTTP(w, r) // how it describes itself, and its keys
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, known := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !known || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": asked.Get("client_id"), "sub": "u7", "nonce": asked.Get("nonce"), "exp": int64(4102444800)}
	maps.Copy(claims, p.claims)
	text, _ := json.Marshal(claims)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","id_token":%q}`, oidctest.SignIDToken(p.key, "k", oidc.RS256, string(text)))
}

// consent lets somebody in, and returns where the browser is sent back to.
func (p *idp) consent(t *testing.T, location string) url.Values {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := queryOf(t, location)
	code := fmt.Sprint("code", len(p.codes))
	p.codes[code] = asked
	return url.Values{"code": {code}, "state": {asked.Get("state")}}
}

func (p *idp) say(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims = claims
}

func oidcSettings(t *testing.T, p *idp) Settings {
	s := settings(t)
	s.Provider = &Provider{
		Issuer: p.URL, ClientID: "ax", ClientSecret: "s3cret", Label: "Example ID", Scopes: []string{"profile"},
		NameClaim: "preferred_username", RoleClaim: "realm.groups",
		Grants: []Grant{{Value: "platform", Role: ax.RoleAdmin}, {Value: "billing", Role: ax.RoleOperator, Groups: []string{"billing"}}},
	}
	return s
}

// journey sends a browser to the provider; cookie is what it keeps meanwhile.
func (b *bed) journey() (location, cookie string) {
	b.t.Helper()
	w := httptest.NewRecorder()
	if err := b.guard.Depart(w, httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, "/login/oidc", nil), "/tasks"); err != nil {
		b.t.Fatal(err)
	}
	c := w.Result().Cookies()[0]
	return w.Header().Get("Location"), c.Name + "=" + c.Value
}

// arrive comes back from the provider, and returns the session.
func (b *bed) arrive(query url.Values, cookie string) (session, back string, err error) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, CallbackPath+"?"+query.Encode(), nil)
	r.Header.Set("Cookie", cookie)
	w := httptest.NewRecorder()
	back, err = b.guard.Arrive(w, r)
	return cookieOf(w), back, err
}

func TestProvider(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	b := newBed(t, oidcSettings(t, p))
	location, cookie := b.journey()
	asked := queryOf(t, location)
	for name, want := range map[string]string{
		"client_id": "ax", "redirect_uri": "https://ax.example/login/oidc/callback", "response_type": "code",
		"scope": "openid profile", "code_challenge_method": "S256",
	} {
		if asked.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, asked.Get(name), want)
		}
	}
	if strings.Contains(location, "s3cret") || asked.Get("state") == "" || asked.Get("nonce") == "" || asked.Get("code_challenge") == "" {
		t.Errorf("the browser is sent to %s", location)
	}
	p.say(map[string]any{"preferred_username": "ann", "realm": map[string]any{"groups": []string{"staff", "billing"}}})
	session, back, err := b.arrive(p.consent(t, location), cookie)
	if err != nil || back != "/tasks" {
		t.Fatalf("back to %q: %v", back, err)
	}
	if got := b.who(session); got != "ann (oidc)|operator|billing|ann (oidc)" {
		t.Errorf("it is %q", got)
	}
	p.say(map[string]any{"realm": map[string]any{"groups": "platform"}})
	location, cookie = b.journey()
	session, _, err = b.arrive(p.consent(t, location), cookie)
	if got := b.who(session); err != nil || got != "u7 (oidc)|admin||u7 (oidc)" {
		t.Errorf("without a name it is %q: %v", got, err)
	}
	// With other grants people have to ask again.
	changed := oidcSettings(t, p)
	changed.Provider.Grants = changed.Provider.Grants[1:]
	b.guard.Apply(changed)
	if got := b.who(session); got != "" {
		t.Errorf("after a change of the grants it is %q", got)
	}
	b.guard.Apply(settings(t))
	if _, _, err := b.arrive(url.Values{}, cookie); err == nil {
		t.Error("without a provider somebody comes from there")
	}
}

func TestProviderRefuses(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	b := newBed(t, oidcSettings(t, p))
	good := map[string]any{"preferred_username": "ann", "realm": map[string]any{"groups": []string{"platform"}}}
	for name, try := range map[string]func(query url.Values, cookie string) (url.Values, string){
		"another state": func(q url.Values, c string) (url.Values, string) { q.Set("state", "x"); return q, c },
		"no state":      func(q url.Values, c string) (url.Values, string) { q.Del("state"); return q, c },
		"no cookie":     func(q url.Values, _ string) (url.Values, string) { return q, "" },
		"another code":  func(q url.Values, c string) (url.Values, string) { q.Set("code", "x"); return q, c },
		"a refusal":     func(q url.Values, c string) (url.Values, string) { q.Set("error", "access_denied"); return q, c },
		"a stale login": func(q url.Values, c string) (url.Values, string) { b.later(time.Hour); return q, c },
		"another login": func(url.Values, string) (url.Values, string) {
			location, _ := b.journey()
			_, cookie := b.journey()
			return p.consent(t, location), cookie
		},
		"no role": func(q url.Values, c string) (url.Values, string) {
			p.say(map[string]any{"realm": map[string]any{"groups": []string{"staff"}}})
			return q, c
		},
		"no groups": func(q url.Values, c string) (url.Values, string) {
			p.say(map[string]any{"groups": "platform"})
			return q, c
		},
		"another nonce": func(q url.Values, c string) (url.Values, string) {
			p.say(map[string]any{"nonce": "x", "realm": good["realm"]})
			return q, c
		},
		"another issuer": func(q url.Values, c string) (url.Values, string) {
			p.say(map[string]any{"iss": "https://evil.example", "realm": good["realm"]})
			return q, c
		},
		"another client": func(q url.Values, c string) (url.Values, string) {
			p.say(map[string]any{"aud": "other", "realm": good["realm"]})
			return q, c
		},
		"an old identity": func(q url.Values, c string) (url.Values, string) {
			p.say(map[string]any{"exp": 1, "realm": good["realm"]})
			return q, c
		},
	} {
		p.say(good)
		location, cookie := b.journey()
		query, cookie := try(p.consent(t, location), cookie)
		if session, _, err := b.arrive(query, cookie); err == nil || session != "" {
			t.Errorf("%s: let in with %q", name, session)
		}
	}
	away := oidcSettings(t, p)
	away.Provider.Issuer = "http://127.0.0.1:1"
	b.guard.Apply(away)
	if err := b.guard.Depart(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/login/oidc", nil), "/"); err == nil {
		t.Error("a provider that is away was asked")
	}
}

// TestUnverifiedAddresses: who has not shown that an address is theirs is not called
// by it.
func TestUnverifiedAddresses(t *testing.T) {
	t.Parallel()
	p := newProvider(Provider{NameClaim: "email", RoleClaim: "groups", Grants: []Grant{{Value: "staff", Role: ax.RoleViewer}}}, "https://ax.example")
	for verified, want := range map[bool]bool{true: true, false: false} {
		_, err := p.admit("u7", map[string]any{"email": "ann@example", "email_verified": verified, "groups": "staff"})
		if (err == nil) != want {
			t.Errorf("verified %v: %v", verified, err)
		}
	}
}
