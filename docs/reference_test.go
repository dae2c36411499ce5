package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/axsched/ax/schema"
)

// property is the part of a JSON Schema that the tables show. Keys keeps the
// order of the file.
type property struct {
	Ref         string          `json:"$ref"`
	Type        any             `json:"type"`
	Enum        []any           `json:"enum"`
	Default     json.RawMessage `json:"default"`
	Description string          `json:"description"`
	Properties  ordered         `json:"properties"`
	Required    []string        `json:"required"`
	Items       *property       `json:"items"`
	Secret      bool            `json:"writeOnly"`
	// Additional is the schema of the values of a map, or false.
	Additional json.RawMessage     `json:"additionalProperties"`
	Defs       map[string]property `json:"$defs"`
}

// ordered is a JSON object whose keys keep their order.
type ordered struct {
	keys   []string
	values map[string]property
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ordered) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &o.values); err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		o.keys = append(o.keys, fmt.Sprint(key))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return err
		}
	}
	return nil
}

// reference writes tables of keys.
type reference struct {
	defs map[string]property
	out  strings.Builder
}

// TestGeneratedConfiguration keeps the tables of configuration.md in step with
// the JSON Schema, which a test of package config holds to the code.
func TestGeneratedConfiguration(t *testing.T) {
	t.Parallel()
	var root property
	if err := json.Unmarshal([]byte(schema.Config), &root); err != nil {
		t.Fatal(err)
	}
	r := reference{defs: root.Defs}
	r.table("The main file", root)
	fmt.Fprintf(&r.out, "### Defaults of tasks\n\nThese keys of a task: `%s`.\n\n", strings.Join(root.Defs["defaults"].Properties.keys, "`, `"))
	for _, part := range []struct{ title, def string }{
		{"A task", "task"}, {"A component", "component"}, {"A notifier", "notifier"},
		{"A calendar", "calendar"}, {"A day of a calendar", "day"}, {"The policy of a plugin", "policy"},
	} {
		r.table(part.title, root.Defs[part.def])
	}
	generated(t, "configuration.md", "keys", r.out.String())
}

// TestGeneratedSettings keeps the tables of plugins.md in step with what the
// plugins say of themselves.
func TestGeneratedSettings(t *testing.T) {
	t.Parallel()
	plugins, err := filepath.Glob(filepath.Join(bin(t), "plugins", "*"))
	if err != nil || len(plugins) == 0 {
		t.Fatalf("found the plugins %q, %v", plugins, err)
	}
	var r reference
	for _, plugin := range plugins {
		out, err := exec.CommandContext(t.Context(), plugin, "--ax-describe").Output()
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Components []struct {
				Kind, Name, Description string
				Schema                  property `json:"schema"`
			}
		}
		if err := json.Unmarshal(out, &manifest); err != nil {
			t.Fatal(err)
		}
		for _, c := range manifest.Components {
			r.table(fmt.Sprintf("%s `%s`", strings.ToUpper(c.Kind[:1])+c.Kind[1:], c.Name), c.Schema)
		}
	}
	generated(t, "plugins.md", "settings", r.out.String())
}

func (r *reference) table(title string, p property) {
	fmt.Fprintf(&r.out, "### %s\n\n| key | type | default | meaning |\n|---|---|---|---|\n", title)
	r.rows("", p)
	r.out.WriteString("\n")
}

func (r *reference) rows(prefix string, p property) {
	for _, key := range p.Properties.keys {
		value := r.resolve(p.Properties.values[key])
		name := "`" + prefix + key + "`"
		if slices.Contains(p.Required, key) {
			name += " (required)"
		}
		if value.Secret {
			value.Description += " Kept secret."
		}
		fmt.Fprintf(&r.out, "| %s | %s | %s | %s |\n", name, cell(kindOf(value)), cell(defaultOf(value)), cell(value.Description))
		if len(value.Properties.keys) > 0 {
			r.rows(prefix+key+".", value)
		}
		if value.Items != nil {
			r.rows(prefix+key+"[].", r.resolve(*value.Items))
		}
	}
}

// resolve follows references; what stands beside one wins. The shapes that have
// a table of their own are not opened.
func (r *reference) resolve(p property) property {
	for p.Ref != "" {
		name := strings.TrimPrefix(p.Ref, "#/$defs/")
		def := r.defs[name]
		p.Ref = def.Ref
		if p.Description == "" {
			p.Description = def.Description
		}
		if p.Default == nil {
			p.Default = def.Default
		}
		if p.Type == nil {
			p.Type = def.Type
		}
		if p.Enum == nil {
			p.Enum = def.Enum
		}
		switch name {
		case "duration", "instant":
			p.Type = name
		case "defaults", "component", "notifier", "task", "calendar", "day":
			p.Type = "see below"
		default:
			p.Properties, p.Required, p.Items = def.Properties, def.Required, def.Items
		}
	}
	return p
}

func kindOf(p property) string {
	if len(p.Enum) > 0 {
		words := make([]string, len(p.Enum))
		for i, word := range p.Enum {
			words[i] = fmt.Sprintf("`%v`", word)
		}
		return strings.Join(words, ", ")
	}
	switch kind := p.Type.(type) {
	case string:
		return kind
	case []any:
		var kinds []string
		for _, k := range kind {
			if k != "null" {
				kinds = append(kinds, fmt.Sprint(k))
			}
		}
		return strings.Join(kinds, " or ")
	}
	return "any"
}

func defaultOf(p property) string {
	if p.Default == nil {
		return ""
	}
	text := strings.Join(strings.Fields(string(p.Default)), " ") // plugins indent theirs
	return "`" + strings.Trim(strings.NewReplacer("[ ", "[", " ]", "]").Replace(text), `"`) + "`"
}

// cell makes a text fit into a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}

// TestEveryKeyIsShown wants all keys that the schema has anywhere in the page.
func TestEveryKeyIsShown(t *testing.T) {
	t.Parallel()
	var root property
	if err := json.Unmarshal([]byte(schema.Config), &root); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	all := append(slices.Collect(maps.Values(root.Defs)), root)
	for _, p := range all {
		for _, key := range p.Properties.keys {
			row := regexp.MustCompile("(?m)^\\| `([a-z_.\\[\\]]+\\.)?" + key + "`")
			if !row.Match(page) {
				t.Errorf("configuration.md does not show the key %s", key)
			}
		}
	}
}
