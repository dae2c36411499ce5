package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Router is a ServeMux that knows its routes.
type Router struct {
	http.ServeMux
	patterns []string
}

// NewRouter returns a Router without routes.
func NewRouter() *Router { return &Router{} }

// Handle adds a route.
func (m *Router) Handle(pattern string, handler http.Handler) {
	m.patterns = append(m.patterns, pattern)
	m.ServeMux.Handle(pattern, handler)
}

// HandleFunc adds a route.
func (m *Router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, http.HandlerFunc(handler))
}

// Patterns returns all routes, as they were added.
func (m *Router) Patterns() []string { return slices.Clone(m.patterns) }

// Pattern returns the route that serves a request, empty if there is none.
func (m *Router) Pattern(r *http.Request) string {
	_, pattern := m.Handler(r)
	return pattern
}

// Pages is what serves people.
type Pages interface {
	http.Handler
	Patterns() []string
	Pattern(r *http.Request) string
	// Refuse shows a page with a status and the reason for it.
	Refuse(w http.ResponseWriter, r *http.Request, status int, reason string)
}

// Site is all that a host serves: the API, the metrics, and the pages if there are
// any.
type Site struct {
	*server
	handler http.Handler
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Patterns returns the routes of all parts.
func (s *Site) Patterns() []string {
	all := s.mux.Patterns()
	if s.pages != nil {
		all = append(all, s.pages.Patterns()...)
	}
	return all
}

// Pattern returns the route that serves a request, empty if there is none.
func (s *Site) Pattern(r *http.Request) string {
	if pattern := s.mux.Pattern(r); pattern != "" || !s.isPage(r) {
		return pattern
	}
	return s.pages.Pattern(r)
}

// Page reports whether people see what answers a request.
func (s *Site) Page(r *http.Request) bool { return s.mux.Pattern(r) == "" && s.isPage(r) }

// isPage reports whether the pages answer what is no route of the API.
func (s *server) isPage(r *http.Request) bool {
	return s.pages != nil && !strings.HasPrefix(r.URL.Path, "/api/")
}

// Refuse answers with a problem document, or with a page to people.
func (s *Site) Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	if s.Page(r) {
		s.pages.Refuse(w, r, status, reason)
		return
	}
	writeProblem(w, huma.NewError(status, reason))
}
