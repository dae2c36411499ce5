package config

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/axsched/ax/schema"
)

func compileSchema(t testing.TB, id string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	for name, text := range map[string]string{"config.schema.json": schema.Config, "include.schema.json": schema.Include} {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("https://github.com/axsched/ax/schema/"+name, document); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := compiler.Compile("https://github.com/axsched/ax/schema/" + id)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func mainSchema(t testing.TB) *jsonschema.Schema { return compileSchema(t, "config.schema.json") }

// schemaRefuses holds a text that is YAML against a schema; what is no YAML
// no schema gets to see.
func schemaRefuses(s *jsonschema.Schema, text string) bool {
	root, bad := parse([]byte(text))
	if bad != nil || root == nil {
		return false
	}
	d := decoder{loader: newLoader(Options{}), source: &source{}}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(d.appendJSON(nil, "", root))))
	return err != nil || s.Validate(value) != nil
}

func TestGoodFilesFitTheSchema(t *testing.T) {
	t.Parallel()
	for path, id := range map[string]string{
		"testdata/good/config.yaml":       "config.schema.json",
		"testdata/good/conf.d/extra.yaml": "include.schema.json",
		"../../../config.example.yaml":    "config.schema.json",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		root, bad := parse(text)
		if bad != nil {
			t.Fatalf("%s: %v", path, bad)
		}
		d := decoder{loader: newLoader(Options{}), source: &source{}}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(d.appendJSON(nil, "", root))))
		if err != nil {
			t.Fatal(err)
		}
		if err := compileSchema(t, id).Validate(value); err != nil {
			t.Errorf("%s: %#v", path, err)
		}
	}
}

// schemaTree walks the JSON Schema beside the rules that decode the YAML.
type schemaTree struct {
	t    *testing.T
	root map[string]any
	seen map[string]bool // definitions that were met
}

// resolve follows references and returns the keywords that hold in the end,
// and the names of the definitions on the way.
func (s *schemaTree) resolve(node map[string]any) (merged map[string]any, names []string) {
	merged = maps.Clone(node)
	for merged["$ref"] != nil {
		name := strings.TrimPrefix(merged["$ref"].(string), "#/$defs/")
		s.seen[name], names = true, append(names, name)
		target, ok := s.root["$defs"].(map[string]any)[name].(map[string]any)
		if !ok {
			s.t.Fatalf("there is no definition %q", name)
		}
		next := maps.Clone(target)
		for key, value := range merged {
			if key != "$ref" {
				next[key] = value
			}
		}
		merged = next
	}
	return merged, names
}

// texts are kinds that the schema has as definitions.
var texts = map[kind]string{
	kindDuration: "duration", kindInstant: "instant", kindZone: "zone", kindName: "name", kindUse: "use", kindCron: "cron",
}

func (s *schemaTree) compare(path string, r *rule, node map[string]any) {
	merged, names := s.resolve(node)
	types := stringsOf(merged["type"])
	if def, isText := texts[r.kind]; isText {
		if !slices.Contains(names, def) {
			s.t.Errorf("%s: expected the definition %s, got %v", path, def, names)
		}
		return
	}
	want := []string{string(r.kind)}
	for short := r.short; short != nil; short = short.short {
		want = append(want, string(short.kind))
	}
	types = slices.DeleteFunc(types, func(name string) bool { return name == "null" })
	if slices.Sort(types); !slices.Equal(types, slices.Sorted(slices.Values(want))) {
		s.t.Errorf("%s: the schema has the types %v, the rule has %v", path, types, want)
	}
	if enum := stringsOf(merged["enum"]); !slices.Equal(enum, r.enum) {
		s.t.Errorf("%s: the schema has the words %v, the rule has %v", path, enum, r.enum)
	}
	for _, number := range []*rule{r, r.short} {
		if number != nil && number.kind == kindInteger {
			if merged["minimum"] != float64(number.lo) || merged["maximum"] != float64(number.hi) {
				s.t.Errorf("%s: the schema has %v to %v, the rule has %d to %d", path, merged["minimum"], merged["maximum"], number.lo, number.hi)
			}
		}
	}
	if r.short != nil && len(r.short.enum) > 0 && merged["pattern"] != "^("+strings.Join(r.short.enum, "|")+")$" {
		s.t.Errorf("%s: the pattern %v does not have the words %v", path, merged["pattern"], r.short.enum)
	}
	s.compareParts(path, r, merged)
}

