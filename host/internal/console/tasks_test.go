package console_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/axsched/ax/host/internal/ax"
)

func TestTaskList(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	list := shown(t, server, "/tasks").id("list")
	says(t, "the list", list, "3 tasks", "billing/close-day billing Closes the books", "2 failures", "at 02:00 every day", "in 14 h", "每日对账", "paused", "parked")
	if got := shown(t, server, "/tasks?state=parked").id("list"); strings.Contains(got, "billing") || !strings.Contains(got, "warm-up") {
		t.Errorf("parked ones: %s", got)
	}
	says(t, "nothing", shown(t, server, "/tasks?q=nothing&group=gone").id("list"), "No task is like that.")
	page := shown(t, server, "/tasks?group=gone")
	if chosen := page.all(func(n *html.Node) bool {
		return n.Data == "option" && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "selected" })
	}); len(chosen) != 1 || text(chosen[0]) != "gone" {
		t.Errorf("what was searched for is not chosen: %d", len(chosen))
	}
}

func TestTask(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	page := shown(t, server, "/tasks/billing%2Fclose-day")
	says(t, "the schedule", page.section("schedule"), "at 02:00 every day", "0 0 2 * * ?", "2026-03-03 12:00:00 Tue", "60 times", "春节",
		"beyond the known years")
	says(t, "the month", page.id("month"), "2026-03", "Mon Tue", "1 running")
	says(t, "the chart", page.section("durations"), "the last 55 runs", "half take at most 3:45 min", "10:00 min")
	says(t, "the history", page.section("history"), "failed attempt 3", "no space left on device", "skipped")
	says(t, "why", page.section("why"), "No host ran then", "late by more than 1m0s")
	says(t, "the definition", page.section("definition"), "conf.yaml:12", "Timeout 1m30s", "team finance")
	says(t, "the changes", page.section("changes"), "task.update config")
	says(t, "the alerts", page.section("alerts"), "failed ×12")
	february := shown(t, server, "/tasks/billing%2Fclose-day?month=2026-02").id("month")
	says(t, "the month before", february, "2026-02", "28", "timeout", "skipped")
	if strings.Contains(february, "29") {
		t.Error("February has 28 days")
	}
	if got := ask(t, server, "GET", "/tasks/nobody", nil); got.status != http.StatusNotFound {
		t.Errorf("a task that is not there: %d", got.status)
	}
	if got := ask(t, server, "GET", "/tasks/warm-up?at=soon", nil); got.status != http.StatusBadRequest {
		t.Errorf("a time that is none: %d", got.status)
	}
}

func TestTaskChanges(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	for _, test := range []struct {
		path   string
		form   url.Values
		status int
		// to is where it leads, want the change that was made.
		to, want string
	}{
		{"/tasks/warm-up/run", url.Values{"params": {`{"rows": 9007199254740993}`}}, 303, "/runs/9007199254740993?note=started", `run warm-up {"rows":9007199254740993} force=false by console`},
		{"/tasks/warm-up/run", url.Values{"force": {"yes"}}, 303, "/runs/9007199254740993?note=started", "run warm-up null force=true by console"},
		{"/tasks/warm-up/run", url.Values{"params": {"[1]"}}, 400, "", ""},
		{"/tasks/warm-up/run", url.Values{"params": {"null"}}, 400, "", ""},
		{"/tasks/billing%2Fclose-day", url.Values{"do": {"pause"}, "until": {"2026-03-03T08:00"}}, 303, "/tasks/billing%2Fclose-day?note=paused", "pause billing/close-day until 2026-03-03T00:00:00Z by console"},
		{"/tasks/warm-up", url.Values{"do": {"pause"}, "until": {"2026-03-01T08:00"}}, 400, "", ""},
		{"/tasks/warm-up", url.Values{"do": {"resume"}}, 303, "/tasks/warm-up?note=resumed", "resume warm-up by console"},
		{"/tasks/warm-up", url.Values{"do": {"explode"}}, 400, "", ""},
		{"/tasks", url.Values{"do": {"run"}, "task": {"warm-up"}, "back": {"/tasks?q=w"}}, 303, "/tasks?note=started&q=w", "run warm-up null force=false by console"},
		{"/tasks", url.Values{"do": {"run"}}, 400, "", ""},
		{"/tasks", url.Values{"do": {"run"}, "task": {"nobody"}}, 422, "", ""},
	} {
		before := len(changes.List())
		got := ask(t, server, "POST", test.path, test.form)
		if got.status != test.status || got.header.Get("Location") != test.to {
			t.Errorf("%s %v: %d to %q: %s", test.path, test.form, got.status, got.header.Get("Location"), text(got.root))
		}
		made := strings.Join(changes.List()[before:], "; ")
		if made != test.want {
			t.Errorf("%s %v: changed %q, want %q", test.path, test.form, made, test.want)
		}
	}
}

// TestBulkSaysWhatFailed: one that fails keeps no other from its change.
func TestBulkSaysWhatFailed(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	got := ask(t, serve(t, config(sample)), "POST", "/tasks", url.Values{"do": {"run"}, "task": {"nobody", "warm-up"}})
	says(t, "the answer", text(got.root), "It failed with 1 of 2 tasks.", "nobody", "there is no task")
	if made := changes.List(); len(made) != 1 || !strings.HasPrefix(made[0], "run warm-up") {
		t.Errorf("changes: %q", made)
	}
}

// TestRoles: what a role may not do is not offered.
func TestRoles(t *testing.T) {
	t.Parallel()
	for role, offered := range map[ax.Role][]string{
		ax.RoleViewer:   {},
		ax.RoleOperator: {"/tasks/warm-up/run", "/silences"},
		ax.RoleAdmin:    {"/tasks/warm-up/run", "/silences", "/reload", "/nodes/7f3a/drain"},
	} {
		sample, _ := newSample(t)
		server := serveTo(t, config(sample), ax.Caller{Name: "ann", Role: role})
		var forms []string
		for _, p := range walk() {
			isForm := strings.HasPrefix(p.path, "/define") || strings.Contains(p.path, "tidy-up/")
			if isForm && len(offered) == 0 {
				continue // the rules of the routes keep viewers away
			}
			page := ask(t, server, "GET", p.path, nil)
			forms = append(forms, page.forms()...)
			if len(offered) == 0 && strings.Contains(page.raw, `href="/define`) {
				t.Errorf("%s leads a %s to a form", p.path, role)
			}
		}
		if len(offered) == 0 && len(forms) > 0 {
			t.Errorf("%s is offered %q", role, forms)
		}
		for _, form := range []string{"/tasks/warm-up/run", "/silences", "/reload", "/nodes/7f3a/drain"} {
			if slices.Contains(forms, form) != slices.Contains(offered, form) {
				t.Errorf("%s is offered %q, expected %q", role, forms, offered)
			}
		}
	}
}

// TestRestricted: who sees some groups of tasks only is not led to what concerns all.
func TestRestricted(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serveTo(t, config(sample), ax.Caller{Name: "ann", Role: ax.RoleAdmin, Groups: []string{"billing"}})
	for _, n := range shown(t, server, "/").all(func(n *html.Node) bool { return n.Data == "a" && n.Parent.Data == "nav" }) {
		if to := attr(n, "href"); slices.Contains([]string{"/nodes", "/plugins", "/audit"}, to) {
			t.Errorf("led to %s", to)
		}
	}
}
