package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	broken "github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/spelling"
)

// translator turns what breaks a JSON Schema into faults at the places of the
// settings, in the words that are used for the configuration's own keys.
type translator struct {
	*decoder
	use    *use
	schema any
}

func (t *translator) report(err error) {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		t.fault(t.use.name.stub(), "settings of %s: %v", t.use.Name, err)
		return
	}
	for _, leaf := range leaves(invalid) {
		t.leaf(leaf)
	}
}

// leaves returns the errors that say something by themselves. Where one of
// several forms must fit, the alternatives say nothing: the whole does.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *broken.AnyOf, *broken.OneOf, *broken.Not:
		return []*jsonschema.ValidationError{e}
	}
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// leaf reports one error.
func (t *translator) leaf(e *jsonschema.ValidationError) {
	n, key := t.locate(e.InstanceLocation)
	part := t.part(e.SchemaURL)
	switch k := e.ErrorKind.(type) {
	case *broken.AdditionalProperties:
		t.unknown(n, k.Properties, part)
	case *broken.Required:
		for _, missing := range k.Missing {
			t.missingKey(n, key, missing)
		}
	case *broken.Type:
		t.wrongType(n, key, k.Want, part)
	case *broken.Enum:
		t.choose(n, key, k.Want)
	case *broken.Pattern:
		if part["format"] == "duration" {
			t.mismatch(&rule{kind: kindDuration}, key, n)
			return
		}
		t.fault(n, "%s: expected a text matching %s, got %s", key, k.Want, t.show(n))
	case *broken.Minimum:
		t.fault(n, "%s: expected at least %s, got %s", key, k.Want.RatString(), t.show(n))
	case *broken.Maximum:
		t.fault(n, "%s: expected at most %s, got %s", key, k.Want.RatString(), t.show(n))
	case *broken.MinLength:
		t.fault(n, "%s: expected at least %d characters, got %s", key, k.Want, t.show(n))
	case *broken.MaxLength:
		t.fault(n, "%s: expected at most %d characters, got %s", key, k.Want, t.show(n))
	case *broken.MinItems:
		t.fault(n, "%s: expected at least %d in the list, got %d", key, k.Want, k.Got)
	case *broken.MaxItems:
		t.fault(n, "%s: expected at most %d in the list, got %d", key, k.Want, k.Got)
	default:
		t.other(n, key, k)
	}
}

// other reports what the schemas of Go structs never demand, in the words of
// the validator unless these may show a secret.
func (t *translator) other(n *yaml.Node, key string, k jsonschema.ErrorKind) {
	switch k.(type) {
	case *broken.AnyOf, *broken.OneOf, *broken.Not:
		t.fault(n, "%s: %s fits none of the forms that %s allows", key, t.show(n), t.use.Name)
		return
	}
	if filled(n) {
		t.fault(n, "%s: %s does not fit", key, t.show(n))
		return
	}
	t.fault(n, "%s: %s", key, k.LocalizedString(message.NewPrinter(language.English)))
}

// locate returns the node at a location within the settings, and what to call
// it. Where the settings end too early it is the last one on the way.
func (t *translator) locate(location []string) (n *yaml.Node, key string) {
	n, key = t.use.with, "with"
	if n == nil {
		return t.use.node.stub(), t.use.Name
	}
	for _, token := range location {
		next := child(n, token)
		if next == nil {
			break
		}
		n = next
		if _, err := strconv.Atoi(token); err != nil {
			key = token
		}
	}
	return n, key
}

func child(n *yaml.Node, token string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for _, p := range pairs(n) {
			if p.key.Value == token {
				return p.value
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// part returns the part of the schema that an error is about.
func (t *translator) part(url string) map[string]any {
	_, pointer, _ := strings.Cut(url, "#")
	at := t.schema
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if token == "" {
			continue
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		object, _ := at.(map[string]any)
		at = object[token]
	}
	object, _ := at.(map[string]any)
	return object
}

func (t *translator) unknown(n *yaml.Node, keys []string, part map[string]any) {
	properties, _ := part["properties"].(map[string]any)
	for _, p := range pairs(n) {
		if slices.Contains(keys, p.key.Value) {
			t.fault(p.key, "unknown key %q in the settings of %s%s", p.key.Value, t.use.Name,
				insteadOf(p.key.Value, sortedKeys(properties)))
		}
	}
}

// wrongType reports a value of another type than the schema's.
func (t *translator) wrongType(n *yaml.Node, key string, want []string, part map[string]any) {
	if len(want) != 1 {
		t.fault(n, "%s: expected %s, got %s", key, either(want), t.show(n))
		return
	}
	r := rule{kind: kind(want[0])}
	if part["format"] == "duration" {
		r.kind = kindDuration
	}
	t.mismatch(&r, key, n)
}

// choose reports a value that is not one of those allowed.
func (t *translator) choose(n *yaml.Node, key string, want []any) {
	var allowed []string
	for _, value := range want {
		allowed = append(allowed, fmt.Sprint(value))
	}
	guess := ""
	if near := spelling.Nearest(n.Value, allowed); near != "" && !filled(n) {
		guess = ", did you mean " + near + "?"
	}
	t.fault(n, "%s: expected %s, got %s%s", key, either(allowed), t.show(n), guess)
}
