package access

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/crypto/bcrypt"

	"github.com/axsched/ax/host/internal/ax"
)

// hashes are those of passwords in tests, which need not be hard to guess.
var hashes sync.Map

func hashOf(t *testing.T, password string) string {
	t.Helper()
	if hash, ok := hashes.Load(password); ok {
		return hash.(string)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	hashes.Store(password, string(hash))
	return string(hash)
}

// bed is a guard with a clock and an audit trail of its own.
type bed struct {
	t     *testing.T
	guard *Guard
	site  *site
	mu    sync.Mutex
	at    time.Time
	rows  []ax.AuditRow
}

func newBed(t *testing.T, s Settings) *bed {
	b := &bed{t: t, at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), site: newSite()}
	b.guard = New(Config{Settings: s, Log: hclog.NewNullLogger(), Now: b.now, Trail: func(_ context.Context, row ax.AuditRow) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.rows = append(b.rows, row)
		return nil
	}})
	return b
}

func (b *bed) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

func (b *bed) later(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.at.Add(d)
}

// trail is what the audit trail has of an action.
func (b *bed) trail(action string) []ax.AuditRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.rows), func(r ax.AuditRow) bool { return r.Action != action })
}

// ask sends a request through the guard; header are pairs.
func (b *bed) ask(method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8090", "192.0.2.7:4711"
	for i := 0; i+1 < len(header); i += 2 {
		switch header[i] {
		case "Host":
			r.Host = header[i+1]
		case "From":
			r.RemoteAddr = header[i+1]
		default:
			r.Header.Add(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	b.guard.Around(b.site).ServeHTTP(w, r)
	return w
}

// login tries to log in and returns the cookie of the session.
func (b *bed) login(name, password string) (cookie string, wait time.Duration) {
	return b.loginFrom(name, password, "192.0.2.7:4711")
}

func (b *bed) loginFrom(name, password, address string) (cookie string, wait time.Duration) {
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, "/login", nil)
	r.RemoteAddr = address
	w := httptest.NewRecorder()
	ok, wait := b.guard.Login(w, r, name, password)
	cookie = cookieOf(w)
	if ok != (cookie != "") {
		b.t.Errorf("login: %v with the cookie %q", ok, cookie)
	}
	return cookie, wait
}

// cookieOf is the cookie of a session that an answer sets, as a header of requests.
func cookieOf(w *httptest.ResponseRecorder) string {
	for _, c := range w.Result().Cookies() {
		if strings.HasSuffix(c.Name, "ax_session") {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// site answers with who asked.
type site struct{ mux *http.ServeMux }

func newSite() *site {
	s := &site{http.NewServeMux()}
	for pattern := range Rules() {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c := ax.CallerOf(r.Context())
			_, _ = io.WriteString(w, c.Name+"|"+string(c.Role)+"|"+strings.Join(c.Groups, ",")+"|"+r.Header.Get(ActorHeader))
		})
	}
	s.mux.HandleFunc("GET /forgotten", func(http.ResponseWriter, *http.Request) {})
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *site) Pattern(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	return pattern
}

func (s *site) Refuse(w http.ResponseWriter, _ *http.Request, status int, reason string) {
	http.Error(w, reason, status)
}

func (s *site) Page(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, "/api/") }

// settings have ann, who operates, and bob, who sees the tasks of billing.
func settings(t *testing.T) Settings {
	t.Helper()
	return Settings{
		Users: []User{
			{Name: "ann", Hash: hashOf(t, "correct horse"), Role: ax.RoleOperator},
			{Name: "bob", Hash: hashOf(t, "battery staple"), Role: ax.RoleAdmin, Groups: []string{"billing"}},
		},
		Tokens: []Token{
			{Name: "ci", SHA256: HashToken("ax_ci"), Role: ax.RoleOperator, Groups: []string{"billing"}},
			{Name: "root", SHA256: HashToken("ax_root"), Role: ax.RoleAdmin, Expires: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)},
		},
		Session: Session{Key: []byte("0123456789abcdef0123456789abcdef"), Idle: time.Hour, Lifetime: 12 * time.Hour},
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		URL:     "https://ax.example",
	}
}

// queryOf is the query of an address.
func queryOf(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}
