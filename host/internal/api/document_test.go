package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/axsched/ax/host/internal/api/apitest"
)

func queryEscape(text string) string { return url.QueryEscape(text) }

func getJSON(t *testing.T, address string, to any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", address, response.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentIsSound holds the document against the rules of OpenAPI 3.1 that a
// program which reads it relies on.
func TestDocumentIsSound(t *testing.T) {
	t.Parallel()
	backend, _ := apitest.Sample()
	var doc map[string]any
	getJSON(t, serve(t, backend, nil).URL+"/api/v1/openapi.json", &doc)
	ids := map[string]bool{}
	for path, item := range object(doc["paths"]) {
		for method, op := range object(item) {
			op := object(op)
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] || op["summary"] == "" {
				t.Errorf("%s %s: operationId %q, summary %q", method, path, id, op["summary"])
			}
			ids[id] = true
			checkParameters(t, path, op)
			responses := object(op["responses"])
			if len(responses) == 0 {
				t.Errorf("%s: no responses", id)
			}
			for status, response := range responses {
				if object(response)["description"] == nil || !regexp.MustCompile(`^([1-5]\d\d|default)$`).MatchString(status) {
					t.Errorf("%s: response %s has no description", id, status)
				}
			}
			for kind := range object(object(op["requestBody"])["content"]) {
				if !strings.Contains(kind, "/") {
					t.Errorf("%s: body of type %q", id, kind)
				}
			}
		}
	}
	if len(ids) < 40 {
		t.Errorf("only %d operations", len(ids))
	}
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	walkDocument(t, meta, doc, doc, "")
}

// checkParameters wants each part of a path in braces as a parameter, and no other.
func checkParameters(t *testing.T, path string, op map[string]any) {
	t.Helper()
	var inPath, declared []string
	for _, m := range regexp.MustCompile(`\{([^}]+)\}`).FindAllStringSubmatch(path, -1) {
		inPath = append(inPath, m[1])
	}
	list, _ := op["parameters"].([]any)
	seen := map[string]bool{}
	for _, p := range list {
		p := object(p)
		name, in := p["name"].(string), p["in"].(string)
		if seen[in+" "+name] || object(p["schema"]) == nil {
			t.Errorf("%s: parameter %s is there twice, or has no schema", path, name)
		}
		if seen[in+" "+name] = true; in == "path" {
			declared = append(declared, name)
			if p["required"] != true {
				t.Errorf("%s: %s is not required", path, name)
			}
		}
	}
	slices.Sort(inPath)
	slices.Sort(declared)
	if !slices.Equal(inPath, declared) {
		t.Errorf("%s: parameters %v", path, declared)
	}
}

// walkDocument wants a target for each reference, and a valid JSON Schema wherever
// there is one.
func walkDocument(t *testing.T, meta *jsonschema.Schema, doc, node any, at string) {
	t.Helper()
	if list, ok := node.([]any); ok {
		for _, item := range list {
			walkDocument(t, meta, doc, item, at)
		}
		return
	}
	for key, value := range object(node) {
		if ref, ok := value.(string); ok && key == "$ref" {
			target := doc
			for token := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				target = object(target)[token]
			}
			if target == nil {
				t.Errorf("%s: %s leads nowhere", at, ref)
			}
			continue
		}
		if key == "schema" || strings.HasSuffix(at, "/components/schemas") {
			checkSchema(t, meta, at+"/"+key, value)
		}
		walkDocument(t, meta, doc, value, at+"/"+key)
	}
}

func checkSchema(t *testing.T, meta *jsonschema.Schema, at string, schema any) {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := meta.Validate(value); err != nil {
		t.Errorf("%s is no JSON Schema: %v", at, err)
	}
}

func object(node any) map[string]any {
	o, _ := node.(map[string]any)
	return o
}

// TestAllRoutesAreDocumented: besides the document itself and the metrics, which
// have a format of their own, routes are made with the document, or are put into it.
func TestAllRoutesAreDocumented(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var apart []string
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`mux\.Handle(?:Func)?\(([^,]+),`).FindAllStringSubmatch(string(text), -1) {
			apart = append(apart, m[1])
		}
	}
	slices.Sort(apart)
	if want := []string{`"GET "+Base+"/openapi."+ending`, `"GET "+streamPath`, `"GET /metrics"`}; !slices.Equal(apart, want) {
		t.Errorf("routes beside the document: %q", apart)
	}
}
