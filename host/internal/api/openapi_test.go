package api_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/api/apitest"
	"github.com/axsched/ax/host/internal/ax"
)

// document is what the tests read of the OpenAPI document.
type document struct {
	OpenAPI string
	Info    struct{ Version string }
	Paths   map[string]map[string]operation
}

type operation struct {
	OperationID string
	Parameters  []struct {
		Name   string
		Schema struct {
			Items struct{ Enum []ax.Status }
		}
	}
	Responses map[string]struct {
		Content map[string]json.RawMessage
	}
}

// readDocument returns the document and a function that finds a fault in the
// JSON that is said to be the content at a JSON pointer of it.
func readDocument(t *testing.T, server *httptest.Server) (document, func(pointer, body string) error) {
	t.Helper()
	_, _, text := call(t, server, "GET", "/api/v1/openapi.json", "")
	var doc document
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("mem:///openapi.json", raw); err != nil {
		t.Fatal(err)
	}
	return doc, func(pointer, body string) error {
		schema, err := compiler.Compile("mem:///openapi.json#" + pointer)
		if err != nil {
			return err
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
}

// requests holds one good request for each operation: path and body.
var requests = map[string][2]string{
	"list-tasks":      {"/api/v1/tasks", ""},
	"get-task":        {"/api/v1/tasks/billing%2Fclose-day", ""},
	"next-times":      {"/api/v1/tasks/warm-up/next?n=3&after=2026-01-01T00:00:00Z", ""},
	"run-task":        {"/api/v1/tasks/warm-up/run", `{"params":{}}`},
	"pause-task":      {"/api/v1/tasks/warm-up/pause", ""},
	"resume-task":     {"/api/v1/tasks/warm-up/resume", ""},
	"explain-task":    {"/api/v1/tasks/warm-up/why", ""},
	"backfill-task":   {"/api/v1/tasks/warm-up/backfill", `{"from":"2026-03-01T00:00:00Z","dry_run":true}`},
	"get-backfill":    {"/api/v1/tasks/warm-up/backfill?from=2026-03-01T00:00:00Z", ""},
	"cancel-backfill": {"/api/v1/tasks/warm-up/backfill/cancel", ""},
	"list-instances":  {"/api/v1/instances", ""},
	"get-instance":    {"/api/v1/instances/101", ""},
	"cancel-instance": {"/api/v1/instances/104/cancel", ""},
	"get-log":         {"/api/v1/instances/103/log", ""},
	"follow-log":      {"/api/v1/instances/103/log/stream", ""},
	"report-result":   {"/api/v1/callbacks/104/t0ken", `{"status":"success"}`},
	"list-plugins":    {"/api/v1/plugins", ""},
	"reset-plugin":    {"/api/v1/plugins/random/reset", ""},
	"plan":            {"/api/v1/plan", ""},
	"reload":          {"/api/v1/reload", ""},
	"get-health":      {"/api/v1/health", ""},
	"get-backlog":     {"/api/v1/backlog", ""},
	"probe":           {"/healthz", ""},
	"probe-ready":     {"/readyz", ""},
	"list-nodes":      {"/api/v1/nodes", ""},
	"measure-nodes":   {"/api/v1/nodes/cost?seconds=1", ""},
	"drain-node":      {"/api/v1/nodes/node-2/drain", ""},
	"list-alerts":     {"/api/v1/alerts", ""},
	"get-alert":       {"/api/v1/alerts/702", ""},
	"resend-alert":    {"/api/v1/alerts/700/resend", ""},
	"drop-alert":      {"/api/v1/alerts/700/drop", ""},
	"list-notifiers":  {"/api/v1/notifiers", ""},
	"test-notifier":   {"/api/v1/notifiers/ops/test", ""},
	"list-silences":   {"/api/v1/silences", ""},
	"silence":         {"/api/v1/silences", `{"until":"2026-03-02T18:00:00+08:00"}`},
	"end-silence":     {"/api/v1/silences/801/end", ""},
	"get-definition":  {"/api/v1/tasks/tidy-up/definition", ""},
	"check-task":      {"/api/v1/tasks/check", `{"name":"tidy-up"}`},
	"create-task":     {"/api/v1/tasks", `{"name":"tidy-up"}`},
	"replace-task":    {"/api/v1/tasks/tidy-up", `{"name":"tidy-up"}`},
	"delete-task":     {"/api/v1/tasks/tidy-up", ""},
	"list-components": {"/api/v1/components?kind=job", ""},
	"list-calendars":  {"/api/v1/calendars", ""},
	"check-calendar":  {"/api/v1/calendars/cn/check?file=cn.csv", "2026-03-03,closed"},
	"list-audit":      {"/api/v1/audit?limit=2", ""},
}

// TestDocument calls every operation of the document as the document says and
// checks the answer against its schema.
func TestDocument(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	server := serve(t, backend, nil)
	doc, check := readDocument(t, server)
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "0.1.0" {
		t.Errorf("OpenAPI %s of version %s", doc.OpenAPI, doc.Info.Version)
	}
	var seen []string
	for path, operations := range doc.Paths {
		for method, op := range operations {
			seen = append(seen, op.OperationID)
			request, known := requests[op.OperationID]
			if !known {
				t.Errorf("operation %s is new: add a request for it", op.OperationID)
				continue
			}
			status, header, body := call(t, server, strings.ToUpper(method), request[0], request[1], "If-Match", `"3"`)
			response, documented := op.Responses[statusText(status)]
			if !documented || status >= 300 {
				t.Errorf("%s %s: answers %d %s, documented are %v", method, path, status, body, slices.Sorted(maps.Keys(op.Responses)))
				continue
			}
			kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
			if _, documented := response.Content[kind]; !documented && body != "" {
				t.Errorf("%s: answers with %q, documented are %v", op.OperationID, kind, slices.Sorted(maps.Keys(response.Content)))
			}
			if kind != "application/json" {
				continue
			}
			pointer := "/paths/" + pointerEscape(path) + "/" + method + "/responses/" + statusText(status) + "/content/application~1json/schema"
			if err := check(pointer, body); err != nil {
				t.Errorf("%s: %v\n%s", op.OperationID, err, body)
			}
		}
	}
	if len(seen) != len(requests) {
		t.Errorf("documented are only %v", slices.Sorted(slices.Values(seen)))
	}
}

func statusText(status int) string {
	text, _ := json.Marshal(status)
	return string(text)
}

func pointerEscape(text string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(text)
}

// TestCheckerFindsFaults guards the test above against a schema that lets
// everything pass.
func TestCheckerFindsFaults(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	_, check := readDocument(t, serve(t, backend, nil))
	for _, body := range []string{`{"status":"fine"}`, `{}`, `{"status":"ok","more":1}`} {
		if err := check("/components/schemas/Pulse", body); err == nil {
			t.Errorf("%s passes", body)
		}
	}
}

func TestNothingChangesByGet(t *testing.T) {
	t.Parallel()
	backend, changes := apitest.Sample()
	server := serve(t, backend, nil)
	doc, _ := readDocument(t, server)
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if !slices.Contains([]string{"get", "post", "put", "delete"}, method) {
				t.Errorf("%s %s: not in use here", method, path)
			}
			call(t, server, "GET", requests[op.OperationID][0], "")
			call(t, server, "HEAD", requests[op.OperationID][0], "")
		}
	}
	if got := changes.List(); len(got) != 0 {
		t.Errorf("changed by GET: %q", got)
	}
}

