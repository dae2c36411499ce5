package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/axsched/ax/pluginapi"
)

func TestRedirects(t *testing.T) {
	t.Parallel()
	const refused = ""
	tests := map[string]struct {
		method, policy string
		code           int
		want           string // method and body of the second request
	}{
		"GET 302":            {"GET", "safe", 302, "GET "},
		"HEAD 301":           {"HEAD", "safe", 301, "HEAD "},
		"GET never":          {"GET", "never", 307, refused},
		"POST 302":           {"POST", "safe", 302, refused},
		"POST 307":           {"POST", "safe", 307, refused},
		"POST 302, always":   {"POST", "always", 302, "GET "},
		"POST 303, always":   {"POST", "always", 303, "GET "},
		"POST 307, always":   {"POST", "always", 307, `POST {"n":1}`},
		"PUT 308, always":    {"PUT", "always", 308, `PUT {"n":1}`},
		"DELETE 307, always": {"DELETE", "always", 307, "DELETE "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/from" {
					http.Redirect(w, r, "/to", tt.code)
				}
			})
			run := newRun(new(bytes.Buffer))
			run.Params = map[string]any{"n": 1}
			job := newJob(t, map[string]any{"url": s.URL + "/from", "method": tt.method, "follow_redirects": tt.policy})
			_, err := job.Run(t.Context(), run)
			if tt.want == refused {
				if !pluginapi.IsPermanent(err) || !strings.Contains(err.Error(), "redirects of "+tt.method+" are not followed") || len(s.seen) != 1 {
					t.Errorf("error %v after %d requests", err, len(s.seen))
				}
				return
			}
			if got := s.last(t); err != nil || got.target != "/to" || got.method+" "+got.body != tt.want {
				t.Errorf("got %q %q %q, %v; want %q", got.target, got.method, got.body, err, tt.want)
			}
		})
	}
}

func TestRedirectToAnotherHostShowsNoSecrets(t *testing.T) {
	t.Parallel()
	other := newService(t, ok)
	first := newService(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	job := newJob(t, map[string]any{
		"url": first.URL + "?token=s3cret-query", "async": true, "expect_status": []string{"200"}, "follow_redirects": "always",
		"headers": map[string]string{"X-Api-Key": "s3cret-key", "Accept": "text/plain"}, "bearer_token": "s3cret-bearer",
	})
	if _, err := job.Run(t.Context(), newRun(new(bytes.Buffer))); err != nil {
		t.Fatal(err)
	}
	for name, values := range other.last(t).header {
		if text := strings.Join(values, " "); strings.Contains(text, "s3cret") || strings.Contains(text, "t0ken") {
			t.Errorf("%s: %s went to another host", name, text)
		}
	}
	if got := other.last(t).header; got.Get("Accept") != "text/plain" || got.Get("X-Ax-Instance") != "01J9" {
		t.Errorf("header %v", got)
	}
}

func TestRedirectLoop(t *testing.T) {
	t.Parallel()
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/again?token=s3cret", http.StatusFound)
	})
	_, err := newJob(t, map[string]any{"url": s.URL}).Run(t.Context(), newRun(new(bytes.Buffer)))
	if err == nil || !strings.HasSuffix(err.Error(), ": more than 10 redirects") {
		t.Errorf("error %v", err)
	}
}

func TestNoRedirectFromSafeToUnsafe(t *testing.T) {
	t.Parallel()
	unsafe := newService(t, ok)
	safe := httptest.NewTLSServer(http.RedirectHandler(unsafe.URL, http.StatusFound))
	t.Cleanup(safe.Close)
	job := newJob(t, map[string]any{"url": safe.URL, "tls": map[string]any{"insecure_skip_verify": true}})
	_, err := job.Run(t.Context(), newRun(new(bytes.Buffer)))
	if !pluginapi.IsPermanent(err) || len(unsafe.seen) != 0 {
		t.Errorf("error %v after %d requests", err, len(unsafe.seen))
	}
}
