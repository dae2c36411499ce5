package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
)

// serve returns a server on loopback of a backend.
func serve(t *testing.T, backend api.Backend, log hclog.Logger) *httptest.Server {
	t.Helper()
	if log == nil {
		log = hclog.NewNullLogger()
	}
	server := httptest.NewServer(api.New(api.Config{Backend: backend, Log: log, Version: "0.1.0"}))
	t.Cleanup(server.Close)
	return server
}

// call makes a request and returns its status, header and body.
func call(t *testing.T, server *httptest.Server, method, path, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			request.Host = header[i+1]
		}
		request.Header.Set(header[i], header[i+1])
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	server := serve(t, backend, nil)
	for _, tc := range []struct {
		path string
		want []string // that the JSON must hold
	}{
		{"/api/v1/tasks", []string{`"name":"billing/close-day"`, `"state":"paused"`, `"state":"parked"`, `"next_at":"2026-03-03T02:00:00+08:00"`}},
		{"/api/v1/tasks?limit=2", []string{`"next":"每日对账"`}},
		{"/api/v1/tasks/billing%2Fclose-day", []string{`"cron":"0 0 2 * * ?"`, `"timeout":"1m30s"`, `"attempts":3`, `"running":1`}},
		{"/api/v1/tasks/%E6%AF%8F%E6%97%A5%E5%AF%B9%E8%B4%A6/next?n=2", []string{`"times":["2026-03-03T12:00:00+08:00","2026-03-04T12:00:00+08:00"]`}},
		{"/api/v1/instances?status=RUNNING,FAILED&since=2026-01-01T00:00:00%2B08:00", []string{`"id":"104"`, `"rows":9007199254740993`, `"missed":3`}},
		{"/api/v1/tasks/warm-up/backfill?to=2026-03-01T00:00:00Z", []string{`"succeeded":0`, `"done":false`}},
		{"/api/v1/tasks/warm-up/why", []string{`"code":"parked"`, `"code":"missed"`, `"step":"host"`, `"instance":"101"`}},
		{"/api/v1/tasks/warm-up/why?at=2026-03-01T12:00:00%2B08:00", []string{`"at":"2026-03-01T12:00:00+08:00"`, `"due":true`}},
		{"/api/v1/instances?kind=backfill,scheduled", []string{`"instances":[`}},
		{"/api/v1/instances?limit=1", []string{`"next":"104"`}},
		{"/api/v1/instances/103", []string{`"final":true`, `"scheduled_at":"2026-03-02T11:00:00+08:00"`, `"data":{"rows":1204}`}},
		{"/api/v1/instances/103/log?after=1001", []string{`"text":"对账 started"`, `"stage":"outcome"`}},
		{"/api/v1/plugins", []string{`"state":"quarantined"`, `"components":[]`}},
		{"/api/v1/health", []string{`"status":"degraded"`, `"database":"sqlite"`}},
		{"/api/v1/backlog", []string{`"workers":2`, `"queued":3`, `"cause":"limit"`, `"until":"2026-03-02T12:01:00+08:00"`, `"average":"14m2.75s"`}},
		{"/api/v1/backlog?n=1", []string{`"tasks_total":4`, `"task":"warm-up"`, `"longest":"1h20m0s"}]`}},
		{"/api/v1/alerts?state=failed,given_up&notifier=mail", []string{`"alerts":[{"id":"703"`, `"id":"700"`, `"title":"warm-up is parked"`}},
		{"/api/v1/nodes", []string{`{"nodes":[{"name":"node-1","incarnation":"7f3a","self":true,"state":"live"`, `"clock_offset_seconds":-30.001`}},
		{"/api/v1/nodes/cost?seconds=3", []string{`{"seconds":3,"server_counts":true,"server_per_second":12.4,"hosts_per_second":11.9`}},
		{"/api/v1/alerts/702", []string{`"text":"App orders, 3 tasks: recovered:`}},
		{"/api/v1/notifiers", []string{`"state":"down"`, `"name":"值班"`, `"dead":1`}},
		{"/api/v1/silences", []string{`"until":"2026-03-02T14:00:00+08:00"`}},
		{"/healthz", []string{`{"status":"degraded"}`}},
		{"/metrics", []string{"ax_up 1"}},
	} {
		status, _, body := call(t, server, http.MethodGet, tc.path, "")
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", tc.path, status, body)
		}
		for _, want := range tc.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", tc.path, want, body)
			}
		}
		if strings.Contains(body, "$schema") {
			t.Errorf("%s: $schema in %s", tc.path, body)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/api/v1/tasks/warm-up/run", "", 202, "run warm-up null force=false by api"},
		{"/api/v1/tasks/warm-up/run", `{"params":{"n":1},"force":true}`, 202, `run warm-up {"n":1} force=true by me`},
		{"/api/v1/tasks/billing%2Fclose-day/pause", `{"until":"2026-03-03T00:00:00+08:00"}`, 200, "pause billing/close-day until 2026-03-02T16:00:00Z by api"},
		{"/api/v1/tasks/warm-up/pause", "", 200, "pause warm-up until 0001-01-01T00:00:00Z by api"},
		{"/api/v1/tasks/warm-up/resume", "", 200, "resume warm-up by api"},
		{
			"/api/v1/tasks/warm-up/backfill", `{"from":"2026-03-01T00:00:00+08:00","to":"2026-03-02T00:00:00+08:00","limit":4,"again":true}`, 200,
			"backfill warm-up from 2026-02-28T16:00:00Z to 2026-03-01T16:00:00Z limit=4 again=true by me",
		},
		{"/api/v1/tasks/warm-up/backfill", `{"from":"2026-03-01T00:00:00Z"}`, 200, "backfill warm-up from 2026-03-01T00:00:00Z to 2026-03-02T04:00:00Z limit=1 again=false by api"},
		{"/api/v1/tasks/warm-up/backfill/cancel", `{"to":"2026-03-01T00:00:00Z"}`, 200, "cancel backfill warm-up from 0001-01-01T00:00:00Z to 2026-03-01T00:00:00Z by api"},
		{"/api/v1/tasks/warm-up/backfill/cancel", "", 200, "cancel backfill warm-up from 0001-01-01T00:00:00Z to 0001-01-01T00:00:00Z by api"},
		{"/api/v1/instances/104/cancel", "", 202, "cancel 104 by api"},
		{"/api/v1/callbacks/104/t0ken", `{"status":"failed","message":"disk full","data":{"left":0}}`, 204, "callback 104 failed disk full"},
		{"/api/v1/plugins/random/reset", "", 204, "reset random by api"},
		{"/api/v1/reload", "", 200, "reload by api"},
	} {
		backend, changes := apitest.Sample()
		var header []string
		if strings.HasSuffix(tc.want, " by me") {
			header = []string{api.ActorHeader, "me"}
		}
		status, _, body := call(t, serve(t, backend, nil), http.MethodPost, tc.path, tc.body, header...)
		if status != tc.status {
			t.Errorf("%s: %d %s", tc.path, status, body)
		}
		if got := changes.List(); len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s: changes %q, want %q", tc.path, got, tc.want)
		}
	}
}

