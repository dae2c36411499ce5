package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
)

// cutting serves the API and cuts each live log after a number of events, but
// not before it sent one, as often as it is told to.
type cutting struct {
	api  http.Handler
	cuts atomic.Int32
	seen chan string // Last-Event-ID of each connection
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/log/stream") {
		c.seen <- r.Header.Get("Last-Event-ID")
		if c.cuts.Add(-1) >= 0 {
			w = &cutWriter{ResponseWriter: w}
		}
	}
	c.api.ServeHTTP(w, r)
}

// cutWriter sends the first event of a batch and breaks the connection.
type cutWriter struct{ http.ResponseWriter }

func (w *cutWriter) Write(p []byte) (int, error) {
	text := string(p)
	if !strings.HasPrefix(text, "id: ") {
		return w.ResponseWriter.Write(p)
	}
	first, _, _ := strings.Cut(text, "\n\n")
	_, _ = w.ResponseWriter.Write([]byte(first + "\n\nid: 9999\ndata: {\"half\":"))
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestFollowOutlivesBrokenConnections(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	handler := &cutting{
		api:  api.New(api.Config{Backend: backend, Log: hclog.NewNullLogger(), Version: "0"}),
		seen: make(chan string, 10),
	}
	handler.cuts.Store(2)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	got := execute(t, server.URL, []string{"logs", "-f", "103"}, "")
	if got.code != 0 || strings.Count(got.out, "\n") != 3 || !strings.Contains(got.out, "对账 started") {
		t.Errorf("%+v", got)
	}
	close(handler.seen)
	var seen []string
	for id := range handler.seen {
		seen = append(seen, id)
	}
	if strings.Join(seen, " ") != " 1001 1002" {
		t.Errorf("connections began after %q", seen)
	}
}

func TestRunWaitExitsByOutcome(t *testing.T) {
	t.Parallel()
	for status, want := range map[ax.Status]int{
		ax.StatusSuccess: ExitOK, ax.StatusFailed: ExitFailed, ax.StatusTimeout: ExitFailed,
		ax.StatusLost: ExitFailed, ax.StatusCanceled: ExitFailed, ax.StatusSkipped: ExitFailed,
	} {
		backend, _ := apitest.Sample()
		backend.OnInstance = func(_ context.Context, id ax.InstanceID) (ax.Instance, error) {
			return ax.Instance{ID: id, TaskName: "warm-up", Status: status, Error: "exit status 3"}, nil
		}
		got := execute(t, newServer(t, backend).URL, []string{"run", "warm-up", "--wait"}, "")
		if got.code != want || !strings.Contains(got.out, "对账 started") || !strings.Contains(got.err, "instance 9007199254740993") {
			t.Errorf("%s: %+v", status, got)
		}
		if want != ExitOK && !strings.Contains(got.err, "exit status 3") {
			t.Errorf("%s: the error is not shown: %s", status, got.err)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		code int
		want string
	}{
		{&api.Conflict{Reason: "an instance runs already; use --force"}, ExitRefused, "--force"},
		{&api.Unavailable{Reason: "the host is stopping"}, ExitFailed, "stopping"},
		{&api.Invalid{Reason: "2 faults", Faults: []api.Fault{{Where: "conf.yaml:3:5", Message: "unknown key"}}}, ExitFaults, "conf.yaml:3:5: unknown key"},
	} {
		backend, _ := apitest.Sample()
		backend.OnReload = func(context.Context, string) (api.ReloadReport, error) { return api.ReloadReport{}, tc.err }
		got := execute(t, newServer(t, backend).URL, []string{"reload"}, "")
		if got.code != tc.code || !strings.Contains(got.err, tc.want) {
			t.Errorf("%v: %+v", tc.err, got)
		}
	}
}

func TestSomethingElseAnswers(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	got := execute(t, other.URL, []string{"tasks"}, "")
	if got.code != ExitFailed || !strings.Contains(got.err, "no ax host") {
		t.Errorf("%+v", got)
	}
}

func TestCompletionAsksTheHost(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	backend.OnTasks = func(_ context.Context, q api.TaskQuery) ([]api.TaskView, error) {
		return []api.TaskView{{Name: q.Prefix + "ly-report", Description: "At night"}}, nil
	}
	addr := newServer(t, backend).URL
	for _, command := range []string{"tasks", "run", "pause", "resume", "next"} {
		if got := execute(t, addr, []string{"__complete", command, "night"}, ""); !strings.HasPrefix(got.out, "nightly-report\tAt night\n") {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if got := execute(t, addr, []string{"__complete", "instances", "--status", "FA"}, ""); !strings.Contains(got.out, "FAILED") {
		t.Errorf("%+v", got)
	}
	if got := execute(t, "http://127.0.0.1:1", []string{"__complete", "run", "night"}, ""); strings.Contains(got.out, "nightly") {
		t.Errorf("%+v", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := execute(t, addr, []string{"completion", shell}, ""); got.code != 0 || !strings.Contains(got.out, "ax") {
			t.Errorf("%s: exit code %d", shell, got.code)
		}
	}
}

func TestTasksReadsAllPages(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	backend.OnTasks = func(_ context.Context, q api.TaskQuery) ([]api.TaskView, error) {
		if q.After != "" {
			return []api.TaskView{{Name: "the last one"}}, nil
		}
		page := make([]api.TaskView, q.Limit)
		page[q.Limit-1].Name = "the middle one"
		return page, nil
	}
	got := execute(t, newServer(t, backend).URL, []string{"tasks"}, "")
	if !strings.Contains(got.out, "the middle one") || !strings.Contains(got.out, "the last one") {
		t.Errorf("%d bytes, %s", len(got.out), got.err)
	}
}

func TestHostileTextCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	backend.OnEvents = func(_ context.Context, f ax.EventFilter) ([]ax.Event, error) {
		if f.After > 0 {
			return nil, nil
		}
		return []ax.Event{{ID: 1, Text: "a\x1b[2Jb\rc\u202ed", Stage: ax.StageOutput}}, nil
	}
	got := execute(t, newServer(t, backend).URL, []string{"logs", "103"}, "")
	if !strings.HasSuffix(got.out, "a[2Jbcd\n") || bytes.ContainsAny([]byte(got.out), "\x1b\r") {
		t.Errorf("%q", got.out)
	}
}
