package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/client"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
)

// newHost returns a client of a host that is not there, and what it changes.
func newHost(t *testing.T) (*client.Client, *apitest.Changes) {
	t.Helper()
	backend, changes := apitest.Sample()
	server := httptest.NewServer(api.New(api.Config{Backend: backend, Log: hclog.NewNullLogger(), Version: "test"}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{Actor: "a program"})
	if err != nil {
		t.Fatal(err)
	}
	return c, changes
}

func TestCalls(t *testing.T) {
	t.Parallel()
	c, changes := newHost(t)
	ctx := t.Context()
	tasks, err := c.Tasks(ctx, "billing/")
	if err != nil || len(tasks) != 3 || tasks[0].Name != "billing/close-day" {
		t.Errorf("tasks: %+v %v", tasks, err)
	}
	if task, err := c.Task(ctx, "billing/close-day"); err != nil || task.Group != "billing" {
		t.Errorf("task: %+v %v", task, err)
	}
	if next, err := c.Next(ctx, "warm-up", 3); err != nil || len(next) != 3 {
		t.Errorf("next: %v %v", next, err)
	}
	id, err := c.Run(ctx, "warm-up", client.RunOptions{Params: map[string]any{"day": "today"}, Key: "once"})
	if err != nil || id == "" {
		t.Errorf("run: %q %v", id, err)
	}
	if err := c.Pause(ctx, "warm-up", time.Time{}); err != nil {
		t.Errorf("pause: %v", err)
	}
	if err := c.Resume(ctx, "warm-up"); err != nil {
		t.Errorf("resume: %v", err)
	}
	if list, err := c.Instances(ctx, "", 2); err != nil || len(list) != 2 {
		t.Errorf("instances: %v %v", list, err)
	}
	if instance, err := c.Wait(ctx, "101", time.Millisecond); err != nil || !instance.Status.Final() {
		t.Errorf("instance: %+v %v", instance, err)
	}
	if log, err := c.Log(ctx, "103", 100); err != nil || len(log) == 0 {
		t.Errorf("log: %v %v", log, err)
	}
	if health, err := c.Health(ctx); err != nil || health.App != "orders" {
		t.Errorf("health: %+v %v", health, err)
	}
	if _, err := c.Reload(ctx); err != nil {
		t.Errorf("reload: %v", err)
	}
	if made := strings.Join(changes.List(), "; "); !strings.Contains(made, "run warm-up") || !strings.Contains(made, "a program") {
		t.Errorf("changes: %s", made)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	c, _ := newHost(t)
	_, err := c.Task(t.Context(), "warmup")
	problem, ok := errors.AsType[*client.ProblemError](err)
	if !ok || problem.Status != http.StatusNotFound || err.Error() != `there is no task "warmup"` {
		t.Errorf("%v", err)
	}
	away, err := client.New("http://127.0.0.1:1", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := away.Health(t.Context()); err != nil {
		if _, ok := errors.AsType[*client.UnreachableError](err); !ok {
			t.Errorf("%v", err)
		}
	}
	for _, bad := range []string{"", "ax.example", "ftp://ax.example", "https://ax.example/path", "https://u:p@ax.example", "https://ax.example?q"} {
		if _, err := client.New(bad, client.Options{}); err == nil {
			t.Errorf("%q is taken for a host", bad)
		}
	}
	if _, err := client.New("https://ax.example", client.Options{CA: []byte("nonsense")}); err == nil {
		t.Error("nonsense is taken for an authority")
	}
}

// TestTokensStay: a token is not sent to where a host leads.
func TestTokensStay(t *testing.T) {
	t.Parallel()
	leaked := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked <- r.Header.Get("Authorization") }))
	t.Cleanup(other.Close)
	host := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(host.Close)
	c, err := client.New(host.URL, client.Options{Token: "ax_secret"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "is no ax host") {
		t.Errorf("%v", err)
	}
	if len(leaked) != 0 {
		t.Errorf("the other host was asked with %q", <-leaked)
	}
}
