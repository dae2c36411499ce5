package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"gopkg.in/yaml.v3"
)

// fieldsOf returns what a browser would send of a form, as it is when the page is
// opened.
func (a answer) fieldsOf(action string) url.Values {
	values := url.Values{}
	for _, form := range a.all(func(n *html.Node) bool { return n.Data == "form" && attr(n, "action") == action }) {
		for n := range form.Descendants() {
			if n.Type != html.ElementNode || attr(n, "name") == "" {
				continue
			}
			switch n.Data {
			case "textarea":
				values.Add(attr(n, "name"), strings.TrimPrefix(rawText(n), "\n"))
			case "select":
				values.Add(attr(n, "name"), chosenIn(n))
			case "input":
				boxed := attr(n, "type") == "checkbox" || attr(n, "type") == "radio"
				if !boxed || has(n, "checked") {
					values.Add(attr(n, "name"), attr(n, "value"))
				}
			}
		}
	}
	return values
}

func rawText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		b.WriteString(d.Data)
	}
	return b.String()
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func chosenIn(n *html.Node) string {
	value, first := "", true
	for o := range n.Descendants() {
		if o.Type == html.ElementNode && o.Data == "option" && (first || has(o, "selected")) {
			if value, first = attr(o, "value"), false; !has(o, "value") {
				value = text(o)
			}
		}
	}
	return value
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return m
}

// TestFormSendsWhatItShows: a form that is sent as it was opened changes nothing,
// secrets included.
func TestFormSendsWhatItShows(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	page := shown(t, server, "/tasks/tidy-up/edit")
	if !strings.Contains(page.raw, `<option value="${secret:shop-token}">`) {
		t.Error("the form does not know the secrets")
	}
	values := page.fieldsOf("/tasks/tidy-up/edit")
	if values.Get("version") != "3" || values.Get("job.with.url") != "https://files.example/tidy" || values.Get("cron") != "0 30 3 * * ?" {
		t.Errorf("%v", values)
	}
	values.Set("do", "save")
	got := ask(t, server, "POST", "/tasks/tidy-up/edit", values)
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/tasks/tidy-up?note=changed" {
		t.Fatalf("%d %s", got.status, text(got.root))
	}
	_, sent, _ := strings.Cut(changes.List()[0], "replace tidy-up by console: ")
	d, err := sample.Definition(t.Context(), "tidy-up")
	if err != nil {
		t.Fatal(err)
	}
	if want, is := parsed(t, d.YAML), parsed(t, sent); !equalJSON(t, is, want) {
		t.Errorf("sent is\n%s\nwant\n%s", sent, d.YAML)
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, errX := yaml.Marshal(a)
	y, errY := yaml.Marshal(b)
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	return string(x) == string(y)
}

// TestFormFields: each kind of input becomes the value that the definition needs.
func TestFormFields(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	values := url.Values{
		"do": {"save"}, "name": {"new-one"}, "when": {"every"}, "every": {"15m"}, "cron": {"left over"}, "timezone": {"Asia/Shanghai"},
		"labels": {"team: billing\ntier: \"1\""}, "job.use": {"http"}, "job.with.url": {" https://x.example "}, "job.with.async": {"true"}, "job.with.tries": {"3"},
		"job.with.bearer_token": {"hush"}, "job.with.basic_auth.username": {"u"}, "job.with.basic_auth.password": {""}, "job.with.method": {""},
		"params": {`{"day": "{{.ScheduledAt}}", "n": 12345678901234567890}`}, "retry.count": {"1"}, "notify.to": {"ops", "mail"},
		"more": {"warn_after: 5m\r\nretry: {delays: [1s]}"}, "enabled": {"yes"},
	}
	if got := ask(t, server, "POST", "/define", values); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, text(got.root))
	}
	_, sent, _ := strings.Cut(changes.List()[0], "create by console: ")
	want := `
name: new-one
labels: {team: billing, tier: "1"}
timezone: Asia/Shanghai
retry: {count: 1, delays: [1s]}
params: {day: "{{.ScheduledAt}}", n: 12345678901234567890}
every: 15m
job: {use: http, with: {url: "https://x.example", async: true, tries: 3, bearer_token: hush, basic_auth: {username: u}}}
notify: {to: [ops, mail]}
warn_after: 5m
`
	if !equalJSON(t, parsed(t, sent), parsed(t, want)) {
		t.Errorf("sent is\n%s\nwant\n%s", sent, want)
	}

	values.Del("enabled")
	values.Set("job.use", "exec")
	values.Set("job.with.command", "df\r\n-h\r\n\r\n--total \r\n")
	values.Set("job.with.env", "A: b")
	if got := ask(t, server, "POST", "/define", values); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, text(got.root))
	}
	_, sent, _ = strings.Cut(changes.List()[1], "create by console: ")
	m := parsed(t, sent)
	if m["enabled"] != false || !equalJSON(t, m["job"], map[string]any{"use": "exec", "with": map[string]any{"command": []string{"df", "-h", "--total "}, "env": map[string]string{"A": "b"}}}) {
		t.Errorf("sent is\n%s", sent)
	}
}

