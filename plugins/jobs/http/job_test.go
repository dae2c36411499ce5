package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// seen is a request as a service got it.
type seen struct {
	method, target, body, host string
	header                     http.Header
}

// service answers with a handler and remembers what it was asked.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func newService(t *testing.T, handle http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Method, r.RequestURI, string(body), r.Host, r.Header.Clone()})
		s.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) last(t *testing.T) seen {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		t.Fatal("the service was not called")
	}
	return s.seen[len(s.seen)-1]
}

func ok(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "done") }

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// newJob builds a job from settings as a host would, from JSON.
func newJob(t *testing.T, settings map[string]any) pluginapi.Job {
	t.Helper()
	job, err := build(settings)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func build(settings map[string]any) (pluginapi.Job, error) {
	raw, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	c := &caller{transport: webcall.NewTransport(nil)}
	built, err := pluginapi.JobOf("http", "", c.newJob).Build(raw, pluginapi.Env{})
	if err != nil {
		return nil, err
	}
	return built.(pluginapi.Job), nil
}

// newRun makes a run whose output and log go to the buffer.
func newRun(out *bytes.Buffer) *pluginapi.Run {
	return &pluginapi.Run{
		Fire: pluginapi.Fire{
			Task: "sync", InstanceID: "01J9", Attempt: 2, Fence: 7, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
			ScheduledAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.FixedZone("", 8*3600)),
		},
		Output: out, Log: slog.New(slog.NewTextHandler(out, nil)), CallbackURL: "http://ax/callback/t0ken-123",
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	params := map[string]any{"date": "2026-03-01", "n": 12.0}
	const paramsJSON = `{"date":"2026-03-01","n":12}`
	tests := map[string]struct {
		settings map[string]any
		params   map[string]any
		want     string // method, target and body
		header   map[string]string
	}{
		"plain":                  {want: "GET /job?a=1 "},
		"params are no GET body": {params: params, want: "GET /job?a=1 "},
		"params in the query": {
			settings: map[string]any{"query_from": "params"}, params: map[string]any{"b": []any{"x y", 2.0, nil, true}, "c": map[string]any{"d": 1.0}},
			want: "GET /job?a=1&b=x+y&b=2&b=&b=true&c=%7B%22d%22%3A1%7D ",
		},
		"body makes it POST": {
			settings: map[string]any{"body": "hello"}, params: params, want: "POST /job?a=1 hello",
			header: map[string]string{"Content-Type": "text/plain; charset=utf-8", "Content-Length": "5"},
		},
		"POST sends params": {
			settings: map[string]any{"method": "POST"}, params: params, want: "POST /job?a=1 " + paramsJSON,
			header: map[string]string{"Content-Type": "application/json"},
		},
		"POST without params": {settings: map[string]any{"method": "POST"}, want: "POST /job?a=1 ", header: map[string]string{"Content-Type": "", "Content-Length": "0"}},
		"params wanted":       {settings: map[string]any{"body_from": "params"}, want: "POST /job?a=1 {}"},
		"params refused":      {settings: map[string]any{"method": "PUT", "body_from": "none"}, params: params, want: "PUT /job?a=1 "},
		"DELETE with params":  {settings: map[string]any{"method": "DELETE", "body_from": "params"}, params: params, want: "DELETE /job?a=1 " + paramsJSON},
		"run": {
			want: "GET /job?a=1 ",
			header: map[string]string{
				"X-Ax-Task": "sync", "X-Ax-Instance": "01J9", "X-Ax-Attempt": "2", "X-Ax-Fence": "7", "X-Ax-Idempotency-Key": "01J9",
				"X-Ax-Scheduled-At": "2026-03-01T10:00:00+08:00", "X-Ax-Callback-Url": "",
				"Traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-808cedd6f05c2ca6-01", "User-Agent": "ax-http/0.1.0", "Authorization": "",
			},
		},
		"headers": {
			settings: map[string]any{"headers": map[string]string{"x-key": "k", "User-Agent": "me", "content-type": "text/csv"}, "body": "a,b"},
			want:     "POST /job?a=1 a,b", header: map[string]string{"X-Key": "k", "User-Agent": "me", "Content-Type": "text/csv"},
		},
		"basic":  {settings: map[string]any{"basic_auth": map[string]string{"username": "u", "password": "p"}}, want: "GET /job?a=1 ", header: map[string]string{"Authorization": "Basic dTpw"}},
		"bearer": {settings: map[string]any{"bearer_token": "abc"}, want: "GET /job?a=1 ", header: map[string]string{"Authorization": "Bearer abc"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, ok)
			settings := map[string]any{"url": s.URL + "/job?a=1"}
			maps.Copy(settings, tt.settings)
			run := newRun(new(bytes.Buffer))
			run.Params = tt.params
			if _, err := newJob(t, settings).Run(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			got := s.last(t)
			if text := got.method + " " + got.target + " " + got.body; text != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
			for key, value := range tt.header {
				if got.header.Get(key) != value {
					t.Errorf("%s is %q, want %q", key, got.header.Get(key), value)
				}
			}
		})
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	s := newService(t, ok)
	job := newJob(t, map[string]any{"url": s.URL, "headers": map[string]string{"host": "shop.example"}})
	run := newRun(new(bytes.Buffer))
	run.Task, run.TraceID = "日次/sync", "not a trace"
	if _, err := job.Run(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	got := s.last(t)
	if got.host != "shop.example" || got.header.Get("X-Ax-Task") != "%E6%97%A5%E6%AC%A1%2Fsync" || got.header.Get("Traceparent") != "" {
		t.Errorf("got %+v", got)
	}
}

func TestJudgement(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		settings        map[string]any
		handle          http.HandlerFunc
		message, failed string
		permanent       bool
	}{
		"success":           {handle: ok, message: "200 OK: done"},
		"empty":             {handle: status(204, ""), message: "204 No Content"},
		"expected":          {settings: map[string]any{"expect_status": []string{"2xx", "404"}}, handle: status(404, "none\n"), message: "404 Not Found: none"},
		"unexpected 200":    {settings: map[string]any{"expect_status": []string{"204"}}, handle: ok, failed: "status 200 OK (expected [204]): done", permanent: true},
		"server error":      {handle: status(503, "\n\n busy \n"), failed: "status 503 Service Unavailable: busy"},
		"too many requests": {handle: retryAfter(429, "120"), failed: "status 429 Too Many Requests, retry after 2m0s"},
		"early":             {handle: status(425, ""), failed: "status 425 Too Early"},
		"slow client":       {handle: status(408, ""), failed: "status 408 Request Timeout"},
		"bad request":       {handle: status(400, ""), failed: "status 400 Bad Request", permanent: true},
		"redirect": {
			settings: map[string]any{"follow_redirects": "never"}, handle: http.RedirectHandler("/x?token=s3cret", http.StatusFound).ServeHTTP,
			failed: "status 302 Found (redirects of GET are not followed, see follow_redirects)", permanent: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.handle)
			settings := map[string]any{"url": s.URL + "/job"}
			maps.Copy(settings, tt.settings)
			result, err := newJob(t, settings).Run(t.Context(), newRun(new(bytes.Buffer)))
			if tt.failed == "" {
				if err != nil || result.Message != tt.message || result.Deferred {
					t.Fatalf("result %+v, %v", result, err)
				}
				return
			}
			if want := "GET " + s.URL + "/job: " + tt.failed; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("error %q, want %q", err, want)
			}
			if pluginapi.IsPermanent(err) != tt.permanent {
				t.Errorf("permanent %v: %v", !tt.permanent, err)
			}
		})
	}
}