func TestStatusesAreThoseOfTheEngine(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	doc, _ := readDocument(t, serve(t, backend, nil))
	for _, parameter := range doc.Paths["/api/v1/instances"]["get"].Parameters {
		if parameter.Name == "status" {
			if !slices.Equal(parameter.Schema.Items.Enum, ax.Statuses()) {
				t.Errorf("documented are %v", parameter.Schema.Items.Enum)
			}
			return
		}
	}
	t.Error("no parameter status")
}

func TestDocumentAsYAML(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	status, _, text := call(t, serve(t, backend, nil), "GET", "/api/v1/openapi.yaml", "")
	if status != 200 || !strings.Contains(text, "openapi: 3.1.0") || !strings.Contains(text, "operationId: follow-log") {
		t.Errorf("%d %.300s", status, text)
	}
}

// TestDocumentIsOpenAPI: the document is what the specification says.
func TestDocumentIsOpenAPI(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/openapi-3.1.schema.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := yaml.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:///openapi.schema.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("mem:///openapi.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	_, _, body := call(t, serve(t, &apitest.Backend{}, nil), "GET", "/api/v1/openapi.json", "")
	for _, test := range []struct {
		change func(doc map[string]any)
		good   bool
	}{
		{func(map[string]any) {}, true},
		{func(doc map[string]any) { delete(doc, "info") }, false},
		{func(doc map[string]any) {
			doc["paths"].(map[string]any)["/x"] = map[string]any{"get": map[string]any{"parameters": "none"}}
		}, false},
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		test.change(doc.(map[string]any))
		if err := compiled.Validate(doc); (err == nil) != test.good {
			t.Errorf("good should be %v: %v", test.good, err)
		}
	}
}
