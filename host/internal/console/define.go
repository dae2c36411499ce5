package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/axsched/ax/host/internal/api"
)

func (s *console) defineRoutes() {
	get(s, "/define", "define", s.newTask)
	get(s, "/tasks/{name}/edit", "define", s.editTask)
	get(s, "/tasks/{name}/delete", "delete", s.askDelete)
	s.post("/define", s.submitTask)
	s.post("/tasks/{name}/edit", s.submitTask)
	s.post("/define/preview", s.previewTask)
	s.change("/tasks/{name}/delete", s.deleteTask)
}

// post takes a form that is answered with a page of its own.
func (s *console) post(path string, answer func(http.ResponseWriter, *http.Request, Viewer) error) {
	s.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		err := r.ParseForm()
		if err != nil {
			err = badRequest("The form cannot be read.")
		} else {
			err = answer(w, r, viewerOf(r))
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// newTask is an empty form, or one with a copy of a task.
func (s *console) newTask(r *http.Request, p *page) (*defineForm, error) {
	query := r.URL.Query()
	original := query.Get("copy")
	if original == "" {
		f, err := s.newForm(r.Context(), p, query.Get("job"), "")
		if err != nil {
			return nil, err
		}
		f.AsText = query.Has("text")
		return f, nil
	}
	d, err := s.backend.Definition(r.Context(), original)
	if err != nil {
		return nil, err
	}
	f, err := s.formOf(r.Context(), p, d)
	if err != nil {
		return nil, err
	}
	f.Name, f.Version, f.AsText = "", 0, query.Has("text")
	for i := range f.About {
		if f.About[i].Key == "name" {
			f.About[i].Value += "-2"
		}
	}
	return f, nil
}

// editTask is the form of a task that was made here.
func (s *console) editTask(r *http.Request, p *page) (*defineForm, error) {
	d, err := s.backend.Definition(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	if d.Source != api.SourceConsole {
		return nil, &api.Conflict{Reason: p.T("The task %q is defined in %s: it is changed there.", d.Name, d.Source)}
	}
	f, err := s.formOf(r.Context(), p, d)
	if err != nil {
		return nil, err
	}
	f.AsText = r.URL.Query().Has("text")
	check, err := s.backend.CheckTask(r.Context(), []byte(d.YAML), d.Name)
	f.Check = &check
	return f, err
}

// formOf makes the form of a definition.
func (s *console) formOf(ctx context.Context, p *page, d api.Definition) (*defineForm, error) {
	t := parseTree(d.YAML)
	job, _ := t.take("job.use", "line")
	trigger, _ := t.take("trigger.use", "line")
	f, err := s.newForm(ctx, p, job, trigger)
	if err != nil {
		return nil, err
	}
	f.Name, f.Version, f.YAML = d.Name, d.Version, d.YAML
	f.show(d.YAML)
	return f, nil
}

// sent is what a form says.
type sent struct {
	form   *defineForm
	text   string // the definition
	masked string // without secrets that were written down
	faults []api.TaskFault
}

// read makes the form anew of what was sent.
func (s *console) read(r *http.Request, name string) (*sent, error) {
	values := r.PostForm
	f, err := s.newForm(r.Context(), s.newPage(r), strings.TrimSpace(values.Get("job.use")), strings.TrimSpace(values.Get("trigger.use")))
	if err != nil {
		return nil, err
	}
	f.Name = name
	if version := values.Get("version"); version != "" {
		if f.Version, err = strconv.ParseInt(version, 10, 64); err != nil || f.Version < 0 {
			return nil, badRequest("The form cannot be read.")
		}
	}
	if name != "" && f.Version == 0 && r.PathValue("name") != "" {
		return nil, badRequest("The form cannot be read.") // would replace whatever is there
	}
	got := &sent{form: f}
	if values.Has("yaml") {
		f.AsText = true
		f.YAML = strings.ReplaceAll(values.Get("yaml"), "\r\n", "\n")
		got.text, got.masked = f.YAML, f.YAML
		return got, nil
	}
	f.fill(values)
	got.text, got.faults = f.body(values, false)
	got.masked, _ = f.body(values, true)
	f.YAML = got.masked
	return got, nil
}

// submitTask makes or changes a task, or only looks at what the form says.
func (s *console) submitTask(w http.ResponseWriter, r *http.Request, v Viewer) error {
	name := r.PathValue("name")
	got, err := s.read(r, name)
	if err != nil {
		return err
	}
	do := r.PostForm.Get("do")
	switch {
	case do == "choose":
		return s.showForm(w, r, http.StatusOK, got.form)
	case do == "check":
		return s.check(w, r, got)
	case len(got.faults) > 0:
		got.form.blame(s.translated(r, got.faults), false)
		return s.showForm(w, r, http.StatusUnprocessableEntity, got.form)
	}
	var made api.Definition
	note := "made"
	if name == "" {
		made, err = s.backend.CreateTask(r.Context(), []byte(got.text), v.Name)
	} else {
		note = "changed"
		made, err = s.backend.ReplaceTask(r.Context(), name, []byte(got.text), api.Edit{Version: got.form.Version, Actor: v.Name})
	}
	if err != nil {
		return s.refuse(w, r, got, err)
	}
	http.Redirect(w, r, taskPath(made.Name)+"?note="+note, http.StatusSeeOther)
	return nil
}

// translated translates what the form itself finds.
func (s *console) translated(r *http.Request, faults []api.TaskFault) []api.TaskFault {
	p := s.newPage(r)
	for i := range faults {
		faults[i].Message = p.T(faults[i].Message)
	}
	return faults
}

func (s *console) showForm(w http.ResponseWriter, r *http.Request, status int, f *defineForm) error {
	p := s.newPage(r)
	p.Here, p.Data = "/define", f
	if f.Name != "" {
		p.Here = taskPath(f.Name) + "/edit"
	}
	s.render(w, r, status, "define", p)
	return nil
}

// check shows the form with what is wrong with it, or when the task would be due.
func (s *console) check(w http.ResponseWriter, r *http.Request, got *sent) error {
	check, err := s.backend.CheckTask(r.Context(), []byte(got.text), got.form.Name)
	if err != nil {
		return err
	}
	got.form.Check = &check
	got.form.blame(append(s.translated(r, got.faults), check.Faults...), false)
	return s.showForm(w, r, http.StatusOK, got.form)
}

// refuse shows why a definition was not taken: the form with its faults, or what
// somebody else has made of the task meanwhile.
func (s *console) refuse(w http.ResponseWriter, r *http.Request, got *sent, err error) error {
	if invalid, ok := errors.AsType[*api.Invalid](err); ok {
		var faults []api.TaskFault
		for _, f := range invalid.Faults {
			faults = append(faults, api.TaskFault{Field: strings.TrimPrefix(strings.TrimPrefix(f.Where, "body"), "."), Message: f.Message})
		}
		got.form.blame(faults, false)
		return s.showForm(w, r, http.StatusUnprocessableEntity, got.form)
	}
	if _, ok := errors.AsType[*api.Stale](err); ok {
		return s.showConflict(w, r, got)
	}
	if conflict, ok := errors.AsType[*api.Conflict](err); ok && got.form.Name == "" {
		got.form.Faults = append(got.form.Faults, api.TaskFault{Message: conflict.Reason})
		return s.showForm(w, r, http.StatusConflict, got.form)
	}
	return err
}

// previewTask is the part of the form that is made anew while somebody types.
func (s *console) previewTask(w http.ResponseWriter, r *http.Request, _ Viewer) error {
	got, err := s.read(r, r.PostForm.Get("replaces"))
	if err != nil {
		return err
	}
	check, err := s.backend.CheckTask(r.Context(), []byte(got.text), got.form.Name)
	if err != nil {
		return err
	}
	p := s.newPage(r)
	got.form.Check, p.Data = &check, got.form
	got.form.blame(append(s.translated(r, got.faults), check.Faults...), true)
	s.renderPart(w, http.StatusOK, "define", "live", p)
	return nil
}

// deleteData is what is asked before a task is deleted.
type deleteData struct {
	Definition api.Definition
}

func (s *console) askDelete(r *http.Request, p *page) (deleteData, error) {
	d, err := s.backend.Definition(r.Context(), r.PathValue("name"))
	if err == nil && d.Source != api.SourceConsole {
		err = &api.Conflict{Reason: p.T("The task %q is defined in %s: it is changed there.", d.Name, d.Source)}
	}
	return deleteData{d}, err
}

func (s *console) deleteTask(r *http.Request, v Viewer) (string, error) {
	version, err := strconv.ParseInt(r.PostForm.Get("version"), 10, 64)
	if err != nil || version <= 0 {
		return "", badRequest("The form cannot be read.")
	}
	name := r.PathValue("name")
	return "/tasks?note=deleted", s.backend.DeleteTask(r.Context(), name, api.Edit{Version: version, Actor: v.Name})
}
