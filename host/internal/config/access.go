package config

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
)

// Access says who may use the API and the console. Without users, tokens and a
// provider everybody may who reaches them.
type Access struct {
	Users   []AccessUser
	Tokens  []AccessToken
	OIDC    *OIDC // nil for none
	Session Session
}

// Open reports whether nobody is asked who they are.
func (a *Access) Open() bool { return len(a.Users) == 0 && len(a.Tokens) == 0 && a.OIDC == nil }

// Grant is what somebody may do.
type Grant struct {
	Role ax.Role
	// Groups are those of whose tasks it holds, nil for all tasks.
	Groups []string
}

// AccessUser logs in with a password.
type AccessUser struct {
	Name         string
	PasswordHash string // of bcrypt
	Grant
}

// AccessToken is what a program shows.
type AccessToken struct {
	Name   string
	SHA256 string // in hex, in small letters
	Grant
	Expires time.Time // zero for never
}

// OIDC is an identity provider that speaks OpenID Connect.
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	Label                          string
	Scopes                         []string
	NameClaim, RoleClaim           string
	Grants                         []OIDCGrant // in the order of the file, at least one
}

// OIDCGrant gives something to those whose role claim has a value.
type OIDCGrant struct {
	Value string
	Grant
}

// Session bounds the sessions of browsers.
type Session struct {
	// Secret signs them; empty to make one up.
	Secret         string
	Idle, Lifetime time.Duration
}

// Defaults and bounds of access.
const (
	defaultIdle     = time.Hour
	defaultLifetime = 12 * time.Hour
	// minSessionSecret is in characters.
	minSessionSecret = 32
	// minHashCost and maxHashCost bound how long a login takes: too short is
	// guessed too quickly, too long lets few logins keep a host busy.
	minHashCost, maxHashCost = 10, 15
)

func defaultAccess() Access {
	return Access{Session: Session{Idle: defaultIdle, Lifetime: defaultLifetime}}
}

// accessDraft is the section access while its keys are read.
type accessDraft struct {
	to      *Access
	node    *yaml.Node    // the whole, nil if it is not there
	who     [3]*yaml.Node // users, tokens and oidc
	oidc    *yaml.Node
	secret  *yaml.Node
	idle    *yaml.Node
	userAt  []*yaml.Node // where each of to.Users is
	tokenAt []*yaml.Node
}

func (a *accessDraft) rule() rule {
	return noting(section("access",
		field{"users", noting(a.usersRule(), &a.who[0])},
		field{"tokens", noting(a.tokensRule(), &a.who[1])},
		field{"oidc", noting(a.oidcRule(), &a.who[2])},
		field{"session", section("session",
			field{"secret", noting(text(&a.to.Session.Secret), &a.secret)},
			field{"idle", noting(duration(&a.to.Session.Idle, time.Minute), &a.idle)},
			field{"lifetime", duration(&a.to.Session.Lifetime, time.Minute)})}), &a.node)
}

// open reports whether nobody is asked who they are, as far as the file tells: what
// is wrong with somebody is said there.
func (a *accessDraft) open() bool {
	return !slices.ContainsFunc(a.who[:], func(n *yaml.Node) bool { return n != nil && len(n.Content) > 0 })
}

func grantFields(g *Grant) []field {
	groups := words(&g.Groups)
	take := groups.take
	groups.take = func(d *decoder, key string, n *yaml.Node) {
		if take(d, key, n); len(n.Content) == 0 { // nobody should find out that this means all
			d.fault(n, "groups: expected at least one, or no such key for the tasks of all groups")
		}
	}
	return []field{{"role", choice(&g.Role, ax.Roles()...)}, {"groups", groups}}
}

func (a *accessDraft) usersRule() rule {
	var u AccessUser
	var at, hash *yaml.Node
	elem := object("a user", append([]field{{"name", name(&u.Name)}, {"password_hash", noting(text(&u.PasswordHash), &hash)}}, grantFields(&u.Grant)...),
		func(n *yaml.Node) { u, at, hash = AccessUser{}, n, nil }, "name", "password_hash", "role")
	check := elem.take
	elem.take = func(d *decoder, key string, n *yaml.Node) {
		check(d, key, n)
		if hash != nil && hash.Tag == "!!str" {
			d.checkPasswordHash(u.PasswordHash, hash)
		}
	}
	return listOf(elem, func() { a.to.Users, a.userAt = nil, nil }, func() {
		a.to.Users, a.userAt = append(a.to.Users, u), append(a.userAt, at)
	})
}

// checkPasswordHash wants what "ax passwd" prints. It does not show what is there,
// which may be a password.
func (d *decoder) checkPasswordHash(hash string, n *yaml.Node) {
	d.secret(hash)
	switch cost, err := bcrypt.Cost([]byte(hash)); {
	case err != nil || len(hash) != 60:
		d.fault(n, "password_hash: expected a hash of bcrypt, such as \"ax passwd\" prints")
	case cost < minHashCost || cost > maxHashCost:
		d.fault(n, "password_hash: expected a cost from %d to %d, got %d: make a new one with \"ax passwd\"", minHashCost, maxHashCost, cost)
	}
}