// TestFormFaults: what is wrong stands beside its input, what was written stays,
// and a secret is not shown.
func TestFormFaults(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	got := ask(t, server, "POST", "/define", url.Values{
		"do": {"save"}, "name": {"faulty"}, "when": {"cron"}, "cron": {"never & <never>"}, "job.use": {"http"}, "job.with.bearer_token": {"hush"}, "job.with.url": {"x"}, "labels": {"a: ["},
	})
	if got.status != http.StatusUnprocessableEntity || got.id("k-labels-f") != "This is no YAML." {
		t.Errorf("%d %q", got.status, got.id("k-labels-f"))
	}
	got = ask(t, server, "POST", "/define", url.Values{
		"do": {"save"}, "name": {"faulty"}, "when": {"cron"}, "cron": {"never & <never>"}, "job.use": {"http"}, "job.with.bearer_token": {"hush"}, "job.with.url": {"x"},
	})
	if got.status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", got.status)
	}
	for id, want := range map[string]string{
		"k-cron-f": "cron: expected 5, 6 or 7 fields, got 1", "k-job-with-url-f": "url: expected an absolute URL", "top-faults": "the task has no job",
	} {
		if got.id(id) != want {
			t.Errorf("%s says %q, want %q", id, got.id(id), want)
		}
	}
	if values := got.fieldsOf("/define"); values.Get("cron") != "never & <never>" || values.Get("name") != "faulty" {
		t.Errorf("%v", values)
	}
	if strings.Contains(got.raw, "hush") {
		t.Error("a secret that was written down is shown")
	}
	got = ask(t, server, "POST", "/define", url.Values{"do": {"save"}, "name": {"warm-up"}})
	says(t, "a name in use", got.id("top-faults"), "conf.yaml:40")
	if got.status != http.StatusConflict || len(changes.List()) != 0 {
		t.Errorf("%d, changes %q", got.status, changes.List())
	}
}

// TestPreview: while somebody types it is shown when the task would be due, and
// faults of what was filled in.
func TestPreview(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	values := url.Values{"name": {"x"}, "when": {"cron"}, "cron": {"0 30 3 * * ?"}, "job.use": {"http"}, "enabled": {"yes"}}
	got := ask(t, server, "POST", "/define/preview", values)
	says(t, "the preview", text(got.root), "at 03:30 every day (Asia/Shanghai)", "2026-03-03 03:30:00 Tue", "it is in the past", "Nothing is wrong with it.")
	if strings.Contains(got.raw, "<html") || !strings.Contains(got.raw, `id="k-job-with-url-f" hx-swap-oob="true"`) {
		t.Errorf("no part of a page: %.300s", got.raw)
	}
	values.Set("name", "faulty")
	got = ask(t, server, "POST", "/define/preview", values, "Accept-Language", "zh-CN")
	if got.id("k-cron-f") == "" || got.id("k-job-with-url-f") != "" {
		t.Errorf("cron %q, url, which is still empty, %q", got.id("k-cron-f"), got.id("k-job-with-url-f"))
	}
	if len(changes.List()) != 0 {
		t.Errorf("changes %q", changes.List())
	}
	values.Set("do", "choose")
	page := ask(t, server, "POST", "/define", values)
	if page.status != http.StatusOK || !strings.Contains(page.raw, `name="job.with.basic_auth.username"`) {
		t.Errorf("%d: no settings of the job", page.status)
	}
	values.Set("do", "check")
	values.Set("name", "x")
	says(t, "the check", ask(t, server, "POST", "/define", values).id("preview"), "at 03:30 every day")
}

