package params

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// node renders one JSON value.
type node func(v Values) (any, error)

// Compiler compiles the parameters of many tasks: equal texts, of which there
// are many where tasks are alike, share what is made of them. The zero value is
// ready. It is for one goroutine; what it makes does not need it any more.
type Compiler struct{ texts map[string]*text }

// Compile compiles a JSON object. Errors name the path of the parameter.
func Compile(raw json.RawMessage) (*Template, error) { return new(Compiler).Compile(raw) }

// Compile is the function Compile for one of many objects.
func (c *Compiler) Compile(raw json.RawMessage) (*Template, error) {
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
	root, err := c.object("params", doc)
	if err != nil {
		return nil, err
	}
	return &Template{root: root}, nil
}

func hasTemplate(v any) bool {
	switch v := v.(type) {
	case string:
		return isTemplate(v)
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

func isTemplate(text string) bool { return strings.Contains(text, "{{") }

func (c *Compiler) value(path string, v any) (node, error) {
	if !hasTemplate(v) {
		return func(Values) (any, error) { return v, nil }, nil
	}
	switch v := v.(type) {
	case []any:
		return c.list(path, v)
	case map[string]any:
		return c.object(path, v)
	default:
		return c.text(path, v.(string)) // nothing else has templates
	}
}

func (c *Compiler) text(path, source string) (node, error) {
	t := c.texts[source]
	if t == nil {
		var err error
		if t, err = parseText(source); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if c.texts == nil {
			c.texts = map[string]*text{}
		}
		c.texts[source] = t
	}
	return func(v Values) (any, error) {
		rendered, err := t.render(v)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", path, err)
		}
		return rendered, nil
	}, nil
}

func (c *Compiler) list(path string, list []any) (node, error) {
	nodes := make([]node, len(list))
	for i, e := range list {
		n, err := c.value(fmt.Sprintf("%s[%d]", path, i), e)
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

// member is one key of an object.
type member struct {
	key   string
	value node
}

func (c *Compiler) object(path string, m map[string]any) (node, error) {
	members := make([]member, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		n, err := c.value(path+"."+key, m[key])
		if err != nil {
			return nil, err
		}
		members = append(members, member{key, n})
	}
	return func(v Values) (any, error) {
		out := make(map[string]any, len(members))
		for _, member := range members {
			value, err := member.value(v)
			if err != nil {
				return nil, err
			}
			out[member.key] = value
		}
		return out, nil
	}, nil
}
