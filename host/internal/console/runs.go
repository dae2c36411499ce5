package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

const (
	runsOnPage = 50
	// logLines is how many of the first events of a run its page has; the rest
	// comes by the live log, or with the download.
	logLines = 1000
	// logPage is how many events of a download are read at once.
	logPage = 1000
)

func (s *console) runRoutes() {
	get(s, "/runs", "runs", s.runs)
	get(s, "/runs/{id}", "run", s.run)
	s.mux.HandleFunc("GET /runs/{id}/log", s.download)
	s.change("/runs/{id}/cancel", s.cancelRun)
	s.change("/runs/{id}/again", s.runAgain)
}

// runsData is what the list of runs shows.
type runsData struct {
	Runs     []ax.Instance
	Task     string
	Status   string
	Statuses []ax.Status
	Pager    pager
}

func (s *console) runs(r *http.Request, _ *page) (runsData, error) {
	if err := r.ParseForm(); err != nil {
		return runsData{}, badRequest("The form cannot be read.")
	}
	d := runsData{Task: r.Form.Get("task"), Status: strings.ToUpper(r.Form.Get("status")), Statuses: ax.Statuses()}
	f := ax.InstanceFilter{Task: d.Task, Limit: runsOnPage}
	if slices.Contains(d.Statuses, ax.Status(d.Status)) {
		f.Statuses = []ax.Status{ax.Status(d.Status)}
	}
	if before := r.Form.Get("before"); before != "" {
		id, err := ax.ParseInstanceID(before)
		if err != nil {
			return d, errNoPage
		}
		f.Before = id
	}
	var err error
	if d.Runs, err = s.backend.Instances(r.Context(), f); err != nil {
		return d, err
	}
	if n := len(d.Runs); n > 0 {
		d.Pager = older(r, n, runsOnPage, d.Runs[n-1].ID.String())
	}
	return d, nil
}

// runData is what the page of a run shows.
type runData struct {
	Run  ax.Instance
	Zone *time.Location // of the task
	// Life are the events without output; Log all of them that are output, of
	// which More follow.
	Life, Log []ax.Event
	More      bool
	Last      int64 // id of the newest event that is shown
	Progress  *ax.Progress
	// Deadline is when the attempt is ended, zero if never.
	Deadline time.Time
}

func (s *console) run(r *http.Request, _ *page) (runData, error) {
	ctx := r.Context()
	run, err := s.instance(r)
	if err != nil {
		return runData{}, err
	}
	d := runData{Run: run, Zone: s.zone, Deadline: run.DeadlineAt}
	if task, err := s.backend.Task(ctx, run.TaskName); err == nil {
		d.Zone = s.zoneOf(&task)
	}
	events, err := s.backend.Events(ctx, ax.EventFilter{Instance: run.ID, Limit: logLines})
	if err != nil {
		return d, err
	}
	d.More = len(events) == logLines
	for _, e := range events {
		d.Last = e.ID
		switch e.Stage {
		case ax.StageOutput:
			d.Log = append(d.Log, e)
		case ax.StageProgress:
			d.Progress = progressOf(e.Text)
		default:
			d.Life = append(d.Life, e)
		}
	}
	if run.Status.Final() {
		d.Progress = nil
	}
	return d, nil
}

// instance is the run that an address names.
func (s *console) instance(r *http.Request) (ax.Instance, error) {
	id, err := ax.ParseInstanceID(r.PathValue("id"))
	if err != nil {
		return ax.Instance{}, &api.NotFound{What: "instance", Name: r.PathValue("id")}
	}
	return s.backend.Instance(r.Context(), id)
}

// progressOf reads how far a run is from the text of its event, "3 of 12 (25 %):
// words"; without a total it is only words.
func progressOf(text string) *ax.Progress {
	p := &ax.Progress{Message: text}
	fields := strings.Fields(text)
	if len(fields) < 3 || fields[1] != "of" {
		return p
	}
	done, err := strconv.ParseInt(fields[0], 10, 64)
	total, err2 := strconv.ParseInt(fields[2], 10, 64)
	if errors.Join(err, err2) == nil && total > 0 {
		p.Done, p.Total = min(done, total), total
	}
	return p
}

func (s *console) cancelRun(r *http.Request, v Viewer) (string, error) {
	run, err := s.instance(r)
	if err != nil {
		return "", err
	}
	return "/runs/" + run.ID.String() + "?note=canceled", s.backend.Cancel(r.Context(), run.ID, v.Name)
}

// runAgain starts the task of a run by hand with the same parameters.
func (s *console) runAgain(r *http.Request, v Viewer) (string, error) {
	run, err := s.instance(r)
	if err != nil {
		return "", err
	}
	o := api.RunOptions{Actor: v.Name}
	if len(run.Params) > 0 {
		if err := json.Unmarshal(run.Params, &o.Params); err != nil {
			return "", badRequest("The parameters are no JSON object.")
		}
	}
	id, err := s.backend.Run(r.Context(), run.TaskName, o)
	return "/runs/" + id.String() + "?note=started", err
}

// download sends the whole log of a run as text, as it is so far.
func (s *console) download(w http.ResponseWriter, r *http.Request) {
	run, err := s.instance(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="run-`+run.ID.String()+`.log"`)
	h.Set("Cache-Control", "no-store")
	f := ax.EventFilter{Instance: run.ID, Limit: logPage}
	for {
		events, err := s.backend.Events(r.Context(), f)
		if err != nil {
			s.log.Error("a log cannot be sent", "instance_id", run.ID, "error", err)
			panic(http.ErrAbortHandler) // or it looks whole
		}
		var text []byte
		for _, e := range events {
			f.After = e.ID
			text = append(text, e.At.In(s.zone).Format("2006-01-02T15:04:05.000Z07:00")+" "+e.Level+" "+string(e.Stage)+" "+e.Text+"\n"...)
		}
		if _, err := w.Write(text); err != nil || len(events) < logPage {
			return
		}
	}
}
