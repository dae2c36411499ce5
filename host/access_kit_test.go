package host

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/access"
	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// annHash is that of "correct horse".
const annHash = "$2a$10$HNUM7r7/w1Tw7nc8noQFLO1vCEnV8NGJxh/pIbuMeHDEmDbO2Ljeu"

// members are the tokens of a guarded host by their names, and what they may do.
var members = map[string]string{
	"viewer": "role: viewer", "operator": "role: operator", "admin": "role: admin",
	"billing-viewer": "role: viewer, groups: billing", "billing-operator": "role: operator, groups: [billing, other]",
	"billing-admin": "role: admin, groups: billing", "gone": `role: admin, expires: "2020-01-01"`,
}

// tokenOf is the token with a name.
func tokenOf(name string) string { return "ax_" + name }

const guardedTasks = `tasks:
  - {name: close-day, group: billing, every: 1h, job: {use: exec}}
  - {name: payday, group: payroll, every: 1h, job: {use: exec}}
  - {name: alone, every: 1h, job: {use: exec}}
`

// accessConfig is a configuration with all members, and ann with a password.
func accessConfig(more string) string {
	text := "app: a\ndata_dir: data\nhttp: {listen: \"127.0.0.1:0\"}\nplugins: {dir: plugins}\naccess:\n  users:\n" +
		"    - {name: ann, password_hash: " + annHash + ", role: operator}\n  tokens:\n"
	for name, grant := range members {
		text += "    - {name: " + name + ", sha256: " + access.HashToken(tokenOf(name)) + ", " + grant + "}\n"
	}
	return text + more
}

// guarded is a running host that asks people who they are.
type guarded struct {
	*Host
	t    *testing.T
	path string
	log  *record
	base string
	// transport is nil for the usual one.
	transport http.RoundTripper
	// ids are those of what belongs to a task, by its kind and the task.
	ids map[string]string
}

func startGuarded(t *testing.T, config string) *guarded {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := &guarded{t: t, path: filepath.Join(dir, "ax.yaml"), log: &record{}, ids: map[string]string{}}
	g.write(config)
	h, err := New(Options{Config: g.path, Log: hclog.New(&hclog.LoggerOptions{Output: g.log})})
	if err == nil {
		err = h.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Stop(context.Background()) })
	g.Host, g.base = h, "http://"+h.Address()
	return g
}

func (g *guarded) write(config string) {
	g.t.Helper()
	if err := os.WriteFile(g.path, []byte(config), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// furnish gives each of two tasks a run and an alert.
func (g *guarded) furnish() {
	g.t.Helper()
	lease, err := g.store.AlertLease(g.t.Context(), "a")
	if err != nil {
		g.t.Fatal(err)
	}
	now := time.Now()
	batch := ax.AlertBatch{Lease: lease, TTL: time.Hour}
	for i, task := range []string{"close-day", "payday"} {
		run := ax.Instance{
			ID: ax.InstanceID(g.Host.ids.Next(now)), App: "a", TaskID: ax.NewTaskID("a", task), TaskName: task, Kind: ax.KindScheduled,
			ScheduledAt: now.Add(-time.Hour).Truncate(time.Microsecond), Status: ax.StatusMissed, Reason: "the host was away", CreatedAt: now, EndedAt: now,
		}
		written := make(chan error, 1)
		g.store.Submit(ax.Change{Insert: []ax.Instance{run}, Done: func(_ bool, err error) { written <- err }})
		if err := <-written; err != nil {
			g.t.Fatal(err)
		}
		g.ids["run "+task] = run.ID.String()
		batch.Rows = append(batch.Rows, ax.AlertRow{
			ID: int64(700 + i), App: "a", TaskID: ax.NewTaskID("a", task), TaskName: task, Notifier: "ops", Event: "failed",
			State: ax.AlertGivenUp, WindowStart: now, WindowEnd: now, FirstAt: now, LastAt: now, Count: 1,
		})
		g.ids["alert "+task] = []string{"700", "701"}[i]
	}
	if err := g.store.WriteAlerts(g.t.Context(), batch); err != nil {
		g.t.Fatal(err)
	}
}

// silence makes a silence of a task and returns its id.
func (g *guarded) silence(task string) string {
	g.t.Helper()
	s, err := backend{g.Host}.Silence(g.t.Context(), api.SilenceOptions{Task: task, Until: time.Now().Add(time.Hour), Actor: "test"})
	if err != nil {
		g.t.Fatal(err)
	}
	return s.ID
}

// reply is what a host answered.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; header are pairs. Of a live log only the beginning is read.
func (g *guarded) ask(method, path, body string, header ...string) reply {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, g.base+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatalf("%s %s: %v", method, path, err)
	}
	if strings.HasPrefix(path, "/api/") && body != "" {
		r.Header.Set("Content-Type", "application/json")
	} else if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: g.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return reply{status: http.StatusRequestEntityTooLarge} // it did not want to read all of it
	}
	if err != nil {
		g.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	answer := reply{status: resp.StatusCode, header: resp.Header}
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		return answer
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatalf("%s %s: %v", method, path, err)
	}
	answer.body = string(raw)
	return answer
}

// as is the header of a member.
func as(member string) []string { return []string{"Authorization", "Bearer " + tokenOf(member)} }

// login returns the cookie of a session.
func (g *guarded) login(name, password string) (cookie string, r reply) {
	g.t.Helper()
	r = g.ask("POST", "/login", "name="+name+"&password="+strings.ReplaceAll(password, " ", "+"))
	cookie, _, _ = strings.Cut(r.header.Get("Set-Cookie"), ";")
	return cookie, r
}

// audited returns the newest rows of the audit trail with an action.
func (g *guarded) audited(action string) []ax.AuditRow {
	g.t.Helper()
	rows, err := g.store.AuditTrail(g.t.Context(), ax.AuditFilter{App: "a", Limit: 1000})
	if err != nil {
		g.t.Fatal(err)
	}
	var found []ax.AuditRow
	for _, row := range rows {
		if row.Action == action {
			found = append(found, row)
		}
	}
	return found
}

// changes are the rows of the audit trail about tasks and silences.
func (g *guarded) changes() []ax.AuditRow {
	g.t.Helper()
	rows, err := g.store.AuditTrail(g.t.Context(), ax.AuditFilter{App: "a", Limit: 10_000})
	if err != nil {
		g.t.Fatal(err)
	}
	return slices.DeleteFunc(rows, func(r ax.AuditRow) bool { return strings.HasPrefix(r.Action, "access.") || r.Actor == "test" })
}
