// Package api serves the host over HTTP: JSON described by an OpenAPI 3.1
// document, live logs as server-sent events, and Prometheus metrics. What it
// serves comes from a Backend; errors are problem documents (RFC 9457).
//
// State changes need a POST. Who may use which route is for what stands around the
// Site that New returns.
package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/hashicorp/go-hclog"
)

// Base is the path under which this version of the API lives.
const Base = "/api/v1"

// ActorHeader names who makes a change, for the audit: whom the guard around found
// out, or where everybody may do everything what the client claims. Without it the
// actor is "api".
const ActorHeader = "Ax-Actor"

// Config is what New needs; all fields but Pages and Stop are required.
type Config struct {
	Backend Backend
	Log     hclog.Logger
	Version string
	// Pages serves what is not below /api, for people; nil if there is nothing.
	Pages Pages
	// Stop ends the live streams when it is closed; nil if never.
	Stop <-chan struct{}
}

// server holds what the handlers share.
type server struct {
	backend Backend
	log     hclog.Logger
	pages   Pages
	stop    <-chan struct{}
	mux     *Router
	api     huma.API
}

// New returns everything that the API serves. It panics if the routes contradict
// each other, which only a change of this package can cause.
func New(c Config) *Site {
	s := newServer(c)
	return &Site{server: s, handler: s.handler()}
}

func newServer(c Config) *server {
	mux := NewRouter()
	s := &server{backend: c.Backend, log: c.Log, pages: c.Pages, stop: c.Stop, mux: mux, api: humago.New(mux, describe(c.Version))}
	s.taskRoutes()
	s.instanceRoutes()
	s.logRoutes()
	s.pluginRoutes()
	s.hostRoutes()
	s.planRoutes()
	s.backlogRoutes()
	s.backfillRoutes()
	s.alertRoutes()
	s.whyRoutes()
	s.nodeRoutes()
	s.definitionRoutes()
	s.calendarRoutes()
	s.auditRoutes()
	s.documentRoutes()
	if metrics := c.Backend.Metrics(); metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	return s
}

// describe returns huma's configuration without the parts that we serve
// otherwise (the document) or not at all (a documentation page that loads
// scripts from elsewhere, $schema properties).
func describe(version string) huma.Config {
	c := huma.DefaultConfig("ax", version)
	c.Info.Description = "Tasks, their instances and logs, plugins and the state of an ax host."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.RejectUnknownQueryParameters = true
	return c
}

// register adds an operation whose errors are shown as problem documents, and whose
// body is bounded: by maxBody unless it says otherwise.
func register[I, O any](s *server, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = maxBody
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, op.OperationID, err)
		}
		return out, nil
	})
}

// reply is the output of an operation that answers with JSON.
type reply[T any] struct{ Body T }

// Named is the input of an operation on a task or plugin. It is exported, as
// are Acting and Identified, because huma passes over embedded types that are
// not.
type Named struct {
	Name string `path:"name" maxLength:"255" doc:"Its name; a slash in it is written %2F"`
}

// Acting is the part of an input that says who asks for a change.
type Acting struct {
	Actor string `header:"Ax-Actor" maxLength:"128" default:"api" doc:"Who makes the change, for the audit"`
}

// documentRoutes serves the OpenAPI document; it is complete by then.
func (s *server) documentRoutes() {
	doc := s.api.OpenAPI()
	for ending, render := range map[string]func() ([]byte, error){
		"json": func() ([]byte, error) { return json.Marshal(doc) },
		"yaml": doc.YAML,
	} {
		text, err := render()
		if err != nil {
			panic(fmt.Sprintf("render the OpenAPI document: %v", err))
		}
		s.mux.HandleFunc("GET "+Base+"/openapi."+ending, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/openapi+"+ending)
			_, _ = w.Write(text) // the client is gone if this fails
		})
	}
}
