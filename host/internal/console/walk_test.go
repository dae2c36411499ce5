package console_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/console"
)

// walk are all pages, by the names of their pictures.
func walk() []struct{ name, path string } {
	return []struct{ name, path string }{
		{"overview", "/"},
		{"tasks", "/tasks"},
		{"tasks-none", "/tasks?q=nothing&state=failing"},
		{"task", "/tasks/billing%2Fclose-day"},
		{"task-parked", "/tasks/warm-up?at=2026-03-01T10:00"},
		{"runs", "/runs"},
		{"run", "/runs/9900"},
		{"run-deferred", "/runs/104"},
		{"run-failed", "/runs/9997"},
		{"run-missed", "/runs/101"},
		{"alerts", "/alerts"},
		{"alert", "/alerts/703"},
		{"calendars", "/calendars"},
		{"calendar", "/calendars/cn"},
		{"calendar-unknown", "/calendars/cn?year=2027"},
		{"nodes", "/nodes"},
		{"plugins", "/plugins"},
		{"audit", "/audit"},
		{"define", "/define?job=http"},
		{"define-none", "/define"},
		{"edit", "/tasks/tidy-up/edit"},
		{"edit-yaml", "/tasks/tidy-up/edit?text"},
		{"copy", "/define?copy=tidy-up"},
		{"delete", "/tasks/tidy-up/delete"},
		{"missing", "/nowhere"},
		{"login", "/login?back=/tasks"},
	}
}

// serve serves the pages as a host does, with the API beside them, to somebody who
// may do everything.
func serve(t *testing.T, c console.Config) *httptest.Server {
	t.Helper()
	return serveTo(t, c, ax.Caller{Name: "console", Role: ax.RoleAdmin})
}

// serveTo serves the pages to somebody.
func serveTo(t *testing.T, c console.Config, caller ax.Caller) *httptest.Server {
	t.Helper()
	if c.Logins == nil {
		c.Logins = &logins{}
	}
	handler, err := console.New(c)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	site := api.New(api.Config{Backend: c.Backend, Pages: handler, Log: c.Log, Version: "test", Stop: stop})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site.ServeHTTP(w, r.WithContext(ax.WithCaller(r.Context(), caller)))
	}))
	t.Cleanup(func() {
		close(stop)
		server.Close()
	})
	return server
}

// TestWalk looks at all pages in a real browser, as all kinds of viewers do:
// nothing is wider than the screen, no script or rule of the policy complains,
// axe finds nothing serious, and nothing is asked of other hosts.
func TestWalk(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	chromium := browser(t)
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"en", "zh"} {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 390} {
				l := look{lang, theme, width}
				t.Run(l.String(), func(t *testing.T) {
					tab := open(t, chromium, server.URL, l)
					for _, p := range walk() {
						tab.visit(p.path)
						tab.shoot(p.name + "-" + l.String())
						tab.accessible(p.path, string(axe))
					}
				})
			}
		}
	}
}

// TestWalkIsWhole: the walk comes by every page that there is a route to.
func TestWalkIsWhole(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	c := config(sample)
	c.Logins = &logins{}
	pages, err := console.New(c)
	if err != nil {
		t.Fatal(err)
	}
	// These answer with something else than a page.
	left := map[string]bool{"GET /static/": false, "GET /runs/{id}/log": false, "GET /login/oidc": false, "GET /login/oidc/callback": false}
	for _, pattern := range pages.Patterns() {
		if _, known := left[pattern]; !known && strings.HasPrefix(pattern, "GET ") {
			left[pattern] = true
		}
	}
	for _, p := range walk() {
		left[pages.Pattern(httptest.NewRequestWithContext(t.Context(), http.MethodGet, p.path, http.NoBody))] = false
	}
	for pattern, missed := range left {
		if missed {
			t.Errorf("the walk does not come by %s", pattern)
		}
	}
}

// accessible holds a page against the rules of axe-core.
func (b *tab) accessible(path, axe string) {
	b.Helper()
	var found string
	b.run(chromedp.Evaluate(axe+";0", nil), chromedp.Evaluate(`axe.run({resultTypes: ["violations"]}).then(r => JSON.stringify(
		r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, at: v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + (n.any[0] || n.all[0] || n.none[0] || {}).message)}))))`,
		&found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	var violations []struct {
		ID, Impact, Help string
		At               []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		b.Fatal(err)
	}
	for _, v := range violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.Errorf("%s: axe finds %s (%s): %s\n%s", path, v.ID, v.Impact, v.Help, strings.Join(v.At, "\n"))
		}
	}
	b.complain(path)
}
