package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
)

// InstanceList is a page of instances, newest first.
type InstanceList struct {
	Instances []InstanceView `json:"instances" nullable:"false"`
	Next      string         `json:"next,omitempty" doc:"Value of before for the next page; absent on the last one"`
}

func (s *server) instanceRoutes() {
	register(s, huma.Operation{
		OperationID: "list-instances", Method: http.MethodGet, Path: Base + "/instances",
		Summary: "List instances, newest first", Tags: []string{"instances"},
	}, s.listInstances)
	register(s, huma.Operation{
		OperationID: "get-instance", Method: http.MethodGet, Path: Base + "/instances/{id}",
		Summary: "Show an instance", Tags: []string{"instances"}, Errors: []int{http.StatusNotFound},
		Responses: notModified(),
	}, s.getInstance)
	register(s, huma.Operation{
		OperationID: "cancel-instance", Method: http.MethodPost, Path: Base + "/instances/{id}/cancel",
		Summary: "Cancel an instance", DefaultStatus: http.StatusAccepted,
		Description: "A running job is asked to stop and has the task's grace period for it: the instance may still be running in the answer.",
		Tags:        []string{"instances"}, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.cancelInstance)
	register(s, huma.Operation{
		OperationID: "report-result", Method: http.MethodPost, Path: Base + "/callbacks/{id}/{token}",
		Summary: "Report the end of a deferred run", DefaultStatus: http.StatusNoContent,
		Description: "For jobs that finish elsewhere. The URL is given to the job; its token is valid for one attempt.",
		Tags:        []string{"instances"}, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.reportResult)
}

type instanceQuery struct {
	Task   string    `query:"task" maxLength:"255"`
	Status []string  `query:"status" enum:"TRIGGERED,DISPATCHED,RUNNING,RETRYING,SUCCESS,FAILED,TIMEOUT,LOST,MISSED,SKIPPED,CANCELED" doc:"Any of these, separated by commas"`
	Kind   []string  `query:"kind" enum:"scheduled,manual,backfill,child" doc:"Any of these, separated by commas"`
	Since  time.Time `query:"since" doc:"Due at this time or later"`
	Until  time.Time `query:"until" doc:"Due before this time"`
	Before string    `query:"before" pattern:"^[0-9]{1,19}$" doc:"Only instances older than this id"`
	Limit  int       `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

func (s *server) listInstances(ctx context.Context, in *instanceQuery) (*reply[InstanceList], error) {
	f := ax.InstanceFilter{Task: in.Task, Since: in.Since, Until: in.Until, Limit: in.Limit}
	for _, status := range in.Status {
		f.Statuses = append(f.Statuses, ax.Status(status))
	}
	for _, kind := range in.Kind {
		f.Kinds = append(f.Kinds, ax.Kind(kind))
	}
	if in.Before != "" {
		id, err := parseID(in.Before)
		if err != nil {
			return nil, err
		}
		f.Before = id
	}
	instances, err := s.backend.Instances(ctx, f)
	if err != nil {
		return nil, err
	}
	list := InstanceList{Instances: convert(instances, newInstanceView)}
	if len(instances) >= in.Limit {
		list.Next = instances[len(instances)-1].ID.String()
	}
	return &reply[InstanceList]{list}, nil
}

// Identified is the input of an operation on an instance.
type Identified struct {
	ID string `path:"id" pattern:"^[0-9]{1,19}$"`
}

// parseID reads an id that has the right pattern. One that is too large for an
// id is the name of nothing.
func parseID(text string) (ax.InstanceID, error) {
	id, err := ax.ParseInstanceID(text)
	if err != nil {
		return 0, fmt.Errorf("read instance id: %w", &NotFound{What: "instance", Name: text})
	}
	return id, nil
}

type oneInstance struct {
	Identified
	Conditional
}

func (s *server) getInstance(ctx context.Context, in *oneInstance) (*tagged[InstanceView], error) {
	view, err := s.instance(ctx, in.ID)
	return tag(view, "", in.Conditional, err)
}

// instance looks an instance up by the text of its id.
func (s *server) instance(ctx context.Context, text string) (InstanceView, error) {
	id, err := parseID(text)
	if err != nil {
		return InstanceView{}, err
	}
	instance, err := s.backend.Instance(ctx, id)
	return newInstanceView(instance), err
}

type instanceChange struct {
	Identified
	Acting
}

func (s *server) cancelInstance(ctx context.Context, in *instanceChange) (*reply[InstanceView], error) {
	id, err := parseID(in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.backend.Cancel(ctx, id, in.Actor); err != nil {
		return nil, err
	}
	view, err := s.instance(ctx, in.ID)
	return &reply[InstanceView]{view}, err
}

type callbackInput struct {
	Identified
	Token string `path:"token" maxLength:"256"`
	Body  CallbackResult
}

func (s *server) reportResult(ctx context.Context, in *callbackInput) (*struct{}, error) {
	id, err := parseID(in.ID)
	if err != nil {
		return nil, err
	}
	return nil, s.backend.Callback(ctx, id, in.Token, in.Body)
}
