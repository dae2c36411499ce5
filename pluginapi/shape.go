package pluginapi

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// valueType is the type of a settings value, named as in JSON Schema.
type valueType string

const (
	typeObject   valueType = "object"
	typeArray    valueType = "array"
	typeString   valueType = "string"
	typeInteger  valueType = "integer"
	typeNumber   valueType = "number"
	typeBoolean  valueType = "boolean"
	typeAny      valueType = ""         // no type: everything is allowed
	typeDuration valueType = "duration" // a string, see Duration
)

// shape says what a settings value may be. It is derived from a Go type and
// its tags, written as JSON Schema for the host, and checked again in the
// plugin.
type shape struct {
	kind     valueType
	bits     int  // size of a Go integer
	unsigned bool // a Go integer without sign
	pointer  bool // stays nil if absent
	fields   []field
	elem     *shape // of arrays and of objects with free keys
	rules    rules
}

// field is one property of an object that has fixed keys.
type field struct {
	name  string
	doc   string
	shape *shape
}

// shapeOf derives the shape of a Go type. path is for error messages, outer
// holds the structs that the type is nested in.
func shapeOf(t reflect.Type, path string, outer []reflect.Type) (*shape, error) {
	if s := wellKnown(t); s != nil {
		return s, nil
	}
	if t == reflect.TypeFor[time.Duration]() {
		return nil, fmt.Errorf("%s: use pluginapi.Duration instead of time.Duration, which JSON takes as nanoseconds", path)
	}
	switch t.Kind() {
	case reflect.Pointer:
		s, err := shapeOf(t.Elem(), path, outer)
		if err != nil {
			return nil, err
		}
		s.pointer = true
		return s, nil
	case reflect.Struct:
		return structShape(t, path, outer)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, fmt.Errorf("%s: use string instead of %s, which JSON takes as base64", path, t)
		}
		elem, err := shapeOf(t.Elem(), path+"[]", outer)
		return &shape{kind: typeArray, elem: elem}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%s: a map of settings needs string keys, not %s", path, t.Key())
		}
		elem, err := shapeOf(t.Elem(), path+".*", outer)
		return &shape{kind: typeObject, elem: elem}, err
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return &shape{kind: typeAny}, nil
		}
	case reflect.String:
		return &shape{kind: typeString}, nil
	case reflect.Bool:
		return &shape{kind: typeBoolean}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &shape{kind: typeInteger, bits: t.Bits()}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &shape{kind: typeInteger, bits: t.Bits(), unsigned: true}, nil
	case reflect.Float32, reflect.Float64:
		return &shape{kind: typeNumber}, nil
	}
	return nil, fmt.Errorf("%s: a value of type %s cannot be a setting", path, t)
}

// wellKnown returns the shape of types that write themselves, or nil.
func wellKnown(t reflect.Type) *shape {
	switch t {
	case reflect.TypeFor[Duration]():
		return &shape{kind: typeDuration}
	case reflect.TypeFor[json.RawMessage]():
		return &shape{kind: typeAny}
	}
	ptr := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		return nil // its element is looked at
	case ptr.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &shape{kind: typeString}
	case ptr.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &shape{kind: typeAny}
	}
	return nil
}

func structShape(t reflect.Type, path string, outer []reflect.Type) (*shape, error) {
	if slices.Contains(outer, t) {
		return nil, fmt.Errorf("%s: type %s contains itself", path, t)
	}
	outer = append(slices.Clone(outer), t)
	s := &shape{kind: typeObject}
	var errs []error
	for sf := range t.Fields() {
		fields, err := structField(sf, path, outer)
		errs = append(errs, err)
		for _, f := range fields {
			if s.field(f.name) != nil {
				errs = append(errs, fmt.Errorf("%s: two fields are named %q", path, f.name))
			}
			s.fields = append(s.fields, f)
		}
	}
	return s, errors.Join(errs...)
}

// structField returns the properties that a struct field adds: none if it is
// hidden, several if it is an embedded struct.
func structField(sf reflect.StructField, path string, outer []reflect.Type) ([]field, error) {
	name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "-" || !sf.IsExported() && !sf.Anonymous {
		return nil, nil
	}
	if sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct && wellKnown(sf.Type) == nil {
		embedded, err := structShape(sf.Type, path, outer)
		if err != nil {
			return nil, err
		}
		return embedded.fields, nil
	}
	if name == "" {
		name = sf.Name
	}
	path = join(path, name)
	s, err := shapeOf(sf.Type, path, outer)
	if err != nil {
		return nil, err
	}
	if s.rules, err = parseRules(sf.Tag.Get("ax"), s); err != nil {
		return nil, fmt.Errorf("%s: ax tag: %w", path, err)
	}
	return []field{{name: name, doc: sf.Tag.Get("doc"), shape: s}}, nil
}

func (s *shape) field(name string) *field {
	i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &s.fields[i]
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
