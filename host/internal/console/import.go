package console

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/axsched/ax/host/internal/api"
)

// maxUpload bounds a file of holidays, as the host does.
const maxUpload = 1 << 20

// importData is what a file would change about a calendar.
type importData struct {
	Check api.CalendarCheck
	Name  string // of the calendar
	File  string // as it was uploaded
	// Refused says what is wrong with the file.
	Refused *failure
}

// checkCalendar shows which due times an uploaded file would move.
func (s *console) checkCalendar(w http.ResponseWriter, r *http.Request) {
	if err := s.showImport(w, r); err != nil {
		s.fail(w, r, err)
	}
}

func (s *console) showImport(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseMultipartForm(maxUpload); err != nil {
		return badRequest("The form cannot be read.")
	}
	file, header, err := r.FormFile("content")
	if err != nil {
		return badRequest("No file is chosen.")
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxUpload+1))
	if err != nil || len(content) > maxUpload {
		return badRequest("The file is too large.")
	}
	p := s.newPage(r)
	d := importData{Name: r.PathValue("name"), File: header.Filename}
	status := http.StatusOK
	d.Check, err = s.backend.CheckCalendar(r.Context(), d.Name, r.PostForm.Get("file"), content)
	if _, invalid := errors.AsType[*api.Invalid](err); invalid {
		f := s.failureOf(r, p, err)
		d.Refused, status = &f, f.Status
	} else if err != nil {
		return err
	}
	p.Here, p.Data = "/calendars/"+d.Name, d
	s.render(w, r, status, "import", p)
	return nil
}

// filesOf returns the files that a calendar reads.
func (s *console) filesOf(r *http.Request, name string) ([]string, error) {
	all, err := s.backend.ListCalendars(r.Context())
	i := slices.IndexFunc(all, func(c api.CalendarView) bool { return c.Name == name })
	if err != nil || i < 0 {
		return nil, err
	}
	return all[i].Files, nil
}
