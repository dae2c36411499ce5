package access

import (
	"context"
	"hash/maphash"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/axsched/ax/host/internal/ax"
)

// Ways tells how people can log in: with a password, and at a provider, of which
// it returns the name.
func (g *Guard) Ways() (password bool, provider string) {
	st := g.state.Load()
	if st.provider != nil {
		provider = st.Provider.Label
	}
	return len(st.users) > 0, provider
}

// Login starts a session if the password is that of the user. A wait that is not
// zero says that nobody looked, since there were too many attempts.
func (g *Guard) Login(w http.ResponseWriter, r *http.Request, name, password string) (ok bool, wait time.Duration) {
	st, address := g.state.Load(), g.address(r)
	if wait := g.throttle.take(name, address, g.now()); wait > 0 {
		g.failed(r.Context(), name, address, "too many attempts")
		return false, wait
	}
	if !g.compare(r.Context(), st, name, password) {
		g.failed(r.Context(), name, address, "wrong name or password")
		return false, 0
	}
	g.throttle.forgive(name, address)
	g.begin(st, w, session{Name: name, Of: fingerprint(st.users[name].Hash)})
	g.entered(r.Context(), name, address)
	return true, 0
}

// compare reports whether a password is that of a user. For users that do not
// exist it takes as long as for one of the others. It waits for its turn.
func (g *Guard) compare(ctx context.Context, st *state, name, password string) bool {
	if len(st.Users) == 0 {
		return false
	}
	select {
	case g.hashing <- struct{}{}:
		defer func() { <-g.hashing }()
	case <-ctx.Done():
		return false
	}
	u, known := st.users[name]
	if !known {
		u = &st.Users[maphash.String(g.seed, name)%uint64(len(st.Users))]
	}
	return isPassword(u.Hash, password) && known
}

func (g *Guard) entered(ctx context.Context, name, address string) {
	g.log.Info("login", "name", name, "address", address)
	g.trail.add(ctx, g.now(), ax.AuditRow{Actor: name, Action: "access.login", Object: name}, address)
}

func (g *Guard) failed(ctx context.Context, name, address, why string) {
	name = shown(name)
	g.log.Warn("login failed", "name", name, "address", address, "reason", why)
	g.trail.refused(ctx, g.now(), ax.AuditRow{Actor: "unknown", Action: "access.login_failed", Object: name}, address)
}

// shown cuts what strangers write to what may be kept.
func shown(text string) string {
	const longest = 64
	if !utf8.ValidString(text) {
		return "?"
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), longest)])
}
