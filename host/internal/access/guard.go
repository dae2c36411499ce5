package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// ActorHeader carries the name of the caller to the handlers. What a client says
// there is believed where everybody may do everything, and else overwritten.
const ActorHeader = "Ax-Actor"

// Around returns the site with the guard around it: the one place that decides.
func (g *Guard) Around(site Site) http.Handler {
	rules := Rules()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		st := g.state.Load()
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if st.Open && !isLoopbackName(r.Host) {
			site.Refuse(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("this host is not known as %q; call it by its address", r.Host))
			return
		}
		if st.Open && forwarded(r) {
			site.Refuse(w, r, http.StatusForbidden, "a proxy leads here, by which everybody could do everything: say in the configuration who has access")
			return
		}
		if st.origins.Check(r) != nil {
			site.Refuse(w, r, http.StatusForbidden, "a page of another origin may not change anything here")
			return
		}
		pattern := site.Pattern(r)
		rule, known := rules[pattern]
		if !known {
			rule = viewer // to see that there is nothing
		}
		caller, again, err := g.caller(st, w, r)
		switch {
		case pattern != "" && !known:
			g.log.Error("a route has no rule, so nobody may use it", "route", pattern)
			site.Refuse(w, r, http.StatusForbidden, "nobody may do this")
		case rule.Role == "":
			site.ServeHTTP(w, g.named(st, r, caller, err))
		case err != nil:
			g.unknown(w, r, site, err)
		case !caller.Role.AtLeast(rule.Role):
			g.forbid(w, g.named(st, r, caller, nil), site, denial{caller, pattern, "the role " + string(rule.Role) + " is needed for this"})
		case rule.Whole && caller.Restricted():
			g.forbid(w, g.named(st, r, caller, nil), site, denial{caller, pattern, "this concerns all tasks, not only those of your groups"})
		default:
			live, done := g.calls.begin(g.named(st, r, caller, nil), caller, again)
			defer done()
			if now := g.state.Load(); now != st { // changed since it was looked at
				g.calls.review(now)
			}
			site.ServeHTTP(w, live)
		}
	})
}

// named hands the caller on to the handlers.
func (g *Guard) named(st *state, r *http.Request, caller ax.Caller, err error) *http.Request {
	if !st.Open {
		r.Header.Del(ActorHeader)
	}
	if err != nil {
		return r
	}
	if !st.Open {
		r.Header.Set(ActorHeader, caller.Name)
	}
	return r.WithContext(ax.WithCaller(r.Context(), caller))
}

// unknown answers somebody who did not say who they are, or not so that it can be
// believed: a browser is led to the login.
func (g *Guard) unknown(w http.ResponseWriter, r *http.Request, site Site, err error) {
	if bad, ok := errors.AsType[*badTokenError](err); ok {
		g.trail.refused(r.Context(), g.now(), ax.AuditRow{Actor: "unknown", Action: "access.bad_token", Object: bad.why}, g.address(r))
	}
	if !site.Page(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="ax"`)
		site.Refuse(w, r, http.StatusUnauthorized, err.Error())
		return
	}
	login := "/login"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		login += "?back=" + url.QueryEscape(r.URL.RequestURI())
	}
	if r.Header.Get("HX-Request") != "" { // a part of a page: the whole page goes
		w.Header().Set("HX-Redirect", "/login")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, login, http.StatusSeeOther)
}

// denial is something that a caller may not do.
type denial struct {
	caller ax.Caller
	route  string
	reason string
}

func (g *Guard) forbid(w http.ResponseWriter, r *http.Request, site Site, d denial) {
	g.log.Info("refused", "caller", d.caller.Name, "role", d.caller.Role, "route", d.route, "address", g.address(r))
	object := d.route
	if object == "" {
		object = "no route"
	}
	g.trail.refused(r.Context(), g.now(), ax.AuditRow{Actor: d.caller.Name, Action: "access.denied", Object: object}, g.address(r))
	site.Refuse(w, r, http.StatusForbidden, d.reason)
}

// Denied notes what a caller may not do for a reason that the route does not tell.
func (g *Guard) Denied(ctx context.Context, object string) {
	c := ax.CallerOf(ctx)
	g.log.Info("refused", "caller", c.Name, "role", c.Role, "object", object)
	g.trail.refused(ctx, g.now(), ax.AuditRow{Actor: c.Name, Action: "access.denied", Object: object}, "")
}

// address is where a request comes from: what a proxy says that is believed, or
// else the other end of the connection.
func (g *Guard) address(r *http.Request) string { return addressOf(r, g.state.Load().Proxies) }

func addressOf(r *http.Request, proxies []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	// The last hop was written by the nearest proxy: go back while it is believed.
	for i := len(hops) - 1; i >= 0 && believed(host, proxies); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		host = hop.Unmap().String()
	}
	return host
}

func believed(host string, proxies []netip.Prefix) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	for _, p := range proxies {
		if p.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}

// forwarded reports whether a request came through a proxy, as most of them tell.
func forwarded(r *http.Request) bool {
	return slices.ContainsFunc([]string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-Host"}, func(name string) bool { return r.Header.Get(name) != "" })
}

// isLoopbackName reports whether a Host header is an address or localhost. An
// attacker's page can make its own DNS name point here, but not these.
func isLoopbackName(header string) bool {
	name := header
	if host, _, err := net.SplitHostPort(header); err == nil {
		name = host
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost"
}

// within returns a context for a row of the audit trail, which must not hold a
// request up for long.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
}
