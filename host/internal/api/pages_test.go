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

// TestPages: what is not of the API goes to the pages, behind the same guard.
func TestPages(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) })
	server := httptest.NewServer(api.New(api.Config{Backend: backend, Pages: pages, Log: hclog.NewNullLogger()}))
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
		{"GET", "/", "Host", "evil.example.com", 421, ""},
		{"POST", "/tasks/a/run", "Sec-Fetch-Site", "cross-site", 403, ""},
		{"POST", "/tasks/a/run", "Sec-Fetch-Site", "same-origin", 200, "page /tasks/a/run"},
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
}
