// Package params renders a task's parameters for one due time: strings in them
// may be Go templates over the due time, such as
//
//	date: '{{ date "2006-01-02" (addDays -1 .ScheduledAt) }}'
package params

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
)

// Values is what a template sees as its dot.
type Values struct {
	App        string
	Task       string
	InstanceID string
	Kind       string
	Node       string
	TraceID    string
	// ScheduledAt is the due time in the task's zone.
	ScheduledAt time.Time
}

// maxRendered bounds what a single template may produce.
const maxRendered = 64 << 10

// Template is a compiled parameter object. The zero value renders to nil.
// Safe for concurrent use.
type Template struct {
	raw  json.RawMessage
	root node
}

// node renders one JSON value.
type node func(v Values) (any, error)

// Compile compiles a JSON object. Errors name the path of the parameter.
func Compile(raw json.RawMessage) (*Template, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return &Template{}, nil
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("params: expected an object: %w", err)
	}
	if !hasTemplate(doc) {
		return &Template{raw: raw}, nil
	}
	root, err := compile("params", doc)
	if err != nil {
		return nil, err
	}
	return &Template{root: root}, nil
}

// CheckString reports what is wrong with one template text, nil if nothing is.
func CheckString(text string) error {
	_, err := compileString("template", text)
	return err
}

// Render returns the JSON object for one due time.
func (t *Template) Render(v Values) (json.RawMessage, error) {
	if t.root == nil {
		return t.raw, nil
	}
	doc, err := t.root(v)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return out, nil
}

// Merge lays the members of over upon those of base; both are JSON objects or
// empty.
func Merge(base, over json.RawMessage) (json.RawMessage, error) {
	if len(over) == 0 {
		return base, nil
	}
	if len(base) == 0 {
		return over, nil
	}
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(base, &a); err != nil {
		return nil, fmt.Errorf("decode params: %w", err)
	}
	if err := json.Unmarshal(over, &b); err != nil {
		return nil, fmt.Errorf("decode params: %w", err)
	}
	maps.Copy(a, b)
	return json.Marshal(a)
}

func hasTemplate(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "{{")
	case []any:
		return slices.ContainsFunc(v, hasTemplate)
	case map[string]any:
		for _, e := range v {
			if hasTemplate(e) {
				return true
			}
		}
	}
	return false
}

func compile(path string, v any) (node, error) {
	switch v := v.(type) {
	case string:
		return compileString(path, v)
	case []any:
		return compileList(path, v)
	case map[string]any:
		return compileMap(path, v)
	default:
		return func(Values) (any, error) { return v, nil }, nil
	}
}

func compileString(path, text string) (node, error) {
	if !strings.Contains(text, "{{") {
		return func(Values) (any, error) { return text, nil }, nil
	}
	tmpl, err := newTemplate(path).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "template: "+path+":"))
	}
	// Most of a template is the functions that it knows: they are not kept, for
	// the sake of hosts with very many tasks.
	trees := treesOf(tmpl)
	return func(v Values) (any, error) {
		tmpl, err := assemble(path, trees)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", path, err)
		}
		w := limitedBuilder{left: maxRendered}
		if err := tmpl.Execute(&w, v); err != nil {
			return nil, fmt.Errorf("render %s: %w", path, err)
		}
		return w.String(), nil
	}, nil
}

func newTemplate(name string) *template.Template {
	return template.New(name).Option("missingkey=error").Funcs(functions())
}

// treesOf returns what was parsed: the text itself and what it defines.
func treesOf(tmpl *template.Template) []*parse.Tree {
	var trees []*parse.Tree
	for _, t := range tmpl.Templates() {
		trees = append(trees, t.Tree)
	}
	return trees
}

func assemble(name string, trees []*parse.Tree) (*template.Template, error) {
	tmpl := newTemplate(name)
	for _, tree := range trees {
		if _, err := tmpl.AddParseTree(tree.Name, tree); err != nil {
			return nil, err
		}
	}
	return tmpl, nil
}

func compileList(path string, list []any) (node, error) {
	nodes := make([]node, len(list))
	for i, e := range list {
		n, err := compile(fmt.Sprintf("%s[%d]", path, i), e)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	return func(v Values) (any, error) {
		out := make([]any, len(nodes))
		for i, n := range nodes {
			var err error
			if out[i], err = n(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	}, nil
}

func compileMap(path string, m map[string]any) (node, error) {
	nodes := make(map[string]node, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		n, err := compile(path+"."+key, m[key])
		if err != nil {
			return nil, err
		}
		nodes[key] = n
	}
	return func(v Values) (any, error) {
		out := make(map[string]any, len(nodes))
		for key, n := range nodes {
			value, err := n(v)
			if err != nil {
				return nil, err
			}
			out[key] = value
		}
		return out, nil
	}, nil
}

// limitedBuilder refuses to grow beyond a limit, so that a template cannot eat
// the host's memory.
type limitedBuilder struct {
	strings.Builder
	left int
}

func (b *limitedBuilder) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, fmt.Errorf("the text is longer than %d bytes", maxRendered)
	}
	b.left -= len(p)
	return b.Builder.Write(p)
}
