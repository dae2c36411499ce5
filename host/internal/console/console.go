// Package console serves the pages on which people look at a host and steer it:
// HTML made on the server, in English and Chinese, which also works without
// scripts. Scripts only keep pages fresh. Nothing is loaded from elsewhere.
//
// What the pages show and do comes from a Backend. A change is a POST of a form;
// who may see and do what, and that a form comes from a page of this host, is for
// the guard around to check.
package console

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
)

//go:embed static templates locale
var files embed.FS

// Config is what New needs; all fields but Now are required.
type Config struct {
	Backend Backend
	Log     hclog.Logger
	// Zone is the one in which times are shown that belong to no task.
	Zone   *time.Location
	Logins Logins
	// Now is the clock; nil is that of the machine.
	Now func() time.Time
}

// console holds what the handlers share.
type console struct {
	backend Backend
	log     hclog.Logger
	zone    *time.Location
	now     func() time.Time
	logins  Logins
	words   map[string]catalog // by language
	pages   map[string]pageSet // by language
	assets  map[string]string  // hashes of static files by name
	mux     *api.Router
}

// New returns the handler of all pages. It fails if what is built into the
// program contradicts itself, which only a change of this package can cause.
func New(c Config) (api.Pages, error) {
	s := &console{backend: c.Backend, log: c.Log, zone: c.Zone, now: c.Now, logins: c.Logins, mux: api.NewRouter()}
	if s.now == nil {
		s.now = time.Now
	}
	static, err := fs.Sub(files, "static")
	if err != nil {
		return nil, fmt.Errorf("read the static files: %w", err)
	}
	if s.assets, err = hashes(static); err != nil {
		return nil, err
	}
	if s.words, err = loadCatalogs(); err != nil {
		return nil, err
	}
	if s.pages, err = s.parse(); err != nil {
		return nil, err
	}
	s.mux.Handle("GET /static/", http.StripPrefix("/static/", cached(http.FileServerFS(static))))
	s.mux.HandleFunc("POST /preferences", s.setPreferences)
	s.routes()
	return s, nil
}

// policy lets pages load what this host serves, and nothing that stands in the
// page itself is run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Patterns implements api.Pages.
func (s *console) Patterns() []string { return s.mux.Patterns() }

// Pattern implements api.Pages.
func (s *console) Pattern(r *http.Request) string { return s.mux.Pattern(r) }

// ServeHTTP implements http.Handler.
func (s *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w)
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.fail(w, r, errNoPage)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// protect sets the headers that all answers have.
func protect(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// get shows a page, whose data load finds.
func get[T any](s *console, path, name string, load func(*http.Request, *page) (T, error)) {
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		p := s.newPage(r)
		data, err := load(r, p)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		p.Data = data
		s.render(w, r, http.StatusOK, name, p)
	})
}

// change takes a form that changes something, and answers with the page that do
// returns.
func (s *console) change(path string, do func(*http.Request, Viewer) (to string, err error)) {
	s.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			s.fail(w, r, badRequest("The form cannot be read."))
			return
		}
		to, err := do(r, viewerOf(r))
		if err != nil {
			s.fail(w, r, err)
			return
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
}
