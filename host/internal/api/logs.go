package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/axsched/ax/host/internal/ax"
)

// EventList is a page of an instance's log, oldest first.
type EventList struct {
	Events []EventView `json:"events" nullable:"false"`
	Next   string      `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

func (s *server) logRoutes() {
	register(s, huma.Operation{
		OperationID: "get-log", Method: http.MethodGet, Path: Base + "/instances/{id}/log",
		Summary: "Read the log of an instance", Tags: []string{"instances"}, Errors: []int{http.StatusNotFound},
	}, s.getLog)
	s.mux.HandleFunc("GET "+streamPath, s.serveStream)
	s.api.OpenAPI().AddOperation(streamOperation(s.api.OpenAPI().Components.Schemas))
}

type logQuery struct {
	Identified
	After string   `query:"after" pattern:"^[0-9]{1,19}$" doc:"Only events after this id"`
	Stage []string `query:"stage" doc:"Any of these, separated by commas"`
	Limit int      `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
}

func (s *server) getLog(ctx context.Context, in *logQuery) (*reply[EventList], error) {
	id, err := parseID(in.ID)
	if err != nil {
		return nil, err
	}
	f := ax.EventFilter{Instance: id, Limit: in.Limit}
	if in.After != "" {
		if f.After, err = strconv.ParseInt(in.After, 10, 64); err != nil {
			return nil, &Invalid{Reason: "after is too large for an id"}
		}
	}
	for _, stage := range in.Stage {
		f.Stages = append(f.Stages, ax.Stage(stage))
	}
	// An instance without events and one that does not exist look the same in
	// the log.
	if _, err := s.backend.Instance(ctx, id); err != nil {
		return nil, err
	}
	events, err := s.backend.Events(ctx, f)
	if err != nil {
		return nil, err
	}
	list := EventList{Events: convert(events, newEventView)}
	if len(events) >= in.Limit {
		list.Next = list.Events[len(events)-1].ID
	}
	return &reply[EventList]{list}, nil
}
