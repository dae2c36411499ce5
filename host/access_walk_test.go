package host

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
)

// expectation is what testdata/routes.txt says of a route.
type expectation struct {
	method, path string
	role, scope  string
}

func expectations(t *testing.T) map[string]expectation {
	t.Helper()
	text, err := os.ReadFile("testdata/routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]expectation{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 3 && fields[0] != "#" {
			e := expectation{method: fields[0], path: fields[1], role: fields[2]}
			if len(fields) > 3 {
				e.scope = fields[3]
			}
			all[e.method+" "+e.path] = e
		}
	}
	return all
}

// routes returns the routes of all that a host serves, from the tables by which it
// serves them.
func (g *guarded) routes() []string {
	g.t.Helper()
	pages, err := g.newConsole()
	if err != nil {
		g.t.Fatal(err)
	}
	return api.New(api.Config{Backend: g.narrowed(), Pages: pages, Log: g.Host.log, Version: "test"}).Patterns()
}

// about is the path of a route for what belongs to a task.
func (g *guarded) about(path, task string) string {
	id := g.ids["run "+task]
	switch {
	case strings.Contains(path, "/alerts/"):
		id = g.ids["alert "+task]
	case strings.Contains(path, "/calendars/"):
		task = "cn"
	case strings.Contains(path, "/silences/{id}"):
		id = g.silence(task)
	}
	return strings.NewReplacer("{name}", task, "{id}", id, "{token}", "t0ken", "{incarnation}", "nobody", "{$}", "").Replace(path)
}

// bodies are those that routes need to do something.
func bodyOf(e expectation, task string) string {
	switch e.method + " " + e.path {
	case "POST /api/v1/silences":
		return `{"task":"` + task + `","until":"2020-01-01T00:00:00Z"}`
	case "POST /api/v1/tasks/{name}/backfill":
		return `{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T01:00:00Z","dry_run":true}`
	case "POST /api/v1/tasks", "POST /api/v1/tasks/check", "PUT /api/v1/tasks/{name}":
		return `{"name":"` + task + `","group":"billing","every":"1h","job":{"use":"http"}}`
	case "POST /api/v1/callbacks/{id}/{token}":
		return `{"status":"success"}`
	case "POST /define":
		return "do=check&name=new"
	case "POST /tasks/{name}/edit", "POST /tasks/{name}/delete":
		return "version=1&name=" + task
	case "POST /tasks", "POST /tasks/{name}":
		return "do=resume&task=" + task
	}
	return ""
}

// letIn reports whether an answer is one to somebody who may use the route.
func (r reply) letIn() bool {
	toLogin := r.status == http.StatusSeeOther && strings.HasPrefix(r.header.Get("Location"), "/login?back") || r.header.Get("Location") == "/login"
	return r.status != http.StatusUnauthorized && r.status != http.StatusForbidden && !toLogin
}

// TestEveryRoute walks all routes as everybody, and compares with the table of
// expectations.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, accessConfig(guardedTasks))
	g.furnish()
	want := expectations(t)
	for _, route := range g.routes() {
		e, known := want[route]
		if !known {
			t.Errorf("%s is new: say in testdata/routes.txt who may use it", route)
			continue
		}
		delete(want, route)
		if strings.HasPrefix(e.path, "/login") || e.path == "/logout" {
			continue // what they answer to whom is tested by itself
		}
		g.walk(e)
	}
	for route := range want {
		t.Errorf("testdata/routes.txt has %s, which is not served", route)
	}
}

// walk uses a route as everybody.
func (g *guarded) walk(e expectation) {
	g.t.Helper()
	try := func(task string, header ...string) reply {
		return g.ask(e.method, g.about(e.path, task), bodyOf(e, task), append([]string{"If-Match", "*"}, header...)...)
	}
	for name, header := range map[string][]string{
		"nobody": nil, "an unknown token": as("nobody"), "an expired token": as("gone"), "no token": {"Authorization", "Basic YWRtaW46YWRtaW4="},
	} {
		if r := try("close-day", header...); r.letIn() != (e.role == "public") {
			g.t.Errorf("%s %s: %s gets %d %s", e.method, e.path, name, r.status, r.body)
		}
	}
	order := []string{"public", "viewer", "operator", "admin"}
	for member := range members {
		group, role, restricted := strings.Cut(member, "-")
		if !restricted {
			role = group
		}
		rank := slices.Index(order, role)
		if rank < 0 {
			continue
		}
		may := rank >= slices.Index(order, e.role) && (!restricted || e.scope != "whole")
		r := try("close-day", as(member)...)
		if r.letIn() != may {
			g.t.Errorf("%s %s: %s gets %d %s", e.method, e.path, member, r.status, r.body)
		}
		if own := may && e.scope == "own"; own && r.status == http.StatusNotFound {
			g.t.Errorf("%s %s: %s does not find what is theirs: %s", e.method, e.path, member, r.body)
		}
		if other := try("payday", as(member)...); may && restricted && e.scope == "own" && other.status != http.StatusNotFound {
			g.t.Errorf("%s %s: %s gets %d of others: %s", e.method, e.path, member, other.status, other.body)
		} else if may && restricted && e.scope == "part" && strings.Contains(strings.ReplaceAll(other.body, "task=payday", ""), "payday") && e.method == "GET" {
			g.t.Errorf("%s %s: %s is shown what belongs to others: %s", e.method, e.path, member, other.body)
		}
	}
}

