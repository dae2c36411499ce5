// Package access decides who may do what over HTTP. A Guard stands around all
// that a host serves: it finds out who asks, by a token, a session or an identity
// provider, holds the route against the table of Rules, and hands the caller on in
// the context of the request. Which tasks of others a caller sees is decided by
// ax.Caller, where tasks are looked up.
package access

import (
	"context"
	"hash/maphash"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// Settings say who has access. They do not change; a Guard gets new ones.
type Settings struct {
	Users  []User
	Tokens []Token
	// Provider is nil for none.
	Provider *Provider
	Session  Session
	// Open lets everybody do everything. It is for listeners that nobody else
	// reaches, when there are no users, no tokens and no provider.
	Open bool
	// Secure says that browsers reach the host by https only.
	Secure bool
	// URL is where browsers reach the host, without a path; empty if that is not
	// known.
	URL string
	// Proxies are the addresses that are believed about whom they ask for.
	Proxies []netip.Prefix
}

// User logs in with a password.
type User struct {
	Name string
	// Hash is what HashPassword returned.
	Hash   string
	Role   ax.Role
	Groups []string // nil for all
}

// Token is what a program shows.
type Token struct {
	Name string
	// SHA256 is what HashToken returned.
	SHA256  string
	Role    ax.Role
	Groups  []string  // nil for all
	Expires time.Time // zero for never
}

// Provider is an identity provider that speaks OpenID Connect.
type Provider struct {
	Issuer, ClientID, ClientSecret string
	// Label is what people see on the button that leads there.
	Label  string
	Scopes []string // beside openid
	// NameClaim is the claim that names people, RoleClaim the one that Grants look
	// at: a text, or a list of texts. Dots lead into objects.
	NameClaim, RoleClaim string
	// Grants are in their order: the first that fits counts, and without one nobody
	// gets in.
	Grants []Grant
}

// Grant gives a role to those whose claim has a value.
type Grant struct {
	Value  string
	Role   ax.Role
	Groups []string // nil for all
}

// Session bounds the sessions of browsers.
type Session struct {
	// Key signs them: hosts with the same key know one another's sessions.
	Key []byte
	// Idle ends a session that nothing was asked with for so long, Lifetime any
	// other.
	Idle, Lifetime time.Duration
}

// Site is what a Guard stands around.
type Site interface {
	http.Handler
	// Pattern returns the route that serves a request, empty if there is none.
	Pattern(r *http.Request) string
	// Refuse answers with a status and the reason for it.
	Refuse(w http.ResponseWriter, r *http.Request, status int, reason string)
	// Page reports whether people see what answers a request.
	Page(r *http.Request) bool
}

// Trail takes rows of the audit trail.
type Trail func(ctx context.Context, row ax.AuditRow) error

// Config is what New needs; all fields are required.
type Config struct {
	Settings Settings
	Trail    Trail
	Log      hclog.Logger
	Now      func() time.Time
}

// Guard decides who may do what. It is safe for use by many goroutines.
type Guard struct {
	log      hclog.Logger
	now      func() time.Time
	state    atomic.Pointer[state]
	trail    *trail
	throttle *throttle
	ended    *ended
	calls    *calls
	// hashing bounds the comparisons of passwords under way: each takes a CPU for
	// a quarter of a second.
	hashing chan struct{}
	seed    maphash.Seed
}

// New returns a Guard.
func New(c Config) *Guard {
	g := &Guard{
		log: c.Log, now: c.Now, trail: newTrail(c.Trail, c.Log), throttle: newThrottle(), ended: newEnded(), calls: newCalls(),
		hashing: make(chan struct{}, 2), seed: maphash.MakeSeed(),
	}
	g.Apply(c.Settings)
	return g
}

// Apply puts other settings in force. Sessions of users who are gone, or have
// another password, have ended then, and what they were following as well.
func (g *Guard) Apply(s Settings) {
	st := newState(s)
	g.state.Store(st)
	g.calls.review(st)
}

// state is Settings made ready for questions.
type state struct {
	Settings
	users    map[string]*User
	tokens   map[string]*Token // by their hashes
	provider *provider
	origins  *http.CrossOriginProtection
}

func newState(s Settings) *state {
	st := &state{Settings: s, users: map[string]*User{}, tokens: map[string]*Token{}, origins: http.NewCrossOriginProtection()}
	for i := range s.Users {
		st.users[s.Users[i].Name] = &s.Users[i]
	}
	for i := range s.Tokens {
		st.tokens[s.Tokens[i].SHA256] = &s.Tokens[i]
	}
	if s.URL != "" {
		_ = st.origins.AddTrustedOrigin(s.URL) // what is no origin is trusted with nothing
	}
	if s.Provider != nil {
		st.provider = newProvider(*s.Provider, s.URL)
	}
	return st
}