// problem is an answer as RFC 9457 has it.
type problem struct {
	Title, Detail string
	Status        int
	Errors        []struct{ Message, Location string }
}

func TestProblems(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	server := serve(t, backend, nil)
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"no such task", "GET", "/api/v1/tasks/nope", "", 404, `there is no task \"nope\"`},
		{"no such task to run", "POST", "/api/v1/tasks/nope/run", "", 404, "nope"},
		{"no such instance", "GET", "/api/v1/instances/7", "", 404, "instance"},
		{"no such log", "GET", "/api/v1/instances/7/log", "", 404, "instance"},
		{"no such live log", "GET", "/api/v1/instances/7/log/stream", "", 404, "instance"},
		{"an id beyond all ids", "GET", "/api/v1/instances/9999999999999999999", "", 404, "instance"},
		{"no id", "GET", "/api/v1/instances/abc", "", 422, "path.id"},
		{"wrong token", "POST", "/api/v1/callbacks/104/guess", `{"status":"success"}`, 404, "callback"},
		{"wrong outcome", "POST", "/api/v1/callbacks/104/t0ken", `{"status":"done"}`, 422, "body.status"},
		{"no body", "POST", "/api/v1/callbacks/104/t0ken", "", 400, "body"},
		{"why of no task", "GET", "/api/v1/tasks/nope/why", "", 404, "nope"},
		{"why at no time", "GET", "/api/v1/tasks/warm-up/why?at=noon", "", 422, "query.at"},
		{"backfill from nowhere", "POST", "/api/v1/tasks/warm-up/backfill", `{}`, 422, "required property from"},
		{"backfill of nothing at once", "POST", "/api/v1/tasks/warm-up/backfill", `{"from":"2026-03-01T00:00:00Z","limit":-1}`, 422, "body.limit"},
		{"backfill of no task", "GET", "/api/v1/tasks/nope/backfill", "", 404, "nope"},
		{"unknown kind", "GET", "/api/v1/instances?kind=odd", "", 422, "query.kind"},
		{"unknown property", "POST", "/api/v1/tasks/warm-up/run", `{"parms":{}}`, 422, "body.parms"},
		{"unknown query", "GET", "/api/v1/instances?stats=FAILED", "", 422, "query.stats"},
		{"unknown status", "GET", "/api/v1/instances?status=BROKEN", "", 422, "query.status"},
		{"a list of nothing", "GET", "/api/v1/backlog?n=0", "", 422, "query.n"},
		{"unknown state", "GET", "/api/v1/alerts?state=lost", "", 422, "query.state"},
		{"no such message", "GET", "/api/v1/alerts/1", "", 404, "alert"},
		{"no such host", "POST", "/api/v1/nodes/node-9/drain", "", 404, "node-2"},
		{"a dead host", "POST", "/api/v1/nodes/node-3/drain", "", 409, "others have its tasks"},
		{"too long", "GET", "/api/v1/nodes/cost?seconds=60", "", 422, "query.seconds"},
		{"no dead letter", "POST", "/api/v1/alerts/702/resend", "", 409, "sent"},
		{"test of a notifier that is down", "POST", "/api/v1/notifiers/mail/test", "", 503, "connection refused"},
		{"silence until never", "POST", "/api/v1/silences", `{"task":"warm-up"}`, 422, "required property until"},
		{"silence until yesterday", "POST", "/api/v1/silences", `{"until":"2026-03-01T00:00:00Z"}`, 422, "past"},
		{"no JSON", "POST", "/api/v1/tasks/warm-up/run", `{`, 400, "body"},
		{"no time", "GET", "/api/v1/instances?since=yesterday", "", 422, "query.since"},
		{"no such path", "GET", "/api/v1/nope", "", 404, "openapi.json"},
		{"wrong method", "PATCH", "/api/v1/tasks/warm-up", "", 405, "GET"},
		{"faulty definition", "POST", "/api/v1/tasks", `{"faulty":1}`, 422, `"location":"body.job.with.url"`},
		{"no definition", "POST", "/api/v1/tasks", "", 400, "body"},
		{"name in use", "POST", "/api/v1/tasks", `{"name":"warm-up"}`, 409, "conf.yaml:40"},
		{"task of a file", "PUT", "/api/v1/tasks/warm-up", `{"name":"warm-up"}`, 428, "If-Match"},
		{"delete without a version", "DELETE", "/api/v1/tasks/tidy-up", "", 428, "If-Match"},
		{"no such calendar", "POST", "/api/v1/calendars/eu/check", "x", 404, "eu"},
		{"faulty calendar", "POST", "/api/v1/calendars/cn/check", "faulty", 422, "cn.csv:1:1"},
		{"unknown kind of component", "GET", "/api/v1/components?kind=odd", "", 422, "query.kind"},
		{"run by GET", "GET", "/api/v1/tasks/warm-up/run", "", 405, "POST"},
	} {
		status, header, body := call(t, server, tc.method, tc.path, tc.body)
		var p problem
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Errorf("%s: %v in %q", tc.name, err, body)
		}
		if status != tc.status || p.Status != tc.status || p.Detail == "" || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s, want %d with %s", tc.name, status, body, tc.status, tc.want)
		}
		if got := header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%s: type %s", tc.name, got)
		}
	}
}

