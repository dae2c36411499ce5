package console

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/axsched/ax/host/internal/api"
)

const (
	tasksOnPage = 50
	// mostPages bounds the numbers of pages that are asked for.
	mostPages = 10_000
)

func (s *console) taskRoutes() {
	get(s, "/tasks", "tasks", s.tasks)
	get(s, "/tasks/{name}", "task", s.task)
	s.change("/tasks", s.changeTasks)
	s.change("/tasks/{name}", s.changeTask)
	s.change("/tasks/{name}/run", s.runTask)
}

// tasksData is what the list of tasks shows.
type tasksData struct {
	TaskPage
	Search TaskSearch
	States []string
	Pager  pager
}

func (s *console) tasks(r *http.Request, p *page) (tasksData, error) {
	if err := r.ParseForm(); err != nil {
		return tasksData{}, badRequest("The form cannot be read.")
	}
	search := TaskSearch{
		Text: r.Form.Get("q"), Group: r.Form.Get("group"), State: r.Form.Get("state"), Job: r.Form.Get("job"),
		Node: r.Form.Get("node"), Page: numberOf(r, "page", mostPages), Size: tasksOnPage,
	}
	found, err := s.backend.FindTasks(r.Context(), search)
	if err != nil {
		return tasksData{}, err
	}
	// What was searched for stays in the lists, also if no task has it.
	for value, list := range map[string]*[]string{search.Group: &found.Groups, search.Job: &found.Jobs, search.Node: &found.Nodes} {
		if value != "" && !slices.Contains(*list, value) {
			*list = append(*list, value)
		}
	}
	return tasksData{
		TaskPage: found, Search: search, States: taskStates(),
		Pager: numbered(r, search.Page, search.Size, found.Total),
	}, nil
}

// taskStates are those that the list can be narrowed to.
func taskStates() []string {
	states := []string{StateFailing, StateRunning}
	for _, mood := range moods() {
		states = append(states, string(mood))
	}
	return states
}

// changeTasks does the same with several tasks. What fails with one does not
// keep it from the others.
func (s *console) changeTasks(r *http.Request, v Viewer) (string, error) {
	do, note, err := s.taskAction(r, v)
	if err != nil {
		return "", err
	}
	names := r.PostForm["task"]
	if len(names) == 0 {
		return "", badRequest("No task is chosen.")
	}
	failed := &api.Invalid{}
	for _, name := range names {
		if err := do(name); err != nil {
			failed.Faults = append(failed.Faults, api.Fault{Where: name, Message: s.failureOf(r, s.newPage(r), err).Text})
		}
	}
	if n := len(failed.Faults); n > 0 {
		failed.Reason = s.newPage(r).T("It failed with %d of %d tasks.", n, len(names))
		return "", failed
	}
	return back(r, note), nil
}

// taskAction returns what a form wants done with a task, and the note about it.
func (s *console) taskAction(r *http.Request, v Viewer) (do func(name string) error, note string, err error) {
	ctx := r.Context()
	switch r.PostForm.Get("do") {
	case "run":
		return func(name string) error {
			_, err := s.backend.Run(ctx, name, api.RunOptions{Actor: v.Name})
			return err
		}, "started", nil
	case "pause":
		until, err := timeOf(r, "until", s.zone)
		if err == nil && !until.IsZero() && !until.After(s.now()) {
			err = badRequest("The time is past already.")
		}
		return func(name string) error { return s.backend.Pause(ctx, name, until, v.Name) }, "paused", err
	case "resume":
		return func(name string) error { return s.backend.Resume(ctx, name, v.Name) }, "resumed", nil
	}
	return nil, "", badRequest("It is not known what to do.")
}

// runTask starts a task by hand and leads to the run.
func (s *console) runTask(r *http.Request, v Viewer) (string, error) {
	params, err := paramsOf(r, "params")
	if err != nil {
		return "", err
	}
	id, err := s.backend.Run(r.Context(), r.PathValue("name"), api.RunOptions{
		Params: params, Force: r.PostForm.Get("force") != "", Actor: v.Name,
	})
	return "/runs/" + id.String() + "?note=started", err
}

// changeTask pauses or resumes one task.
func (s *console) changeTask(r *http.Request, v Viewer) (string, error) {
	do, note, err := s.taskAction(r, v)
	if err != nil {
		return "", err
	}
	name := r.PathValue("name")
	if err := do(name); err != nil {
		return "", err
	}
	return taskPath(name) + "?note=" + note, nil
}

func taskPath(name string) string { return "/tasks/" + url.PathEscape(name) }

// zoneOf is the zone of a task; that of the console if this machine does not
// know it.
func (s *console) zoneOf(task *api.TaskView) *time.Location {
	zone, err := time.LoadLocation(task.Schedule.Timezone)
	if err != nil {
		return s.zone
	}
	return zone
}