// TestConflict: of two who edit the same version the later one sees both.
func TestConflict(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	values := shown(t, server, "/tasks/tidy-up/edit").fieldsOf("/tasks/tidy-up/edit")
	values.Set("version", "2")
	values.Set("description", "Mine")
	values.Set("job.with.bearer_token", "${secret:shop-token}")
	got := ask(t, server, "POST", "/tasks/tidy-up/edit", values)
	if got.status != http.StatusPreconditionFailed {
		t.Fatalf("%d %s", got.status, text(got.root))
	}
	says(t, "the conflict", text(got.root), "ann has changed the task since you opened it (version 3, you had 2)", "Empties the scratch disk", "description: Mine", "Version 3 by ann")
	again := got.fieldsOf("/tasks/tidy-up/edit")
	again.Set("do", "save")
	if over := ask(t, server, "POST", "/tasks/tidy-up/edit", again); over.status != http.StatusSeeOther || len(changes.List()) != 1 {
		t.Errorf("%d, changes %q", over.status, changes.List())
	}
	says(t, "what was sent", changes.List()[0], "Mine", "${secret:shop-token}")
}

func TestCopyAndDelete(t *testing.T) {
	t.Parallel()
	sample, changes := newSample(t)
	server := serve(t, config(sample))
	values := shown(t, server, "/define?copy=tidy-up").fieldsOf("/define")
	if values.Get("name") != "tidy-up-2" || values.Get("version") != "0" || values.Get("job.with.bearer_token") != "${secret:files-token}" || values.Get("job.with.url") == "" {
		t.Errorf("copy: %v", values)
	}
	page := shown(t, server, "/tasks/tidy-up/delete")
	got := ask(t, server, "POST", "/tasks/tidy-up/delete", page.fieldsOf("/tasks/tidy-up/delete"))
	if got.status != http.StatusSeeOther || changes.List()[0] != "delete tidy-up by console" {
		t.Errorf("%d %q", got.status, changes.List())
	}
	for _, path := range []string{"/tasks/warm-up/edit", "/tasks/warm-up/delete"} {
		got := ask(t, server, "GET", path, nil)
		if got.status != http.StatusConflict {
			t.Errorf("%s: %d", path, got.status)
		}
		says(t, path, text(got.root), "conf.yaml:12")
	}
	as := shown(t, server, "/tasks/tidy-up/edit?text").fieldsOf("/tasks/tidy-up/edit")
	if !strings.Contains(as.Get("yaml"), "cron:") {
		t.Errorf("as YAML: %v", as)
	}
}

func TestCalendarImport(t *testing.T) {
	t.Parallel()
	sample, _ := newSample(t)
	server := serve(t, config(sample))
	says(t, "the calendar", shown(t, server, "/calendars/cn").section("upload-title"), "cn.csv", "Show what moves")
	page := upload(t, server, "/calendars/cn/check", "cn.csv", "2026-03-03,off,清明节")
	if page.status != http.StatusOK {
		t.Fatalf("%d %s", page.status, text(page.root))
	}
	says(t, "the page", text(page.root), "replace this file on each host", "cn.csv:4:1: the day is here twice")
	says(t, "the moves", page.section("moves-title"), "billing/close-day 1 due time", "2026-03-03 12:00:00 2026-03-04 12:00:00 清明节", "2 further tasks")
	says(t, "the days", page.section("days-title"), "2026-03-03 closed 清明节")
	page = upload(t, server, "/calendars/cn/check", "cn.csv", "faulty")
	if page.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", page.status)
	}
	says(t, "the fault", text(page.root), "cn.csv:1:1 expected a date")
}