func TestBackendErrors(t *testing.T) {
	t.Parallel()
	var err error
	backend, _ := apitest.Sample()
	backend.OnReload = func(context.Context, string) (api.ReloadReport, error) { return api.ReloadReport{}, err }
	var log strings.Builder
	server := serve(t, backend, hclog.New(&hclog.LoggerOptions{Output: &log}))
	for _, tc := range []struct {
		err    error
		status int
		want   string
	}{
		{&api.Conflict{Reason: "a reload is under way"}, 409, "under way"},
		{&api.Unavailable{Reason: "the host is stopping"}, 503, "stopping"},
		{&api.Invalid{Reason: "the configuration has 1 fault", Faults: []api.Fault{{Where: "conf.yaml:3:5", Message: "unknown key"}}}, 422, `"location":"conf.yaml:3:5"`},
		{&api.Forbidden{Reason: "a shell command needs an administrator"}, 403, "administrator"},
		{fmt.Errorf("load: %w", ax.ErrNotFound), 404, "no such thing"},
		{fmt.Errorf("write: %w", ax.ErrUnavailable), 503, "database"},
		{io.ErrUnexpectedEOF, 500, "log of the host"},
	} {
		err = tc.err
		status, _, body := call(t, server, "POST", "/api/v1/reload", "")
		if status != tc.status || !strings.Contains(body, tc.want) {
			t.Errorf("%v: %d %s", tc.err, status, body)
		}
		if tc.status == 500 && strings.Contains(body, "EOF") {
			t.Errorf("the text of an internal error got out: %s", body)
		}
	}
	if !strings.Contains(log.String(), "unexpected EOF") {
		t.Errorf("the internal error is not in the log: %s", log.String())
	}
}
