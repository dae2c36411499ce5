package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
)

// TestVersions: a definition is changed only by those who have seen it as it is,
// and those who have not learn which version is there.
func TestVersions(t *testing.T) {
	t.Parallel()
	backend, changes := apitest.Sample()
	server := serve(t, backend, nil)
	_, header, _ := call(t, server, "GET", "/api/v1/tasks/tidy-up/definition", "")
	if got := header.Get("ETag"); got != `"3"` {
		t.Fatalf("ETag %s", got)
	}
	for _, tc := range []struct {
		match  string
		status int
		want   string
	}{
		{`"3"`, 200, `"version":4`},
		{`W/"3-0123456789abcdef"`, 200, `"version":4`},
		{"*", 200, `"version":4`},
		{`"2"`, 412, `"value":3`},
		{`"2"`, 412, "version 3, changed by ann at 2026-03-02T11:00:00+08:00; this change was made for version 2"},
		{`"x"`, 422, "header.If-Match"},
		{`"0"`, 422, "header.If-Match"},
		{"", 428, "If-Match"},
	} {
		status, header, body := call(t, server, "PUT", "/api/v1/tasks/tidy-up", "name: tidy-up\n", "Content-Type", "application/yaml", "If-Match", tc.match)
		if status != tc.status || !strings.Contains(body, tc.want) {
			t.Errorf("If-Match %s: %d %s", tc.match, status, body)
		}
		if status == 200 && header.Get("ETag") != `"4"` {
			t.Errorf("If-Match %s: ETag %s", tc.match, header.Get("ETag"))
		}
	}
	if got := changes.List(); len(got) != 3 || got[0] != "replace tidy-up by api: name: tidy-up\n" {
		t.Errorf("changes %q", got)
	}
	status, _, body := call(t, server, "DELETE", "/api/v1/tasks/tidy-up", "", "If-Match", `"2"`)
	if status != 412 {
		t.Errorf("delete: %d %s", status, body)
	}
	if status, _, body := call(t, server, "DELETE", "/api/v1/tasks/warm-up", "", "If-Match", "*"); status != 409 || !strings.Contains(body, "conf.yaml:12") {
		t.Errorf("delete of a configured task: %d %s", status, body)
	}
}

func TestCreated(t *testing.T) {
	t.Parallel()
	backend, changes := apitest.Sample()
	status, header, _ := call(t, serve(t, backend, nil), "POST", "/api/v1/tasks", `{"name":"tidy-up"}`, "Ax-Actor", "ann")
	if status != 201 || header.Get("Location") != "/api/v1/tasks/tidy-up" || header.Get("ETag") != `"1"` {
		t.Errorf("%d %v", status, header)
	}
	if got := changes.List(); !slices.Equal(got, []string{`create by ann: {"name":"tidy-up"}`}) {
		t.Errorf("changes %q", got)
	}
}

// TestNotModified: what a client has is not sent again, until it differs.
func TestNotModified(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	server := serve(t, backend, nil)
	for _, path := range []string{"/api/v1/tasks/warm-up", "/api/v1/tasks/tidy-up/definition", "/api/v1/instances/103", "/api/v1/alerts/702"} {
		_, header, _ := call(t, server, "GET", path, "")
		etag := header.Get("ETag")
		for have, want := range map[string]int{etag: 304, "W/" + etag: 304, `"other", ` + etag: 304, `"other"`: 200, "": 200} {
			status, _, body := call(t, server, "GET", path, "", "If-None-Match", have)
			if status != want || (status == 304) != (body == "") {
				t.Errorf("%s with %s: %d %s", path, have, status, body)
			}
		}
	}
	task := backend.OnTask
	_, before, _ := call(t, server, "GET", "/api/v1/tasks/warm-up", "")
	backend.OnTask = func(ctx context.Context, name string) (api.TaskView, error) {
		view, err := task(ctx, name)
		view.Running += 5
		return view, err
	}
	if _, after, _ := call(t, server, "GET", "/api/v1/tasks/warm-up", ""); after.Get("ETag") == before.Get("ETag") {
		t.Error("the state of the task has changed, its ETag has not")
	}
}

// TestCursors walks all lists in pages of one row, which must be the same rows.
func TestCursors(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	all := []ax.Instance{{ID: 9, TaskName: "a"}, {ID: 8, TaskName: "a"}, {ID: 7, TaskName: "a"}}
	backend.OnInstances = func(_ context.Context, f ax.InstanceFilter) ([]ax.Instance, error) {
		var found []ax.Instance
		for _, i := range all {
			if (f.Before == 0 || i.ID < f.Before) && len(found) < f.Limit {
				found = append(found, i)
			}
		}
		return found, nil
	}
	backend.OnTasks = func(_ context.Context, q api.TaskQuery) ([]api.TaskView, error) {
		var found []api.TaskView
		for _, name := range []string{"a", "b", "c"} {
			if name > q.After && len(found) < q.Limit {
				found = append(found, api.TaskView{Name: name})
			}
		}
		return found, nil
	}
	server := serve(t, backend, nil)
	for list, cursor := range map[string]string{
		"tasks": "after", "instances": "before", "plugins": "after", "nodes": "after", "components": "after", "calendars": "after",
		"notifiers": "after", "silences": "after", "audit": "before",
	} {
		whole := pageRows(t, server.URL, list, cursor, 1000)
		if rows := pageRows(t, server.URL, list, cursor, 1); len(whole) < 1 || !slices.Equal(rows, whole) {
			t.Errorf("%s: in pages %q, at once %q", list, rows, whole)
		}
	}
}

func pageRows(t *testing.T, base, list, cursor string, limit int) []string {
	t.Helper()
	var all []string
	for next := ""; ; {
		query := fmt.Sprintf("%s/api/v1/%s?limit=%d", base, list, limit)
		if next != "" {
			query += "&" + cursor + "=" + queryEscape(next)
		}
		var answer map[string]json.RawMessage
		getJSON(t, query, &answer)
		for key, rows := range answer {
			var raw []json.RawMessage
			if key != "next" && json.Unmarshal(rows, &raw) == nil {
				for _, row := range raw {
					all = append(all, string(row))
				}
			}
		}
		next = ""
		if text, there := answer["next"]; there {
			if err := json.Unmarshal(text, &next); err != nil {
				t.Fatal(err)
			}
		}
		if next == "" || len(all) > 100 {
			return all
		}
	}
}

// TestIdempotencyKey: the key and what is asked for reach the host.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	var got []api.RunOptions
	backend.OnRun = func(_ context.Context, _ string, o api.RunOptions) (ax.InstanceID, error) {
		got = append(got, o)
		return 7, nil
	}
	server := serve(t, backend, nil)
	for _, body := range []string{`{"params":{"a":1}}`, `{"params":{"a":1}}`, `{"params":{"a":2}}`, `{"force":true,"params":{"a":1}}`, ""} {
		if status, _, answer := call(t, server, "POST", "/api/v1/tasks/warm-up/run", body, "Idempotency-Key", "order 7"); status != 202 {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	if status, _, answer := call(t, server, "POST", "/api/v1/tasks/warm-up/run", "", "Idempotency-Key", strings.Repeat("x", 129)); status != 422 {
		t.Errorf("a long key: %d %s", status, answer)
	}
	digests := map[string]bool{}
	for _, o := range got {
		if digests[o.Digest] = true; o.Key != "order 7" || o.Digest == "" {
			t.Errorf("%+v", o)
		}
	}
	if len(digests) != 4 || got[0].Digest != got[1].Digest {
		t.Errorf("%d digests of %d requests", len(digests), len(got))
	}
}