func retryAfter(code int, value string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", value)
		w.WriteHeader(code)
	}
}

func TestAsync(t *testing.T) {
	t.Parallel()
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "will report to %s\n", r.Header.Get("X-Ax-Callback-Url"))
	})
	var out bytes.Buffer
	run := newRun(&out)
	result, err := newJob(t, map[string]any{"url": s.URL, "async": true}).Run(t.Context(), run)
	if err != nil || !result.Deferred {
		t.Fatalf("result %+v, %v", result, err)
	}
	if got := s.last(t).header.Get("X-Ax-Callback-Url"); got != run.CallbackURL {
		t.Errorf("callback URL %q", got)
	}
	if all := out.String() + result.Message; strings.Contains(all, "t0ken") || !strings.Contains(all, "will report to [hidden]") {
		t.Errorf("the service's echo shows the callback URL: %q", all)
	}

	t.Run("no listener", func(t *testing.T) {
		run := newRun(&out)
		run.CallbackURL = ""
		_, err := newJob(t, map[string]any{"url": s.URL, "async": true}).Run(t.Context(), run)
		if !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "async needs a callback URL") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("answered at once", func(t *testing.T) {
		s := newService(t, ok)
		result, err := newJob(t, map[string]any{"url": s.URL, "async": true}).Run(t.Context(), newRun(&out))
		if result.Deferred || err == nil || !strings.Contains(err.Error(), "status 200 OK (expected [202])") {
			t.Errorf("result %+v, %v", result, err)
		}
		result, err = newJob(t, map[string]any{"url": s.URL, "async": true, "expect_status": []string{"200"}}).Run(t.Context(), newRun(&out))
		if !result.Deferred || err != nil {
			t.Errorf("result %+v, %v", result, err)
		}
	})
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	handlers := map[string]func(w http.ResponseWriter, asked func()){
		"no answer": func(_ http.ResponseWriter, asked func()) { asked() },
		"no end": func(w http.ResponseWriter, asked func()) {
			fmt.Fprint(w, "beginning")
			w.(http.Flusher).Flush()
			asked()
		},
	}
	for name, handle := range handlers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{}, 2)
			s := newService(t, func(w http.ResponseWriter, r *http.Request) {
				handle(w, func() { asked <- struct{}{} })
				<-r.Context().Done() // the client has gone
			})
			_, err := newJob(t, map[string]any{"url": s.URL, "timeout": "50ms"}).Run(t.Context(), newRun(new(bytes.Buffer)))
			if !errors.Is(err, webcall.ErrSlow) || !strings.Contains(err.Error(), "no answer within the timeout of 50ms") || pluginapi.IsPermanent(err) {
				t.Errorf("error %v", err)
			}
			<-asked

			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-asked
				cancel(pluginapi.ErrReplaced)
			}()
			_, err = newJob(t, map[string]any{"url": s.URL}).Run(ctx, newRun(new(bytes.Buffer)))
			if !errors.Is(err, pluginapi.ErrReplaced) {
				t.Errorf("error %v", err)
			}
		})
	}
}
