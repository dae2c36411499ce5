package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
)

// pages are pages for everything.
type pages struct{ *api.Router }

func (p pages) Refuse(w http.ResponseWriter, _ *http.Request, status int, reason string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "page: "+reason)
}

// TestPages: what is not of the API goes to the pages.
func TestPages(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	all := pages{api.NewRouter()}
	all.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) })
	site := api.New(api.Config{Backend: backend, Pages: all, Log: hclog.NewNullLogger()})
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	for _, test := range []struct {
		method, path, header, value string
		status                      int
		body                        string
	}{
		{"GET", "/", "", "", 200, "page /"},
		{"GET", "/tasks/a%2Fb", "", "", 200, "page /tasks/a/b"},
		{"GET", "/metrics", "", "", 200, "ax_up 1\n"},
		{"GET", "/api/v1/nothing", "", "", 404, ""},
		{"POST", "/tasks/a/run", "", "", 200, "page /tasks/a/run"},
	} {
		var header []string
		if test.header != "" {
			header = []string{test.header, test.value}
		}
		status, _, body := call(t, server, test.method, test.path, "", header...)
		if status != test.status || test.body != "" && body != test.body {
			t.Errorf("%+v: %d %q", test, status, body)
		}
	}
	for path, want := range map[string]string{"/api/v1/tasks": "GET /api/v1/tasks", "/api/v1/nothing": "", "/nothing": "/", "/metrics": "GET /metrics"} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		if got := site.Pattern(r); got != want {
			t.Errorf("%s: pattern %q, want %q", path, got, want)
		}
		w := httptest.NewRecorder()
		site.Refuse(w, r, 403, "not for you")
		if isPage := w.Body.String() == "page: not for you"; isPage != (path == "/nothing") || w.Code != 403 {
			t.Errorf("%s: refused with %d %s", path, w.Code, w.Body)
		}
	}
}
