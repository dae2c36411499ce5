package e2e

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/ax"
)

// page sends a form to a page of the console, or opens one without a form, and
// returns where it leads or what it says.
func (w *world) page(path string, form url.Values) (status int, to, said string) {
	w.t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.addr+path, strings.NewReader(form.Encode()))
	w.must(err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	w.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	w.must(err)
	return resp.StatusCode, resp.Header.Get("Location"), string(text)
}

// TestFormOnAHost: the form has the settings of the plugins that are there, and makes a
// task that runs with a secret that is in no row.
func TestFormOnAHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "exec", "http")
	w.config("secrets: {hush: hush-hush}\ntasks:\n- {name: filed, every: 1h, job: {use: exec, with: {command: [\"true\"]}}}\n")
	h := w.start()
	defer h.stop()
	if status, _, said := w.page("/define?job=exec", nil); status != http.StatusOK || !strings.Contains(said, `name="job.with.kill_after"`) {
		t.Fatalf("the form has no settings of exec: %d", status)
	}
	form := url.Values{
		"do": {"save"}, "name": {"secretive"}, "when": {"every"}, "every": {"1h"}, "enabled": {"yes"}, "job.use": {"exec"},
		"job.with.shell": {`test "${#TOKEN}" = 9`}, "job.with.env": {"TOKEN: hush-hush"},
	}
	if status, _, said := w.page("/define", form); status != http.StatusUnprocessableEntity || !strings.Contains(said, "a secret is not written down here") {
		t.Fatalf("a secret in the definition: %d %s", status, said)
	}
	form.Set("job.with.env", `TOKEN: "${secret:hush}"`)
	status, to, said := w.page("/define", form)
	if status != http.StatusSeeOther || to != "/tasks/secretive?note=made" {
		t.Fatalf("%d %s %s", status, to, said)
	}
	for _, path := range []string{"/tasks/secretive", "/tasks/secretive/edit", "/tasks/secretive/edit?text", "/tasks/secretive/delete", "/audit", "/api/v1/audit", "/api/v1/tasks/secretive/definition"} {
		if status, _, said := w.page(path, nil); status != http.StatusOK || strings.Contains(said, "hush-hush") {
			t.Errorf("%s: %d, or it shows the secret", path, status)
		}
	}
	form.Set("version", "1")
	form.Set("description", "edited")
	if status, to, said := w.page("/tasks/secretive/edit", form); status != http.StatusSeeOther {
		t.Fatalf("%d %s %s", status, to, said)
	}
	w.axOK("run", "secretive", "--wait")
	w.runs("secretive", 1, ax.StatusSuccess)

	form.Set("description", "late")
	if status, _, said := w.page("/tasks/secretive/edit", form); status != http.StatusPreconditionFailed || !strings.Contains(said, "description: late") || !strings.Contains(said, "description: edited") {
		t.Errorf("the second edit of version 1: %d %s", status, said)
	}
	form.Set("job.with.kill_after", "soon")
	form.Set("version", "2")
	if status, _, said := w.page("/tasks/secretive/edit", form); status != http.StatusUnprocessableEntity || !strings.Contains(said, "kill_after: expected a duration") {
		t.Errorf("a faulty setting: %d %s", status, said)
	}
	if status, to, _ := w.page("/tasks/secretive/delete", url.Values{"version": {"2"}}); status != http.StatusSeeOther || to != "/tasks?note=deleted" {
		t.Errorf("delete: %d %s", status, to)
	}
	if _, there := w.tasks()["secretive"]; there {
		t.Error("it is still there")
	}
}
