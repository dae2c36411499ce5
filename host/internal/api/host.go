package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// PluginList is all plugins of a host.
type PluginList struct {
	Plugins []PluginView `json:"plugins" nullable:"false"`
	Next    string       `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

// Pulse is a Health cut down to what a probe needs.
type Pulse struct {
	Status  HealthStatus `json:"status" enum:"ok,degraded,draining,failing"`
	Reasons []string     `json:"reasons,omitempty" nullable:"false" doc:"Why the host takes no work"`
}

func (s *server) pluginRoutes() {
	register(s, huma.Operation{
		OperationID: "list-plugins", Method: http.MethodGet, Path: Base + "/plugins",
		Summary: "List the plugins of this host", Tags: []string{"host"},
	}, s.listPlugins)
	register(s, huma.Operation{
		OperationID: "reset-plugin", Method: http.MethodPost, Path: Base + "/plugins/{name}/reset",
		Summary: "Start a plugin anew that is in back-off or quarantine", DefaultStatus: http.StatusNoContent,
		Tags: []string{"host"}, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.resetPlugin)
}

func (s *server) hostRoutes() {
	register(s, huma.Operation{
		OperationID: "reload", Method: http.MethodPost, Path: Base + "/reload",
		Summary:     "Read the configuration again",
		Description: "If it has faults nothing changes: the answer is 422 and lists them, each with file, line and column.",
		Tags:        []string{"host"}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
	}, s.reload)
	register(s, huma.Operation{
		OperationID: "get-health", Method: http.MethodGet, Path: Base + "/health",
		Summary: "Show how the host is", Tags: []string{"host"},
	}, s.health)
	register(s, huma.Operation{
		OperationID: "probe", Method: http.MethodGet, Path: "/healthz",
		Summary: "Tell a load balancer whether the host works", Tags: []string{"host"},
		Description: "200 if it is ok or degraded, else 503.", Errors: []int{http.StatusServiceUnavailable},
	}, s.probe)
	register(s, huma.Operation{
		OperationID: "probe-ready", Method: http.MethodGet, Path: "/readyz",
		Summary: "Tell whether the host takes work", Tags: []string{"host"},
		Description: "200 if it schedules and runs tasks, else 503 with the reasons.", Errors: []int{http.StatusServiceUnavailable},
	}, s.probeReady)
}

func (s *server) listPlugins(ctx context.Context, in *Paging) (*reply[PluginList], error) {
	plugins, err := s.backend.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	list := convert(plugins, func(p PluginView) PluginView {
		if p.Components == nil {
			p.Components = []ComponentView{}
		}
		return p
	})
	rows, next := paged(list, *in, func(p PluginView) string { return p.Name + " " + p.Path })
	return &reply[PluginList]{PluginList{rows, next}}, nil
}

func (s *server) resetPlugin(ctx context.Context, in *namedChange) (*struct{}, error) {
	return nil, s.backend.ResetPlugin(ctx, in.Name, in.Actor)
}

func (s *server) reload(ctx context.Context, in *Acting) (*reply[ReloadReport], error) {
	report, err := s.backend.Reload(ctx, in.Actor)
	return &reply[ReloadReport]{report}, err
}

func (s *server) health(ctx context.Context, _ *struct{}) (*reply[Health], error) {
	return &reply[Health]{s.backend.Health(ctx)}, nil
}

type probeReply struct {
	Status int
	Body   Pulse
}

func (s *server) probe(ctx context.Context, _ *struct{}) (*probeReply, error) {
	health := s.backend.Health(ctx)
	works := health.Status == HealthOK || health.Status == HealthDegraded
	return answerProbe(works, &health), nil
}

func (s *server) probeReady(ctx context.Context, _ *struct{}) (*probeReply, error) {
	health := s.backend.Health(ctx)
	return answerProbe(len(health.NotReady) == 0, &health), nil
}

func answerProbe(good bool, health *Health) *probeReply {
	code := http.StatusOK
	if !good {
		code = http.StatusServiceUnavailable
	}
	return &probeReply{Status: code, Body: Pulse{Status: health.Status, Reasons: health.NotReady}}
}
