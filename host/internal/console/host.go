package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

const auditOnPage = 60

func (s *console) hostRoutes() {
	get(s, "/nodes", "nodes", func(r *http.Request, _ *page) (api.NodeList, error) { return s.backend.ListNodes(r.Context()) })
	get(s, "/plugins", "plugins", func(r *http.Request, _ *page) ([]api.PluginView, error) { return s.backend.Plugins(r.Context()) })
	get(s, "/audit", "audit", s.audit)
	s.change("/plugins/{name}/reset", s.resetPlugin)
	s.change("/nodes/{incarnation}/drain", s.drain)
	s.change("/reload", s.reload)
}

func (s *console) resetPlugin(r *http.Request, v Viewer) (string, error) {
	return "/plugins?note=reset", s.backend.ResetPlugin(r.Context(), r.PathValue("name"), v.Name)
}

// drain takes a host out of scheduling, or lets it take part again.
func (s *console) drain(r *http.Request, v Viewer) (string, error) {
	undo := r.PostForm.Get("undo") != ""
	note := "drained"
	if undo {
		note = "undrained"
	}
	_, err := s.backend.Drain(r.Context(), r.PathValue("incarnation"), api.DrainOptions{Undo: undo, Actor: v.Name})
	return "/nodes?note=" + note, err
}

// reload reads the configuration again; its faults are shown.
func (s *console) reload(r *http.Request, v Viewer) (string, error) {
	_, err := s.backend.Reload(r.Context(), v.Name)
	return "/nodes?note=reloaded", err
}

// auditData is what the page about changes shows.
type auditData struct {
	Rows   []ax.AuditRow
	Object string
	Pager  pager
}

func (s *console) audit(r *http.Request, _ *page) (auditData, error) {
	if err := r.ParseForm(); err != nil {
		return auditData{}, badRequest("The form cannot be read.")
	}
	d := auditData{Object: strings.TrimSpace(r.Form.Get("object"))}
	f := ax.AuditFilter{Object: d.Object, Limit: auditOnPage}
	if before := r.Form.Get("before"); before != "" {
		id, err := strconv.ParseInt(before, 10, 64)
		if err != nil {
			return d, errNoPage
		}
		f.Before = id
	}
	var err error
	if d.Rows, err = s.backend.AuditTrail(r.Context(), f); err != nil {
		return d, err
	}
	if n := len(d.Rows); n > 0 {
		d.Pager = older(r, n, auditOnPage, strconv.FormatInt(d.Rows[n-1].ID, 10))
	}
	return d, nil
}
