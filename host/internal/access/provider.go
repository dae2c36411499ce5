package access

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/axsched/ax/host/internal/ax"
)

const (
	// CallbackPath is where the provider sends browsers back to.
	CallbackPath = "/login/oidc/callback"
	// providerTimeout bounds each question to the provider.
	providerTimeout = 10 * time.Second
	// journeyTime is how long somebody may take at the provider.
	journeyTime = 10 * time.Minute
)

// provider asks an identity provider who somebody is. What it says of itself is
// read when somebody wants to log in, so that a host starts without it.
type provider struct {
	Provider
	redirect string

	mu    sync.Mutex
	found *oidc.Provider
}

func newProvider(p Provider, url string) *provider {
	return &provider{Provider: p, redirect: url + CallbackPath}
}

// fingerprint tells whether a login rested on other settings.
func (p *provider) fingerprint() string {
	return fingerprint(p.Issuer, p.ClientID, p.RoleClaim, fmt.Sprint(p.Grants))
}

// client returns what asks the provider, and the provider as it describes itself.
func (p *provider) client(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		// The keys of the provider are fetched later on, with the same client.
		long := oidc.ClientContext(context.WithoutCancel(ctx), &http.Client{Timeout: providerTimeout})
		found, err := oidc.NewProvider(long, p.Issuer)
		if err != nil {
			return nil, nil, fmt.Errorf("ask the provider about itself: %w", err)
		}
		p.found = found
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: p.found.Endpoint(),
		RedirectURL: p.redirect, Scopes: append([]string{oidc.ScopeOpenID}, p.Scopes...),
	}, p.found, nil
}

// journey is what a browser keeps while it is at the provider.
type journey struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Back     string    `json:"back"`
	At       time.Time `json:"at"`
}

func journeyCookie(secure bool) string {
	if secure {
		return "__Host-ax_oidc"
	}
	return "ax_oidc"
}

var errNoProvider = errors.New("no provider is configured")

// Depart sends a browser to the provider, from which it goes on to the page back.
func (g *Guard) Depart(w http.ResponseWriter, r *http.Request, back string) error {
	st := g.state.Load()
	if st.provider == nil {
		return errNoProvider
	}
	ctx, cancel := context.WithTimeout(r.Context(), providerTimeout)
	defer cancel()
	client, _, err := st.provider.client(ctx)
	if err != nil {
		g.log.Error("login at the provider", "error", err)
		return err
	}
	j := journey{State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier(), Back: back, At: g.now()}
	st.setCookie(w, journeyCookie(st.Secure), st.seal("journey", j), journeyTime)
	http.Redirect(w, r, client.AuthCodeURL(j.State, oidc.Nonce(j.Nonce), oauth2.S256ChallengeOption(j.Verifier)), http.StatusSeeOther)
	return nil
}

func random() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// Arrive starts a session for a browser that comes from the provider, and returns
// the page that it wanted.
func (g *Guard) Arrive(w http.ResponseWriter, r *http.Request) (back string, err error) {
	st, address := g.state.Load(), g.address(r)
	if st.provider == nil {
		return "", errNoProvider
	}
	var j journey
	if cookie, err := r.Cookie(journeyCookie(st.Secure)); err == nil {
		st.unseal("journey", cookie.Value, &j)
	}
	st.setCookie(w, journeyCookie(st.Secure), "", 0) // good for one try
	s, err := g.identify(r, st, j)
	if err != nil {
		g.log.Warn("login at the provider failed", "name", shown(s.Name), "address", address, "reason", err)
		g.trail.refused(r.Context(), g.now(), ax.AuditRow{Actor: "unknown", Action: "access.login_failed", Object: shown(s.Name)}, address)
		return "", err
	}
	g.begin(st, w, s)
	g.entered(r.Context(), s.Name, address)
	return j.Back, nil
}

// identify finds out who comes from the provider, and what they may do here.
func (g *Guard) identify(r *http.Request, st *state, j journey) (session, error) {
	query := r.URL.Query()
	if j.State == "" || query.Get("state") != j.State || g.now().Sub(j.At) > journeyTime {
		return session{}, errors.New("the login was not begun in this browser, or took too long")
	}
	if said := query.Get("error"); said != "" {
		return session{}, fmt.Errorf("the provider says %q", shown(said))
	}
	ctx, cancel := context.WithTimeout(r.Context(), providerTimeout)
	defer cancel()
	client, found, err := st.provider.client(ctx)
	if err != nil {
		return session{}, err
	}
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: providerTimeout})
	token, err := client.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(j.Verifier))
	if err != nil {
		return session{}, fmt.Errorf("exchange the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := found.Verifier(&oidc.Config{ClientID: st.Provider.ClientID, Now: g.now}).Verify(ctx, raw)
	if err != nil {
		return session{}, fmt.Errorf("verify the identity: %w", err)
	}
	if id.Nonce != j.Nonce {
		return session{}, errors.New("the identity is of another login")
	}
	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return session{}, fmt.Errorf("read the claims: %w", err)
	}
	return st.provider.admit(id.Subject, claims)
}

// admit returns a session for somebody with claims, unless they may do nothing
// here.
func (p *provider) admit(subject string, claims map[string]any) (session, error) {
	s := session{Name: subject, OIDC: true, Of: p.fingerprint()}
	if name, _ := claimOf(claims, p.NameClaim).(string); name != "" {
		s.Name = name
	}
	if verified, told := claims["email_verified"].(bool); p.NameClaim == "email" && told && !verified {
		return s, errors.New("the provider has not verified the address")
	}
	s.Name = shown(s.Name) + " (oidc)" // no user of the configuration is called so
	values := textsOf(claimOf(claims, p.RoleClaim))
	for _, grant := range p.Grants {
		if slices.Contains(values, grant.Value) {
			s.Role, s.Groups, s.All = grant.Role, grant.Groups, grant.Groups == nil
			return s, nil
		}
	}
	return s, errors.New("no role is given to them")
}

// claimOf finds a claim by its name, or by names with dots between that lead into
// objects.
func claimOf(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	outer, inner, nested := strings.Cut(name, ".")
	if object, ok := claims[outer].(map[string]any); ok && nested {
		return claimOf(object, inner)
	}
	return nil
}

func textsOf(claim any) []string {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		var texts []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	}
	return nil
}
