package pluginapi

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// SchemaOf derives the JSON Schema (draft 2020-12) of settings from struct C.
// A field's name is that of its json tag; its doc tag is the description. Its
// ax tag is a list of words:
//
//	required        the key must be there
//	default=2       value of an absent key; elements of a list are separated by |
//	min=0, max=23   bounds of a number or a Duration, or of the length of a
//	                string (characters) or a list (elements)
//	enum=a|b        the allowed values
//	format=uri      a hint for editors
//	secret          never shown; the host takes it from a file or the environment
//	pattern=^a.*    regular expression for a string; takes the rest of the tag
//
// Rules about single values hold for the elements of a list. Fields may be
// strings, booleans, numbers, [Duration], any, pointers to them, slices, maps
// with string keys and structs. An unknown word or type is an error.
func SchemaOf[C any]() (json.RawMessage, error) {
	s, err := settingsShape[C]()
	if err != nil {
		return nil, err
	}
	return s.render()
}

func settingsShape[C any]() (*shape, error) {
	t := reflect.TypeFor[C]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("settings must be a struct, not %s", t)
	}
	return structShape(t, "", nil)
}

// schema is a JSON Schema with the keywords that we use, in the order in which
// they are written.
type schema struct {
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description,omitempty"`
	Default     any               `json:"default,omitempty"`
	Enum        []any             `json:"enum,omitempty"`
	Minimum     *float64          `json:"minimum,omitempty"`
	Maximum     *float64          `json:"maximum,omitempty"`
	MinLength   *float64          `json:"minLength,omitempty"`
	MaxLength   *float64          `json:"maxLength,omitempty"`
	MinItems    *float64          `json:"minItems,omitempty"`
	MaxItems    *float64          `json:"maxItems,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	Format      string            `json:"format,omitempty"`
	WriteOnly   bool              `json:"writeOnly,omitempty"`
	Items       *schema           `json:"items,omitempty"`
	Properties  map[string]schema `json:"properties,omitempty"`
	Required    []string          `json:"required,omitempty"`
	// Extra is false, or the schema of the values of a free object.
	Extra any `json:"additionalProperties,omitempty"`
}

func (s *shape) render() (json.RawMessage, error) {
	raw, err := json.Marshal(s.schema(""))
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return raw, nil
}

func (s *shape) schema(doc string) schema {
	out := schema{
		Type: string(s.kind), Description: doc, Default: s.rules.fallback, Enum: s.rules.enum,
		Format: s.rules.format, WriteOnly: s.rules.secret,
	}
	if s.rules.pattern != nil {
		out.Pattern = s.rules.pattern.String()
	}
	switch s.kind {
	case typeInteger, typeNumber:
		out.Minimum, out.Maximum = s.rules.min, s.rules.max
		if s.unsigned && out.Minimum == nil {
			out.Minimum = new(0.0)
		}
	case typeString:
		out.MinLength, out.MaxLength = s.rules.min, s.rules.max
	case typeDuration:
		out.Type, out.Format, out.Pattern = string(typeString), "duration", durationPattern
	case typeArray:
		out.MinItems, out.MaxItems = s.rules.min, s.rules.max
		out.Items = new(s.elem.schema(""))
	case typeObject:
		s.object(&out)
	}
	return out
}

func (s *shape) object(out *schema) {
	if s.elem != nil {
		out.Extra = s.elem.schema("")
		return
	}
	out.Extra = false
	out.Properties = make(map[string]schema, len(s.fields))
	for _, f := range s.fields {
		out.Properties[f.name] = f.shape.schema(f.doc)
		if f.shape.rules.required {
			out.Required = append(out.Required, f.name)
		}
	}
}
