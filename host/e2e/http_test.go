package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// service is a server that jobs call, and that keeps what they ask.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	asked []request
}

type request struct {
	header http.Header
	path   string
	body   string
}

// newService starts a service that answers by the path of a request.
func newService(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.asked = append(s.asked, request{r.Header, r.URL.Path, string(body)})
		s.mu.Unlock()
		switch {
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		case strings.HasPrefix(r.URL.Path, "/broken"):
			http.Error(rw, "the shelf is empty", http.StatusInternalServerError)
		case r.URL.Path == "/flaky" && r.Header.Get("X-Ax-Attempt") == "1":
			http.Error(rw, "not yet", http.StatusServiceUnavailable)
		case r.Header.Get("X-Ax-Callback-Url") != "":
			rw.WriteHeader(http.StatusAccepted)
			fmt.Fprintln(rw, "queued")
		default:
			fmt.Fprintln(rw, "all is well")
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// requests returns what was asked at a path.
func (s *service) requests(path string) []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []request
	for _, r := range s.asked {
		if r.path == path {
			found = append(found, r)
		}
	}
	return found
}

// awaited waits for at least n requests at a path.
func (s *service) awaited(w *world, path string, n int) (found []request) {
	w.t.Helper()
	eventually(w.t, patience, func() error {
		if found = s.requests(path); len(found) < n {
			return fmt.Errorf("%d requests at %s, want %d", len(found), path, n)
		}
		return nil
	})
	return found
}

func TestHTTPOutcomes(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := newWorld(t, "http")
	w.config(strings.ReplaceAll(`
defaults: {retry: {count: 1, delay: 100ms}}
tasks:
- name: well
  at: "2099-01-01"
  job: {use: http, with: {url: URL/well, method: POST}}
  params: {day: '{{ date "2006-01-02" .ScheduledAt }}'}
- {name: flaky, at: "2099-01-01", job: {use: http, with: {url: URL/flaky}}}
- {name: broken, at: "2099-01-01", job: {use: http, with: {url: URL/broken}}}
- {name: slow, at: "2099-01-01", timeout: 500ms, retry: 0, job: {use: http, with: {url: URL/slow}}}
- {name: nobody, at: "2099-01-01", retry: 0, job: {use: http, with: {url: "http://127.77.0.1:1/"}}}
`, "URL", s.URL))
	h := w.start()
	defer h.stop()
	for _, tt := range []struct {
		task    string
		status  ax.Status
		attempt int
		texts   []string
	}{
		{"well", ax.StatusSuccess, 1, []string{"200 OK: all is well"}},
		{"flaky", ax.StatusSuccess, 2, []string{"200 OK"}},
		{"broken", ax.StatusFailed, 2, []string{"500", "the shelf is empty"}},
		{"slow", ax.StatusTimeout, 1, []string{"timeout"}},
		{"nobody", ax.StatusFailed, 1, []string{"refused"}},
	} {
		r := w.instance(w.run(tt.task), ax.StatusSuccess, ax.StatusFailed, ax.StatusTimeout, ax.StatusLost)
		if r.Status != tt.status || r.Attempt != tt.attempt || !containsAll(r.Message+r.Error, tt.texts) {
			t.Errorf("%s is %s in attempt %d: %q %q; want %s in %d with %q",
				tt.task, r.Status, r.Attempt, r.Message, r.Error, tt.status, tt.attempt, tt.texts)
		}
	}
	if asked := s.requests("/well"); len(asked) != 1 || !strings.HasPrefix(asked[0].body, `{"day":"20`) {
		t.Errorf("well was asked %+v", asked)
	}
	if asked := s.requests("/broken"); len(asked) != 2 ||
		asked[0].header.Get("X-Ax-Idempotency-Key") != asked[1].header.Get("X-Ax-Idempotency-Key") {
		t.Errorf("broken was asked %+v, want two attempts with one key", asked)
	}
}

// A service may answer at once and report the end of its work later, also to
// the next life of the host.
func TestHTTPCallback(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := newWorld(t, "http")
	w.config(strings.ReplaceAll(`
defaults: {retry: 0}
tasks:
- {name: good, at: "2099-01-01", job: {use: http, with: {url: URL/good, async: true}}}
- {name: bad, at: "2099-01-01", job: {use: http, with: {url: URL/bad, async: true}}}
- {name: later, at: "2099-01-01", job: {use: http, with: {url: URL/later, async: true}}}
- {name: silent, at: "2099-01-01", timeout: 1s, job: {use: http, with: {url: URL/silent, async: true}}}
`, "URL", s.URL))
	h := w.start()
	deferred := func(task string) (id, callback string) {
		id = w.run(task)
		callback = s.awaited(w, "/"+task, 1)[0].header.Get("X-Ax-Callback-Url")
		eventually(t, patience, func() error {
			if len(w.rows("id = ? AND status = 'RUNNING' AND deferred = 1", id)) == 0 {
				return fmt.Errorf("%s does not wait for its callback", task)
			}
			return nil
		})
		return id, callback
	}
	report := func(url, body string, want int) {
		t.Helper()
		if status, text := w.post(url, body); status != want {
			t.Errorf("the callback was answered %d: %s; want %d", status, text, want)
		}
	}
	good, goodURL := deferred("good")
	bad, badURL := deferred("bad")
	later, laterURL := deferred("later")
	silent := w.run("silent")
	silentURL := s.awaited(w, "/silent", 1)[0].header.Get("X-Ax-Callback-Url")

	forged := goodURL[:len(goodURL)-4] + "0000"
	report(forged, `{"status": "success"}`, http.StatusNotFound)
	report(goodURL, `{"status": "splendid"}`, http.StatusUnprocessableEntity)
	if r := w.rows("id = ?", good)[0]; r.Status != ax.StatusRunning {
		t.Fatalf("a callback with a wrong token or body made the instance %s", r.Status)
	}
	report(goodURL, `{"status": "success", "message": "12 rows", "data": {"rows": 12}}`, http.StatusNoContent)
	if r := w.instance(good, ax.StatusSuccess); r.Message != "12 rows" || r.Data != `{"rows":12}` {
		t.Errorf("after the callback: %+v", r)
	}
	report(goodURL, `{"status": "failed", "message": "changed my mind"}`, http.StatusConflict)
	w.instance(good, ax.StatusSuccess)
	report(badURL, `{"status": "failed", "message": "disk full"}`, http.StatusNoContent)
	if r := w.instance(bad, ax.StatusFailed); r.Error != "disk full" {
		t.Errorf("after a callback of a failure: %+v", r)
	}
	if r := w.instance(silent, ax.StatusTimeout); r.EndedAt.Sub(r.StartedAt) > 10*time.Second {
		t.Errorf("without a callback: %+v", r)
	}
	report(silentURL, `{"status": "success"}`, http.StatusConflict)

	h.kill()
	h = w.start()
	report(laterURL, `{"status": "success", "message": "late, but here"}`, http.StatusNoContent)
	if r := w.instance(later, ax.StatusSuccess); r.Message != "late, but here" {
		t.Errorf("after a callback to the next host: %+v", r)
	}
	h.stop()
}