func (a *accessDraft) tokensRule() rule {
	var t AccessToken
	var at, sum, expires *yaml.Node
	elem := object("a token", append([]field{{"name", name(&t.Name)}, {"sha256", noting(text(&t.SHA256), &sum)}},
		append(grantFields(&t.Grant), field{"expires", later(rule{kind: kindInstant}, &expires)})...),
		func(n *yaml.Node) { t, at, sum, expires = AccessToken{}, n, nil, nil }, "name", "sha256", "role")
	check := elem.take
	elem.take = func(d *decoder, key string, n *yaml.Node) {
		check(d, key, n)
		if t.SHA256 = strings.ToLower(t.SHA256); sum != nil && sum.Tag == "!!str" && !sha256Form.MatchString(t.SHA256) {
			d.fault(sum, "sha256: expected the 64 hex digits that \"ax token\" prints")
		}
		if expires != nil {
			d.readExpires(&t, expires)
		}
	}
	return listOf(elem, func() { a.to.Tokens, a.tokenAt = nil, nil }, func() {
		a.to.Tokens, a.tokenAt = append(a.to.Tokens, t), append(a.tokenAt, at)
	})
}

func (d *decoder) readExpires(t *AccessToken, n *yaml.Node) {
	at, err := ParseInstant(n.Value, time.UTC)
	if err != nil || n.Tag != "!!str" && n.Tag != "!!timestamp" {
		d.mismatch(&rule{kind: kindInstant}, "expires", n)
		return
	}
	t.Expires = at
	if now := d.options.Now; !now.IsZero() && !at.After(now) {
		d.warn(d.at(n), "the token %s has expired: remove it", t.Name)
	}
}

func (a *accessDraft) oidcRule() rule {
	o := &OIDC{Label: "OpenID Connect", Scopes: []string{"profile", "email"}, NameClaim: "preferred_username", RoleClaim: "groups"}
	var g OIDCGrant
	var issuer, secret *yaml.Node
	grant := object("a grant", append([]field{{"value", text(&g.Value)}}, grantFields(&g.Grant)...), func(*yaml.Node) { g = OIDCGrant{} }, "value", "role")
	fields := []field{
		{"issuer", noting(text(&o.Issuer), &issuer)},
		{"client_id", text(&o.ClientID)},
		{"client_secret", noting(text(&o.ClientSecret), &secret)},
		{"label", text(&o.Label)},
		{"scopes", listOfText(&o.Scopes)},
		{"name_claim", text(&o.NameClaim)},
		{"role_claim", text(&o.RoleClaim)},
		{"grants", listOf(grant, func() { o.Grants = nil }, func() { o.Grants = append(o.Grants, g) })},
	}
	r := object("oidc", fields, func(n *yaml.Node) { a.to.OIDC, a.oidc = o, n }, "issuer", "client_id", "grants")
	check := r.take
	r.take = func(d *decoder, key string, n *yaml.Node) {
		check(d, key, n)
		if secret != nil {
			d.secret(o.ClientSecret) // also one that stands in the file itself
		}
		if issuer != nil && issuer.Tag == "!!str" && !issuerForm.MatchString(o.Issuer) {
			d.fault(issuer, "issuer: expected a URL such as https://id.example, got %s", d.show(issuer))
		}
	}
	return r
}

// issuerForm lets a provider without TLS be on this machine only.
var issuerForm = regexp.MustCompile(`^(https://[^/?#@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?)(/[^?#]*)?$`)

// object is a section with keys that it needs; begin is called before they are read.
func object(what string, fields []field, begin func(*yaml.Node), needs ...string) rule {
	return rule{kind: kindObject, fields: fields, needs: needs, take: func(d *decoder, _ string, n *yaml.Node) {
		begin(n)
		d.object(what, n, fields, needs...)
	}}
}

// finishAccess checks how access goes with the rest.
func (d *decoder) finishAccess(a *accessDraft, c *Config) {
	if a.node == nil {
		return
	}
	if a.secret != nil {
		d.secret(a.to.Session.Secret)
		if utf8.RuneCountInString(a.to.Session.Secret) < minSessionSecret {
			d.fault(a.secret, "secret: expected at least %d characters, such as what \"openssl rand -hex 32\" prints", minSessionSecret)
		}
	}
	if a.to.Session.Idle > a.to.Session.Lifetime {
		n := a.idle
		if n == nil {
			n = a.node
		}
		d.fault(n, "idle: expected at most the lifetime of a session")
	}
	unique(d, "user", a.userAt, func(i int) string { return a.to.Users[i].Name })
	unique(d, "token", a.tokenAt, func(i int) string { return a.to.Tokens[i].Name })
	logins := len(a.to.Users) > 0 || a.to.OIDC != nil
	if logins && c.Store.Shared() && a.to.Session.Secret == "" && c.Cluster.Secret == "" {
		d.fault(a.node, "hosts that share a database must know one another's sessions: write session: {secret: …} with the same text for all of them, or cluster: {secret: …}")
	}
	if a.to.OIDC != nil && (c.HTTP.PublicURL == "" || c.HTTP.Origin() != c.HTTP.PublicURL) {
		d.fault(a.oidc, "oidc: the provider sends browsers back to a fixed URL: write http: {public_url: https://HOST}, without a path")
	}
}

func unique(d *decoder, what string, nodes []*yaml.Node, name func(i int) string) {
	seen := map[string]bool{}
	for i, n := range nodes {
		if seen[name(i)] {
			d.fault(n, "there is another %s %q: rename one of them", what, name(i))
		}
		seen[name(i)] = true
	}
}
