package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
)

// TaskList is a page of tasks.
type TaskList struct {
	Tasks []TaskView `json:"tasks" nullable:"false"`
	// Next is the value of after for the next page, empty on the last one.
	Next string `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

// NextTimes are due times to come.
type NextTimes struct {
	Task   string           `json:"task"`
	Words  preview.Words    `json:"words" doc:"The schedule in plain language"`
	Times  []time.Time      `json:"times" nullable:"false" doc:"In rising order; empty: never again"`
	Beyond []preview.Beyond `json:"beyond,omitempty" nullable:"false" doc:"Those in years for which a calendar has no list, so that it goes by its weekly pattern"`
	Why    []preview.Step   `json:"why,omitempty" nullable:"false" doc:"What becomes of each time at which the schedule would be due, if asked for"`
}

// RunStarted names the instance that a run by hand made.
type RunStarted struct {
	Instance string `json:"instance"`
	Waits    string `json:"waits,omitempty" doc:"Why it has not begun, if it waits"`
	// Warnings do not keep it from running.
	Warnings []string `json:"warnings,omitempty" doc:"What may not be meant, such as a parameter that the task does not know"`
}

// RunBody are the details of a run by hand.
type RunBody struct {
	Params Object `json:"params,omitempty" doc:"Laid over the task's own, for this run"`
	Force  bool   `json:"force,omitempty" doc:"Start it at once, whatever the overlap policy says"`
}

// PauseBody says how long a pause is.
type PauseBody struct {
	Until time.Time `json:"until,omitzero" required:"false" doc:"When it ends by itself; without it, by resume only"`
}

func (s *server) taskRoutes() {
	register(s, huma.Operation{
		OperationID: "list-tasks", Method: http.MethodGet, Path: Base + "/tasks",
		Summary: "List tasks by name", Tags: []string{"tasks"},
	}, s.listTasks)
	register(s, huma.Operation{
		OperationID: "get-task", Method: http.MethodGet, Path: Base + "/tasks/{name}",
		Summary: "Show a task and its state", Tags: []string{"tasks"}, Errors: []int{http.StatusNotFound}, Responses: notModified(),
	}, s.getTask)
	register(s, huma.Operation{
		OperationID: "next-times", Method: http.MethodGet, Path: Base + "/tasks/{name}/next",
		Summary: "Compute the next due times of a task", Tags: []string{"tasks"}, Errors: []int{http.StatusNotFound},
	}, s.nextTimes)
	register(s, huma.Operation{
		OperationID: "run-task", Method: http.MethodPost, Path: Base + "/tasks/{name}/run",
		Summary: "Run a task now", DefaultStatus: http.StatusAccepted,
		Description: "Also a paused or disabled one; its schedule goes on as it is.",
		Tags:        []string{"tasks"}, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, s.runTask)
	register(s, huma.Operation{
		OperationID: "pause-task", Method: http.MethodPost, Path: Base + "/tasks/{name}/pause",
		Summary: "Stop the schedule of a task", Tags: []string{"tasks"}, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.pauseTask)
	register(s, huma.Operation{
		OperationID: "resume-task", Method: http.MethodPost, Path: Base + "/tasks/{name}/resume",
		Summary: "Let the schedule of a paused task go on", Tags: []string{"tasks"}, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.resumeTask)
}

type taskQuery struct {
	Prefix string `query:"prefix" maxLength:"255" doc:"Of the name"`
	Group  string `query:"group" maxLength:"255"`
	After  string `query:"after" maxLength:"255" doc:"Only names that sort after this one"`
	Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
}

func (s *server) listTasks(ctx context.Context, in *taskQuery) (*reply[TaskList], error) {
	tasks, err := s.backend.Tasks(ctx, TaskQuery(*in))
	if err != nil {
		return nil, err
	}
	list := TaskList{Tasks: convert(tasks, func(t TaskView) TaskView { return t })}
	if len(tasks) >= in.Limit {
		list.Next = tasks[len(tasks)-1].Name
	}
	return &reply[TaskList]{list}, nil
}

type oneTask struct {
	Named
	Conditional
}

// getTask answers with an ETag that begins with the version of the definition,
// which is all that If-Match looks at.
func (s *server) getTask(ctx context.Context, in *oneTask) (*tagged[TaskView], error) {
	task, err := s.backend.Task(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	etag, err := hashTag(task, strconv.FormatInt(task.Version, 10)+"-")
	return tag(task, etag, in.Conditional, err)
}

// showTask answers to a change with the task as it is then.
func (s *server) showTask(ctx context.Context, name string) (*reply[TaskView], error) {
	task, err := s.backend.Task(ctx, name)
	return &reply[TaskView]{task}, err
}

type nextQuery struct {
	Named
	N     int       `query:"n" minimum:"1" maximum:"1000" default:"10"`
	After time.Time `query:"after" doc:"Times strictly after this one; now if absent"`
	Why   bool      `query:"why" doc:"Tell what becomes of each time at which the schedule would be due"`
}

func (s *server) nextTimes(ctx context.Context, in *nextQuery) (*reply[NextTimes], error) {
	next, err := s.backend.Next(ctx, in.Name, NextQuery{After: in.After, N: in.N, Why: in.Why})
	if err != nil {
		return nil, err
	}
	if next.Task = in.Name; next.Times == nil {
		next.Times = []time.Time{}
	}
	return &reply[NextTimes]{next}, nil
}

type runInput struct {
	Named
	Acting
	Repeatable
	Body *RunBody
}

func (s *server) runTask(ctx context.Context, in *runInput) (*reply[RunStarted], error) {
	o := RunOptions{Actor: in.Actor, Key: in.Key}
	if in.Body != nil {
		o.Params, o.Force = in.Body.Params, in.Body.Force
	}
	if o.Key != "" {
		var err error
		if o.Digest, err = digest(in.Name, in.Body); err != nil {
			return nil, err
		}
	}
	id, err := s.backend.Run(ctx, in.Name, o)
	if err != nil {
		return nil, err
	}
	started := RunStarted{Instance: id.String(), Warnings: s.backend.UnknownParams(ctx, in.Name, o.Params)}
	// It was started, whatever becomes of this look at it.
	if inst, err := s.backend.Instance(ctx, id); err == nil && inst.Status == ax.StatusTriggered {
		started.Waits = inst.Reason
	}
	return &reply[RunStarted]{started}, nil
}

type pauseInput struct {
	Named
	Acting
	Body *PauseBody
}

func (s *server) pauseTask(ctx context.Context, in *pauseInput) (*reply[TaskView], error) {
	var until time.Time
	if in.Body != nil {
		until = in.Body.Until
	}
	if err := s.backend.Pause(ctx, in.Name, until, in.Actor); err != nil {
		return nil, err
	}
	return s.showTask(ctx, in.Name)
}

type namedChange struct {
	Named
	Acting
}

func (s *server) resumeTask(ctx context.Context, in *namedChange) (*reply[TaskView], error) {
	if err := s.backend.Resume(ctx, in.Name, in.Actor); err != nil {
		return nil, err
	}
	return s.showTask(ctx, in.Name)
}
