// Package plugintest is for the tests of plugin authors: it calls components
// the way a host does, over gRPC, either in the test's own process ([New]) or
// in a built plugin ([Start]), and it checks that a trigger keeps its contract
// ([CheckTrigger]). With components made elsewhere as hello and monthly:
//
//	host := plugintest.New(t, hello, monthly)
//	got := host.Job("hello", map[string]any{"name": "ax"}).Run(t.Context(), pluginapi.Fire{})
//	if got.Err != nil || got.Lines[0].Text != "hello, ax" {
//		t.Errorf("got %+v", got)
//	}
//	plugintest.CheckTrigger(t, host.Trigger("monthly", map[string]any{"day": 1}), time.UTC)
package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// callLimit bounds each call: a test must not hang.
const callLimit = 10 * time.Second

// Host calls components by their names. It ends with its test.
type Host struct {
	// Client makes calls that the methods of Host do not cover.
	Client *wire.Client

	t     testing.TB
	specs atomic.Int64
}

// New serves components in the test's own process. It fails the test if they
// are not fit for a plugin.
func New(t testing.TB, components ...pluginapi.Component) *Host {
	t.Helper()
	server, err := wire.NewServer(wire.ServerConfig{
		Info:       pluginapi.Info{Name: "plugintest", Version: "0.0.0"},
		Components: components,
		Log:        slog.New(slog.NewTextHandler(t.Output(), nil)),
		Level:      new(slog.LevelVar),
	})
	if err != nil {
		t.Fatalf("components are not fit for a plugin: %v", err)
	}
	const buffer = 1 << 20
	listener := bufconn.Listen(buffer)
	services := grpc.NewServer(wire.ServerOptions()...)
	server.Register(services)
	served := make(chan error, 1)
	go func() { served <- services.Serve(listener) }()

	options := append(wire.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}))
	conn, err := grpc.NewClient("passthrough:plugintest", options...)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() {
		stop, cancel := context.WithTimeout(context.Background(), callLimit)
		defer cancel()
		if err := server.Drain(stop); err != nil {
			t.Errorf("a job goes on although its context ended: %v", err)
		}
		_ = conn.Close()
		services.Stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return &Host{Client: wire.NewClient(conn), t: t}
}

// Option sets something of a component's [pluginapi.Env].
type Option func(*env)

type env struct {
	zone      string
	seed      uint64
	calendars []*calendar.Calendar
}

// Zone sets Env.Zone by its IANA name; the default is UTC.
func Zone(name string) Option { return func(e *env) { e.zone = name } }

// Seed sets Env.Seed; the default is 0.
func Seed(seed uint64) Option { return func(e *env) { e.seed = seed } }

// Calendars adds to Env.Calendars, each under its own name.
func Calendars(calendars ...*calendar.Calendar) Option {
	return func(e *env) { e.calendars = append(e.calendars, calendars...) }
}

// Prepare makes a component from settings and returns the id with which calls
// name it. The error is what a user would see beside the settings. Settings
// are JSON in a json.RawMessage, or anything that json.Marshal takes.
func (h *Host) Prepare(kind pluginapi.Kind, name string, settings any, options ...Option) (specID string, err error) {
	h.t.Helper()
	raw, err := json.Marshal(settings)
	if garbage, ok := settings.(json.RawMessage); ok {
		raw, err = garbage, nil
	}
	if err != nil {
		h.t.Fatalf("encode settings: %v", err)
	}
	var e env
	for _, option := range options {
		option(&e)
	}
	spec := &pb.Spec{
		Id:   fmt.Sprintf("spec-%d", h.specs.Add(1)),
		Kind: string(kind), Component: name, Settings: raw, Zone: e.zone, Seed: e.seed,
	}
	request := &pb.PrepareRequest{Specs: []*pb.Spec{spec}}
	for _, c := range e.calendars {
		spec.Calendars = append(spec.Calendars, c.Hash())
		request.Calendars = append(request.Calendars, &pb.CalendarData{Name: c.Name(), Hash: c.Hash(), Data: c.Marshal()})
	}
	ctx, cancel := h.limit(context.Background())
	defer cancel()
	reply, err := h.Client.Plugin.Prepare(ctx, request)
	if err != nil {
		return "", fmt.Errorf("prepare: %w", err)
	}
	if len(reply.GetResults()) != 1 {
		h.t.Fatalf("Prepare of 1 spec gave %d results", len(reply.GetResults()))
	}
	return spec.GetId(), wire.DecodeProblem(reply.GetResults()[0].GetProblem())
}

// mustPrepare is Prepare for components that the test needs.
func (h *Host) mustPrepare(kind pluginapi.Kind, name string, settings any, options []Option) string {
	h.t.Helper()
	id, err := h.Prepare(kind, name, settings, options...)
	if err != nil {
		h.t.Fatalf("%s %q: %v", kind, name, err)
	}
	return id
}

// limit adds the deadline that every call needs.
func (h *Host) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callLimit)
}