// compareParts compares what is below an object or a list.
func (s *schemaTree) compareParts(path string, r *rule, merged map[string]any) {
	properties, _ := merged["properties"].(map[string]any)
	var keys []string
	for _, f := range r.fields {
		keys = append(keys, f.key)
		if property, ok := properties[f.key].(map[string]any); ok {
			s.compare(path+"."+f.key, &f.rule, property)
			if full, _ := s.resolve(property); full["description"] == nil {
				s.t.Errorf("%s.%s has no description", path, f.key)
			}
		}
	}
	slices.Sort(keys)
	if known := slices.Sorted(maps.Keys(properties)); !slices.Equal(known, keys) {
		s.t.Errorf("%s: the schema has the keys %v, the rules have %v", path, known, keys)
	}
	if r.kind == kindObject && len(keys) > 0 && merged["additionalProperties"] != false {
		s.t.Errorf("%s: the schema allows unknown keys", path)
	}
	if required := stringsOf(merged["required"]); len(keys) > 0 && !slices.Equal(required, r.needs) {
		s.t.Errorf("%s: the schema requires %v, the rule %v", path, required, r.needs)
	}
	part := map[kind]string{kindArray: "items", kindObject: "additionalProperties"}[r.kind]
	elem, _ := merged[part].(map[string]any)
	switch {
	case r.elem != nil && elem == nil:
		s.t.Errorf("%s: the schema says nothing about %s", path, part)
	case r.elem != nil:
		s.compare(path+"[]", r.elem, elem)
	case elem != nil:
		s.t.Errorf("%s: only the schema says something about %s", path, part)
	}
}

func stringsOf(value any) []string {
	if one, ok := value.(string); ok {
		return []string{one}
	}
	list, _ := value.([]any)
	var words []string
	for _, word := range list {
		words = append(words, word.(string))
	}
	return words
}

// TestSchemaAgrees proves that the schema and the rules that decode the YAML
// have the same keys, types, words and bounds, all of them described.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	s := &schemaTree{t: t, seen: map[string]bool{}}
	if err := json.Unmarshal([]byte(schema.Config), &s.root); err != nil {
		t.Fatal(err)
	}
	fields := append(newSettings(&Config{}).fields(), new(fileDraft).fields()...)
	s.compare("", &rule{kind: kindObject, fields: fields, needs: []string{"app"}}, s.root)
	s.compare("included", &rule{kind: kindObject, fields: new(fileDraft).fields()}, map[string]any{"$ref": "#/$defs/included"})
	for _, name := range slices.Sorted(maps.Keys(s.root["$defs"].(map[string]any))) {
		if !s.seen[name] {
			t.Errorf("nothing refers to the definition %s", name)
		}
	}
}

// defaultsOf gathers the defaults that a part of the schema documents.
func (s *schemaTree) defaultsOf(node map[string]any) any {
	merged, _ := s.resolve(node)
	if value, ok := merged["default"]; ok {
		return value
	}
	found := map[string]any{}
	properties, _ := merged["properties"].(map[string]any)
	for key, property := range properties {
		if value := s.defaultsOf(property.(map[string]any)); value != nil {
			found[key] = value
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// TestDocumentedDefaults proves that stating the defaults that the schema
// documents changes nothing.
func TestDocumentedDefaults(t *testing.T) {
	t.Parallel()
	s := &schemaTree{t: t, seen: map[string]bool{}}
	if err := json.Unmarshal([]byte(schema.Config), &s.root); err != nil {
		t.Fatal(err)
	}
	cluster := map[string]any{"listen": "10.0.0.7:8091", "secret": "0123456789abcdef"}
	plain := map[string]any{"app": "a", "store": map[string]any{"dsn": "mysql://db/ax"}, "cluster": cluster, "tasks": []any{map[string]any{"name": "t", "every": "1m", "job": map[string]any{"use": "exec"}}}}
	full := maps.Clone(plain)
	for _, key := range []string{"data_dir", "http", "cluster", "log", "plugins", "executor", "retention", "defaults"} {
		full[key] = s.defaultsOf(s.root["properties"].(map[string]any)[key].(map[string]any))
	}
	maps.Copy(full["cluster"].(map[string]any), cluster)
	if len(full["defaults"].(map[string]any)) < 6 {
		t.Fatalf("few defaults: %v", full["defaults"])
	}
	var configs []*Config
	dir := t.TempDir()
	for _, document := range []map[string]any{plain, full} {
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		path := dir + "/config.yaml"
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, Options{Node: "n"})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		c.Hash, c.uses, c.frame = "", nil, frame{}
		configs = append(configs, c)
	}
	if !reflect.DeepEqual(configs[0], configs[1]) {
		t.Errorf("without:\n%+v\nwith:\n%+v", configs[0], configs[1])
	}
}
