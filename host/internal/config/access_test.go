package config

import (
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

const someHash = "$2a$12$MQqRtaHyD4rP2pMgG0gRMuQ6mC1nPl2MJSBj8wTPzWEtYBOyi0VJq"

func TestAccess(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	sum := strings.Repeat("0123456789abcdef", 4)
	c := load(t, map[string]string{"config.yaml": `app: a
http:
  listen: "0.0.0.0:8443"
  public_url: https://ax.example
  tls: {cert: tls/cert.pem, key: tls/key.pem}
  trusted_proxies: [127.0.0.1, "10.1.2.3/8"]
access:
  users:
    - {name: ann, password_hash: "` + someHash + `", role: admin}
    - {name: bob, password_hash: "${file:bob}", role: viewer, groups: billing}
  tokens:
    - {name: ci, sha256: ` + strings.ToUpper(sum) + `, role: operator, groups: [billing, other], expires: 2027-01-01}
  oidc:
    issuer: https://id.example/realms/main
    client_id: ax
    client_secret: stands in the file itself
    grants: [{value: staff, role: viewer}]
  session: {secret: "0123456789abcdef0123456789abcdef", idle: 30m, lifetime: 8h}
`, "bob": someHash + "\n", "tls/cert.pem": cert, "tls/key.pem": key})
	dir := filepath.Dir(c.Files[0])
	want := Access{
		Users: []AccessUser{
			{Name: "ann", PasswordHash: someHash, Grant: Grant{Role: ax.RoleAdmin}},
			{Name: "bob", PasswordHash: someHash, Grant: Grant{Role: ax.RoleViewer, Groups: []string{"billing"}}},
		},
		Tokens: []AccessToken{{
			Name: "ci", SHA256: sum, Grant: Grant{Role: ax.RoleOperator, Groups: []string{"billing", "other"}}, Expires: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		}},
		OIDC: &OIDC{
			Issuer: "https://id.example/realms/main", ClientID: "ax", ClientSecret: "stands in the file itself", Label: "OpenID Connect",
			Scopes: []string{"profile", "email"}, NameClaim: "preferred_username", RoleClaim: "groups",
			Grants: []OIDCGrant{{Value: "staff", Grant: Grant{Role: ax.RoleViewer}}},
		},
		Session: Session{Secret: "0123456789abcdef0123456789abcdef", Idle: 30 * time.Minute, Lifetime: 8 * time.Hour},
	}
	if !reflect.DeepEqual(c.Access, want) {
		t.Errorf("got\n%+v\nwant\n%+v", c.Access, want)
	}
	wantHTTP := HTTP{
		Listen: "0.0.0.0:8443", PublicURL: "https://ax.example", TLS: &ServerTLS{Cert: dir + "/tls/cert.pem", Key: dir + "/tls/key.pem"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8")},
	}
	if !reflect.DeepEqual(c.HTTP, wantHTTP) || !c.HTTP.Secure() || c.HTTP.Scheme() != "https" || c.HTTP.Origin() != "https://ax.example" {
		t.Errorf("HTTP: %+v", c.HTTP)
	}
	for _, secret := range []string{someHash, "stands in the file itself", "0123456789abcdef0123456789abcdef"} {
		if !slices.Contains(c.Secrets, secret) {
			t.Errorf("%q is no secret", secret)
		}
	}
	if len(c.Warnings) != 0 || c.Access.Open() {
		t.Errorf("warnings %v, open %v", c.Warnings, c.Access.Open())
	}
}

func TestNoAccess(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": "app: a\n"})
	if !reflect.DeepEqual(c.Access, Access{Session: Session{Idle: time.Hour, Lifetime: 12 * time.Hour}}) || !c.Access.Open() || c.HTTP.Secure() {
		t.Errorf("%+v", c.Access)
	}
}

// TestAccessWarnings: what travels in the clear, and what is over, is warned of.
func TestAccessWarnings(t *testing.T) {
	t.Parallel()
	c := load(t, map[string]string{"config.yaml": `app: a
http: {listen: "10.0.0.7:8090"}
access: {tokens: [{name: ci, sha256: ` + strings.Repeat("0123456789abcdef", 4) + `, role: viewer, expires: 2020-01-01}]}
`})
	var texts []string
	for _, w := range c.Warnings {
		texts = append(texts, w.Message)
	}
	if all := strings.Join(texts, "\n"); len(texts) != 2 || !strings.Contains(all, "can be read on the way") || !strings.Contains(all, "the token ci has expired") {
		t.Errorf("warnings: %q", texts)
	}
}
