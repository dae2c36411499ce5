package host

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/axsched/ax/host/internal/access"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/config"
)

// sessionKeyFile is where a host by itself keeps what it signs sessions with.
const sessionKeyFile = "session.key"

// HashPassword returns what the configuration has of a user's password.
func HashPassword(password string) (string, error) { return access.HashPassword(password) }

// NewToken returns a new token, and what the configuration has of it.
func NewToken() (token, sha256 string) { return access.NewToken() }

// openAccess makes the guard around all that is served.
func (h *Host) openAccess() error {
	settings, err := h.accessSettings(h.live.Load().cfg)
	if err != nil {
		return err
	}
	h.guard = access.New(access.Config{
		Settings: settings, Log: h.log.Named("access"), Now: time.Now,
		Trail: func(ctx context.Context, row ax.AuditRow) error {
			row.App = h.live.Load().cfg.App
			return h.store.Audit(ctx, row)
		},
	})
	h.gate = h.mayDefineTask
	if settings.Open {
		h.log.Info("access is open: there are no users and no tokens, so everybody on this machine may do everything; see docs/access.md")
	}
	return nil
}

// mayDefineTask is the gate of definitions.
func (h *Host) mayDefineTask(ctx context.Context, group string, commands bool) error {
	c := ax.CallerOf(ctx)
	if c.MayDefine(group, commands) {
		return nil
	}
	reason := "tasks of this group are not yours"
	if c.Sees(group) {
		reason = "a task that runs commands takes the role admin"
	}
	h.guard.Denied(ctx, "task of group "+group+": "+reason)
	return &api.Forbidden{Reason: reason}
}

// guarded puts the guard around a site.
func (h *Host) guarded(site *api.Site) http.Handler { return h.guard.Around(site) }

// prepareAccess returns what puts in force who may do what by a configuration.
func (h *Host) prepareAccess(cfg *config.Config) (apply func(), err error) {
	if h.guard == nil {
		return func() {}, nil // there is no API
	}
	settings, err := h.accessSettings(cfg)
	return func() { h.guard.Apply(settings) }, err
}

func (h *Host) accessSettings(cfg *config.Config) (access.Settings, error) {
	a := &cfg.Access
	s := access.Settings{
		Secure: cfg.HTTP.Secure(), URL: cfg.HTTP.Origin(), Proxies: cfg.HTTP.TrustedProxies,
		// Where it listens counts, not what a changed file says about that.
		Open:    a.Open() && onLoopback(h.listener),
		Session: access.Session{Idle: a.Session.Idle, Lifetime: a.Session.Lifetime},
	}
	for _, u := range a.Users {
		s.Users = append(s.Users, access.User{Name: u.Name, Hash: u.PasswordHash, Role: u.Role, Groups: u.Groups})
	}
	for _, t := range a.Tokens {
		s.Tokens = append(s.Tokens, access.Token{Name: t.Name, SHA256: t.SHA256, Role: t.Role, Groups: t.Groups, Expires: t.Expires})
	}
	if o := a.OIDC; o != nil {
		p := access.Provider{
			Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, Label: o.Label, Scopes: o.Scopes,
			NameClaim: o.NameClaim, RoleClaim: o.RoleClaim,
		}
		for _, g := range o.Grants {
			p.Grants = append(p.Grants, access.Grant{Value: g.Value, Role: g.Role, Groups: g.Groups})
		}
		s.Provider = &p
	}
	if len(s.Users) == 0 && s.Provider == nil {
		return s, nil
	}
	var err error
	s.Session.Key, err = sessionKey(cfg)
	return s, err
}

// sessionKey returns what sessions are signed with: hosts that share a secret have
// the same.
func sessionKey(cfg *config.Config) ([]byte, error) {
	for _, secret := range []string{cfg.Access.Session.Secret, cfg.Cluster.Secret} {
		if secret != "" {
			return hkdf.Key(sha256.New, []byte(secret), nil, "ax sessions of "+cfg.App, sha256.Size)
		}
	}
	path := filepath.Join(cfg.DataDir, sessionKeyFile)
	key, err := os.ReadFile(path)
	switch {
	case err == nil && len(key) == sha256.Size:
		return key, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the key of sessions: %w", err)
	}
	key = make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	if err := os.WriteFile(path, key, 0o600); err != nil {
		return nil, fmt.Errorf("keep the key of sessions: %w", err)
	}
	return key, nil
}

// onLoopback reports whether only this machine reaches a listener.
func onLoopback(l net.Listener) bool {
	if l == nil {
		return false
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// withTLS returns the listener with TLS, if that is configured.
func (h *Host) withTLS(l net.Listener) (net.Listener, error) {
	files := h.live.Load().cfg.HTTP.TLS
	if files == nil {
		return l, nil
	}
	certificate, err := access.LoadCertificate(files.Cert, files.Key, h.log.Named("access"))
	if err != nil {
		return nil, err
	}
	settings := certificate.TLS()
	settings.NextProtos = []string{"h2", "http/1.1"}
	return tls.NewListener(l, settings), nil
}
