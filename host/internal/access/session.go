package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// session is what a cookie holds. It is signed, not encrypted: nothing in it is a
// secret.
type session struct {
	ID   string    `json:"id"` // random
	Name string    `json:"name"`
	From time.Time `json:"from"` // when the login was
	Last time.Time `json:"last"` // when it was used, as of the last cookie
	// Of is a fingerprint of what the login rested on: with another password, or
	// other settings of the provider, the session has ended.
	Of string `json:"of"`
	// Role and Groups are those of a login at the provider; a user's own are in the
	// settings.
	Role   ax.Role  `json:"role,omitempty"`
	Groups []string `json:"groups,omitempty"`
	All    bool     `json:"all,omitempty"` // Groups are not what it is restricted to
	OIDC   bool     `json:"oidc,omitempty"`
}

var errSessionOver = errors.New("the session is over: log in again")

// cookieName is the name of the cookie with the session. Browsers take one with
// the prefix __Host- from a secure page of this very host only.
func cookieName(secure bool) string {
	if secure {
		return "__Host-ax_session"
	}
	return "ax_session"
}

func (st *state) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	seconds := int(age.Seconds())
	if value == "" {
		seconds = -1
	}
	// Lax, not Strict: links in messages lead to pages, and need the session.
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set where there is TLS
		Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: st.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// begin starts a session.
func (g *Guard) begin(st *state, w http.ResponseWriter, s session) {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	s.ID, s.From = hex.EncodeToString(raw), g.now()
	g.keep(st, w, s)
}

// keep lets a session go on.
func (g *Guard) keep(st *state, w http.ResponseWriter, s session) {
	s.Last = g.now()
	st.setCookie(w, cookieName(st.Secure), st.seal("session", s), st.Session.Lifetime)
}

// bySession returns whose session a cookie holds.
func (g *Guard) bySession(st *state, w http.ResponseWriter, cookie string) (session, ax.Caller, error) {
	var s session
	if !st.unseal("session", cookie, &s) {
		return s, ax.Caller{}, errSessionOver
	}
	now := g.now()
	if now.Sub(s.Last) >= st.Session.Idle || now.Sub(s.From) >= st.Session.Lifetime || g.ended.has(s.ID) {
		return s, ax.Caller{}, errSessionOver
	}
	caller, ok := st.owner(s)
	if !ok {
		return s, ax.Caller{}, errSessionOver
	}
	if now.Sub(s.Last) >= st.Session.Idle/10 {
		g.keep(st, w, s)
	}
	return s, caller, nil
}

// owner returns whose session it is, unless that rested on what is not so any
// more.
func (st *state) owner(s session) (ax.Caller, bool) {
	if s.OIDC {
		if st.provider == nil || s.Of != st.provider.fingerprint() {
			return ax.Caller{}, false
		}
		c := ax.Caller{Name: s.Name, Role: s.Role, Session: true}
		if !s.All {
			c.Groups = append([]string{}, s.Groups...)
		}
		return c, true
	}
	u := st.users[s.Name]
	if u == nil || s.Of != fingerprint(u.Hash) {
		return ax.Caller{}, false
	}
	return ax.Caller{Name: u.Name, Role: u.Role, Groups: u.Groups, Session: true}, true
}

// fingerprint tells texts apart without telling what they are.
func fingerprint(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Logout ends the session of a request.
func (g *Guard) Logout(w http.ResponseWriter, r *http.Request) {
	st := g.state.Load()
	name := cookieName(st.Secure)
	if cookie, err := r.Cookie(name); err == nil {
		var s session
		if st.unseal("session", cookie.Value, &s) {
			g.ended.add(s.ID, s.From.Add(st.Session.Lifetime), g.now())
			g.calls.review(st)
		}
	}
	st.setCookie(w, name, "", 0)
}

// seal writes a value that only hosts with the same key can have written. What it
// is for is part of that.
func (st *state) seal(purpose string, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // opens nothing
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	return body + "." + base64.RawURLEncoding.EncodeToString(st.sign(purpose, body))
}

// unseal reads what seal wrote.
func (st *state) unseal(purpose, sealed string, v any) bool {
	body, mark, _ := strings.Cut(sealed, ".")
	given, err := base64.RawURLEncoding.DecodeString(mark)
	if err != nil || len(st.Session.Key) == 0 || !hmac.Equal(given, st.sign(purpose, body)) {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	return err == nil && json.Unmarshal(text, v) == nil
}

func (st *state) sign(purpose, body string) []byte {
	mac := hmac.New(sha256.New, st.Session.Key)
	mac.Write([]byte("ax " + purpose + "\x00" + body))
	return mac.Sum(nil)
}

// ended are the sessions that were ended on this host before their time.
type ended struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func newEnded() *ended { return &ended{until: map[string]time.Time{}} }

func (e *ended) add(id string, until, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for other, at := range e.until {
		if !now.Before(at) {
			delete(e.until, other)
		}
	}
	e.until[id] = until
}

func (e *ended) has(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, found := e.until[id]
	return found
}