// TestForeignPages: what pages of other origins send changes nothing, whoever looks
// at them.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, accessConfig(guardedTasks))
	g.furnish()
	for _, e := range expectations(t) {
		if e.method != "GET" {
			g.fromElsewhere(e)
		}
	}
	for _, row := range g.changes() {
		if strings.HasSuffix(row.Actor, "(token)") {
			t.Errorf("changed: %s %s by %s", row.Action, row.Object, row.Actor)
		}
	}
}

// TestEveryRouteUnderAttack: hostile addresses and bodies without end get nowhere.
func TestEveryRouteUnderAttack(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, accessConfig(guardedTasks))
	g.furnish()
	const script = `<script>alert(1)</script>`
	hostile := []string{
		"%3Cscript%3Ealert(1)%3C%2Fscript%3E", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%5c..%5cetc%5cpasswd",
		"x'%20OR%20'1'='1", "1;DROP%20TABLE%20ax_task", "%00", "%0d%0aSet-Cookie:%20a=b", strings.Repeat("9", 5000), "%ff%fe",
	}
	for _, e := range expectations(t) {
		if e.method != "GET" {
			g.withHugeBodies(e)
		}
		for _, value := range hostile {
			path := strings.NewReplacer("{name}", value, "{id}", value, "{token}", value, "{incarnation}", value, "{$}", "").Replace(e.path)
			if !strings.Contains(e.path, "{") || e.path == "/{$}" {
				path += "?q=" + value + "&task=" + value + "&back=" + value + "&object=" + value + "&month=" + value
			}
			if e.method != "GET" && !strings.Contains(e.path, "{") {
				continue
			}
			r := g.ask(e.method, path, "", as("admin")...)
			if r.status >= 500 && r.status != http.StatusServiceUnavailable && r.status != http.StatusBadGateway {
				t.Errorf("%s %s: %d %s", e.method, path, r.status, r.body)
			}
			isPage := strings.HasPrefix(r.header.Get("Content-Type"), "text/html")
			if isPage && strings.Contains(r.body, script) || strings.Contains(r.body, "root:x:0:0") || r.header.Get("Set-Cookie") == "a=b" {
				t.Errorf("%s %s: %s", e.method, path, r.body)
			}
			if r.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: a browser may guess what it is", e.method, path)
			}
		}
	}
}

// fromElsewhere sends what pages of other origins send.
func (g *guarded) fromElsewhere(e expectation) {
	g.t.Helper()
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		r := g.ask(e.method, g.about(e.path, "close-day"), bodyOf(e, "close-day"), append(header, as("admin")...)...)
		if r.status != http.StatusForbidden {
			g.t.Errorf("%s %s with %v: %d %s", e.method, e.path, header, r.status, r.body)
		}
	}
}

// withHugeBodies sends more than anybody wants to read.
func (g *guarded) withHugeBodies(e expectation) {
	g.t.Helper()
	huge := strings.Repeat("x", 3<<20)
	for _, body := range []string{`{"params":{"x":"` + huge + `"}}`, "name=" + huge} {
		r := g.ask(e.method, g.about(e.path, "close-day"), body, as("admin")...)
		ignored := strings.HasSuffix(e.path, "/reload") || strings.HasSuffix(e.path, "/resume") || strings.HasSuffix(e.path, "/check") || r.status == http.StatusSeeOther || r.status == http.StatusNoContent
		if r.status >= 500 || r.status < 300 && !ignored {
			g.t.Errorf("%s %s with a huge body: %d %s", e.method, e.path, r.status, r.body)
		}
	}
}
