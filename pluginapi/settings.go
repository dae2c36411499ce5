package pluginapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeSettings reads settings into a C: every fault is reported with its
// path, and defaults are filled in wherever a key is absent, also inside lists.
func decodeSettings[C any](s *shape, raw json.RawMessage) (C, error) {
	var cfg C
	tree, err := parseJSON(raw)
	if err != nil {
		return cfg, err
	}
	if tree == nil {
		tree = map[string]any{} // no settings at all
	}
	if tree, err = s.check("", tree); err != nil {
		return cfg, err
	}
	normal, err := json.Marshal(tree)
	if err != nil {
		return cfg, fmt.Errorf("encode settings: %w", err)
	}
	if err := json.Unmarshal(normal, &cfg); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return cfg, fmt.Errorf("%s: expected %s, got %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return cfg, fmt.Errorf("decode settings: %w", err)
	}
	return cfg, nil
}

func parseJSON(raw json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("settings are not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("settings are not JSON: text after the value")
	}
	return tree, nil
}

// check holds a JSON value against s and returns it with defaults filled in
// and numbers in one notation.
func (s *shape) check(path string, value any) (any, error) {
	switch got := value.(type) {
	case map[string]any:
		if s.kind == typeObject {
			return s.checkObject(path, got)
		}
	case []any:
		if s.kind == typeArray {
			return s.checkArray(path, got)
		}
	case string:
		if s.kind == typeString {
			return value, s.fault(path, value, s.broken(got, float64(utf8.RuneCountInString(got))))
		}
		if s.kind == typeDuration {
			return s.checkDuration(path, got)
		}
	case json.Number:
		if s.kind == typeInteger || s.kind == typeNumber {
			return s.checkBounds(path, got)
		}
	case bool:
		if s.kind == typeBoolean {
			return value, nil
		}
	}
	if s.kind == typeAny {
		return value, nil
	}
	return nil, s.fault(path, value, "expected "+s.wanted())
}

func (s *shape) checkObject(path string, value map[string]any) (any, error) {
	normal := make(map[string]any, len(value))
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(value)) {
		elem := s.elem
		if elem == nil {
			f := s.field(key)
			if f == nil {
				errs = append(errs, fmt.Errorf("%s: unknown setting, %s", join(path, key), s.known()))
				continue
			}
			elem = f.shape
		}
		v, err := elem.check(join(path, key), value[key])
		normal[key] = v
		errs = append(errs, err)
	}
	errs = append(errs, s.fill(path, value, normal))
	return normal, errors.Join(errs...)
}

// fill adds the defaults of absent fields to normal and reports required ones.
func (s *shape) fill(path string, given, normal map[string]any) error {
	var errs []error
	for _, f := range s.fields {
		if _, ok := given[f.name]; ok {
			continue
		}
		at := join(path, f.name)
		switch {
		case f.shape.rules.required:
			errs = append(errs, fmt.Errorf("%s: is required", at))
		case f.shape.rules.fallback != nil:
			normal[f.name] = f.shape.rules.fallback
		case !f.shape.pointer && f.shape.hasDefaults():
			v, err := f.shape.check(at, map[string]any{})
			normal[f.name] = v
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// hasDefaults reports whether an absent object must be filled in because of
// the defaults of its fields. An absent object with required fields stays
// absent: only one that is written must be complete.
func (s *shape) hasDefaults() bool {
	if slices.ContainsFunc(s.fields, func(f field) bool { return f.shape.rules.required }) {
		return false
	}
	return slices.ContainsFunc(s.fields, func(f field) bool {
		return f.shape.rules.fallback != nil || f.shape.hasDefaults()
	})
}

func (s *shape) checkArray(path string, value []any) (any, error) {
	normal := make([]any, len(value))
	errs := []error{s.fault(path, value, s.broken(nil, float64(len(value))))}
	for i, v := range value {
		var err error
		normal[i], err = s.elem.check(fmt.Sprintf("%s[%d]", path, i), v)
		errs = append(errs, err)
	}
	return normal, errors.Join(errs...)
}

func (s *shape) checkDuration(path, text string) (any, error) {
	d, err := ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, s.fault(path, text, s.broken(text, float64(d)))
}

func (s *shape) checkBounds(path string, n json.Number) (any, error) {
	normal, err := s.checkNumber(n.String())
	if err != nil {
		return nil, s.fault(path, n, err.Error())
	}
	size, err := normal.Float64()
	if err != nil {
		return nil, s.fault(path, n, "expected a smaller number")
	}
	return normal, s.fault(path, n, s.broken(normal, size))
}

// checkNumber returns a number in one notation, so that 2, 2.0 and 2e0 are the
// same integer.
func (s *shape) checkNumber(text string) (json.Number, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return "", fmt.Errorf("expected %s", s.wanted())
	}
	if s.kind == typeNumber {
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if s.unsigned {
		_, err = strconv.ParseUint(text, 10, s.bits)
	} else {
		_, err = strconv.ParseInt(text, 10, s.bits)
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "", fmt.Errorf("expected a whole number of %d bits", s.bits)
	case err != nil:
		return "", fmt.Errorf("expected %s", s.wanted())
	}
	return json.Number(text), nil
}

// fault makes an error of a complaint, if there is one, and quotes the value
// unless it is secret.
func (s *shape) fault(path string, value any, complaint string) error {
	if complaint == "" {
		return nil
	}
	if path == "" {
		path = "settings"
	}
	if s.rules.secret {
		return fmt.Errorf("%s: %s", path, complaint)
	}
	return fmt.Errorf("%s: %s, got %s", path, complaint, excerpt(value))
}

// wanted names the type that s wants, for people.
func (s *shape) wanted() string {
	switch s.kind {
	case typeInteger:
		if s.unsigned {
			return "a whole number of at least 0"
		}
		return "a whole number"
	case typeBoolean:
		return "true or false"
	case typeArray:
		return "a list"
	case typeObject:
		return "a mapping"
	case typeDuration:
		return "a duration with a unit (" + durationUnits + `), such as "90s"`
	}
	return "a " + string(s.kind)
}

func (s *shape) known() string {
	names := make([]any, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "expected " + listWords(names)
}

// excerpt writes a JSON value in at most about 60 characters.
func excerpt(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	const limit = 60
	if len(raw) > limit {
		return strings.ToValidUTF8(string(raw[:limit]), "") + "…"
	}
	return string(raw)
}
