// Package console serves the pages on which people look at a host and steer it:
// HTML made on the server, in English and Chinese, which also works without
// scripts. Scripts only keep pages fresh. Nothing is loaded from elsewhere.
//
// What the pages show and do comes from a Backend. A change is a POST of a form;
// that it comes from a page of this host is for the server around to check.
package console

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
)

//go:embed static templates locale
var files embed.FS

// Config is what New needs; all fields but Viewer and Now are required.
type Config struct {
	Backend Backend
	Log     hclog.Logger
	// Zone is the one in which times are shown that belong to no task.
	Zone *time.Location
	// Viewer tells who looks at a page; nil lets everybody do everything.
	Viewer func(*http.Request) Viewer
	// Now is the clock; nil is that of the machine.
	Now func() time.Time
}

// console holds what the handlers share.
type console struct {
	backend Backend
	log     hclog.Logger
	zone    *time.Location
	now     func() time.Time
	viewer  func(*http.Request) Viewer
	words   map[string]catalog // by language
	pages   map[string]pageSet // by language
	assets  map[string]string  // hashes of static files by name
	mux     *http.ServeMux
}

// New returns the handler of all pages. It fails if what is built into the
// program contradicts itself, which only a change of this package can cause.
func New(c Config) (http.Handler, error) {
	s := &console{backend: c.Backend, log: c.Log, zone: c.Zone, now: c.Now, viewer: c.Viewer, mux: http.NewServeMux()}
	if s.now == nil {
		s.now = time.Now
	}
	if s.viewer == nil {
		s.viewer = func(*http.Request) Viewer { return Viewer{Name: "console", Role: RoleAdmin} }
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
	return http.HandlerFunc(s.serve), nil
}

// policy lets pages load what this host serves, and nothing that stands in the
// page itself is run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (s *console) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.fail(w, r, errNoPage)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// get shows a page, whose data load finds, to whoever may see it.
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

// change takes a form that changes something, of a viewer who has the role. It
// answers with the page that do returns.
func (s *console) change(path string, role Role, do func(*http.Request, Viewer) (to string, err error)) {
	s.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		viewer := s.viewer(r)
		if !viewer.Role.atLeast(role) {
			s.fail(w, r, errForbidden)
			return
		}
		if err := r.ParseForm(); err != nil {
			s.fail(w, r, badRequest("The form cannot be read."))
			return
		}
		to, err := do(r, viewer)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
}
