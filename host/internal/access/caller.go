package access

import (
	"errors"
	"net/http"
	"strings"

	"github.com/axsched/ax/host/internal/ax"
)

// openCaller is everybody where everybody may do everything.
const openCaller = "console"

var errNoCaller = errors.New("say who you are: log in, or send the header Authorization: Bearer TOKEN")

// badTokenError says that what was shown is no token.
type badTokenError struct{ why string }

func (e *badTokenError) Error() string { return e.why }

// caller returns who asks: whose token it is, or whose session; and what finds that
// out again. A session that is in use goes on, for which the answer gets a new
// cookie.
func (g *Guard) caller(st *state, w http.ResponseWriter, r *http.Request) (ax.Caller, recheck, error) {
	if st.Open {
		everybody := ax.Caller{Name: openCaller, Role: ax.RoleAdmin}
		return everybody, func(st *state) (ax.Caller, bool) { return everybody, st.Open }, nil
	}
	if shown := r.Header.Get("Authorization"); shown != "" {
		c, err := g.byToken(st, shown)
		return c, func(st *state) (ax.Caller, bool) { c, err := g.byToken(st, shown); return c, err == nil }, err
	}
	cookie, err := r.Cookie(cookieName(st.Secure))
	if err != nil {
		return ax.Caller{}, nil, errNoCaller
	}
	s, c, err := g.bySession(st, w, cookie.Value)
	return c, func(st *state) (ax.Caller, bool) { c, ok := st.owner(s); return c, ok && !g.ended.has(s.ID) }, err
}

// byToken returns whose token a header shows.
func (g *Guard) byToken(st *state, header string) (ax.Caller, error) {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ax.Caller{}, &badTokenError{"expected the header Authorization: Bearer TOKEN"}
	}
	// The hash of what is shown is looked up, so how long that takes tells nothing
	// about tokens.
	t := st.tokens[HashToken(strings.TrimSpace(token))]
	switch {
	case t == nil:
		return ax.Caller{}, &badTokenError{"the token is not known"}
	case !t.Expires.IsZero() && !g.now().Before(t.Expires):
		return ax.Caller{}, &badTokenError{"the token " + t.Name + " has expired"}
	}
	return ax.Caller{Name: t.Name + " (token)", Role: t.Role, Groups: t.Groups}, nil
}
