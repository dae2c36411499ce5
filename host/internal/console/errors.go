package console

import (
	"errors"
	"net/http"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// refusal is an error whose text is for the viewer.
type refusal struct {
	status int
	text   string // a key of the catalog
}

func (e *refusal) Error() string { return e.text }

func badRequest(text string) error { return &refusal{http.StatusBadRequest, text} }

var errNoPage = &refusal{http.StatusNotFound, "There is no such page."}

// Refuse implements api.Pages.
func (s *console) Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	protect(w)
	p := s.newPage(r)
	f := failure{Status: status, Text: reason}
	if status == http.StatusForbidden && viewerOf(r).Role != "" {
		f.Text = p.T("Your role does not allow this.")
	}
	p.Data = f
	s.render(w, r, status, "error", p)
}

// failure is what the page about an error shows.
type failure struct {
	Status int
	Text   string
	Faults []api.Fault
}

// fail shows an error. What is not meant for viewers goes to the log only.
func (s *console) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := s.newPage(r)
	f := s.failureOf(r, p, err)
	p.Data = f
	s.render(w, r, f.Status, "error", p)
}

func (s *console) failureOf(r *http.Request, p *page, err error) failure {
	if e, ok := errors.AsType[*refusal](err); ok {
		return failure{Status: e.status, Text: p.T(e.text)}
	}
	if e, ok := errors.AsType[*api.NotFound](err); ok {
		return failure{Status: http.StatusNotFound, Text: e.Error()}
	}
	if e, ok := errors.AsType[*api.Conflict](err); ok {
		return failure{Status: http.StatusConflict, Text: e.Error()}
	}
	if e, ok := errors.AsType[*api.Forbidden](err); ok {
		return failure{Status: http.StatusForbidden, Text: e.Error()}
	}
	if e, ok := errors.AsType[*api.Stale](err); ok {
		return failure{Status: http.StatusPreconditionFailed, Text: e.Error()}
	}
	if e, ok := errors.AsType[*api.Unavailable](err); ok {
		return failure{Status: http.StatusServiceUnavailable, Text: e.Error()}
	}
	if e, ok := errors.AsType[*api.Invalid](err); ok {
		return failure{Status: http.StatusUnprocessableEntity, Text: e.Error(), Faults: e.Faults}
	}
	if errors.Is(err, ax.ErrNotFound) {
		return failure{Status: http.StatusNotFound, Text: p.T("There is no such thing.")}
	}
	if errors.Is(err, ax.ErrUnavailable) || r.Context().Err() != nil {
		return failure{Status: http.StatusServiceUnavailable, Text: p.T("The database does not answer.")}
	}
	s.log.Error("a page cannot be shown", "route", r.Pattern, "error", err)
	return failure{Status: http.StatusInternalServerError, Text: p.T("Internal error; the log of the host tells more.")}
}
