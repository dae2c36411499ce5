package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
)

func TestHugeBodiesAreRefused(t *testing.T) {
	t.Parallel()
	backend, changes := apitest.Sample()
	body := `{"params":{"x":"` + strings.Repeat("x", 2<<20) + `"}}`
	status, _, text := call(t, serve(t, backend, nil), "POST", "/api/v1/tasks/warm-up/run", body)
	if status != http.StatusRequestEntityTooLarge || len(changes.List()) != 0 {
		t.Errorf("%d %s", status, text)
	}
}

// TestBodiesOfAllRoutes: whatever the route, a body is refused that is larger than
// the route needs, by a problem document; a configuration of very many tasks is not.
func TestBodiesOfAllRoutes(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	backend.OnPlan = func(context.Context, *api.Candidate) (*preview.Plan, error) {
		return &preview.Plan{}, nil
	}
	server := serve(t, backend, nil)
	doc, _ := readDocument(t, server)
	for _, ways := range doc.Paths {
		for method, op := range ways {
			example, ok := requests[op.OperationID]
			if !ok || example[1] == "" && op.OperationID != "plan" {
				continue
			}
			size, want := 2<<20, http.StatusRequestEntityTooLarge
			body := func(n int) string { return `{"app":"` + strings.Repeat("x", n) + `"}` }
			if op.OperationID == "plan" {
				size = 65 << 20
				if status, _, text := call(t, server, "POST", example[0], `{"app":"x","tasks":["`+strings.Repeat("x", 30<<20)+`"]}`); status != http.StatusOK {
					t.Errorf("plan: 30 MiB: %d %s", status, text)
				}
			}
			status, header, text := call(t, server, strings.ToUpper(method), example[0], body(size), "If-Match", "*")
			if status != want || header.Get("Content-Type") != "application/problem+json" || !strings.Contains(text, "too large") {
				t.Errorf("%s: %d %s %.200s", op.OperationID, status, header.Get("Content-Type"), text)
			}
		}
	}
}

// lockedText is a log that is written by the server and read by the test.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestPanicsAndTokensInTheLog(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	backend.OnCallback = func(context.Context, ax.InstanceID, string, api.CallbackResult) error { panic("out of cheese") }
	log := &lockedText{}
	server := serve(t, backend, hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Trace}))
	status, _, body := call(t, server, "POST", "/api/v1/callbacks/104/s3cret-t0ken", `{"status":"success"}`)
	if status != 500 || strings.Contains(body, "cheese") {
		t.Errorf("%d %s", status, body)
	}
	call(t, server, "POST", "/api/v1/callbacks/104/s3cret-t0ken", `{"status":"nonsense"}`)
	call(t, server, "GET", "/api/v1/callbacks/104/s3cret-t0ken", "")
	// The server logs a request after it is answered; the next one is accepted
	// by another goroutine, so close first.
	server.Close()
	got := log.String()
	if !strings.Contains(got, "out of cheese") || !strings.Contains(got, "/api/v1/callbacks/{id}/{token}") {
		t.Errorf("the log lacks the panic or the route: %s", got)
	}
	if strings.Contains(got, "s3cret") || strings.Contains(body, "s3cret") {
		t.Errorf("the token is in the log: %s", got)
	}
	if status, _, _ := call(t, serve(t, backend, nil), "GET", "/healthz", ""); status != 200 {
		t.Error("the server does not work after a panic")
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for status, want := range map[api.HealthStatus]int{
		api.HealthOK: 200, api.HealthDegraded: 200, api.HealthDraining: 503, api.HealthFailing: 503,
	} {
		backend := &apitest.Backend{OnHealth: func(context.Context) api.Health { return api.Health{Status: status} }}
		server := serve(t, backend, nil)
		if got, _, body := call(t, server, "GET", "/readyz", ""); got != 200 {
			t.Errorf("%s, but nothing is in the way: readyz %d %s", status, got, body)
		}
		if got, _, body := call(t, server, "GET", "/healthz", ""); got != want {
			t.Errorf("%s: %d %s, want %d", status, got, body, want)
		}
		if got, _, _ := call(t, server, "GET", "/api/v1/health", ""); got != 200 {
			t.Errorf("%s: health answers %d", status, got)
		}
	}
}

// TestReady: a host that takes no work says why, although it may be well.
func TestReady(t *testing.T) {
	t.Parallel()
	backend := &apitest.Backend{OnHealth: func(context.Context) api.Health {
		return api.Health{Status: api.HealthDegraded, Reasons: []string{"a plugin is down", "drained"}, NotReady: []string{"drained"}}
	}}
	server := serve(t, backend, nil)
	status, _, body := call(t, server, "GET", "/readyz", "")
	if status != 503 || !strings.Contains(body, `"reasons":["drained"]`) {
		t.Errorf("readyz: %d %s", status, body)
	}
	if status, _, body := call(t, server, "GET", "/healthz", ""); status != 200 || strings.Contains(body, "plugin") {
		t.Errorf("healthz: %d %s", status, body)
	}
}
