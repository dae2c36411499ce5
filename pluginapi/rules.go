package pluginapi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rules are what the ax tag of a field demands beyond its type.
type rules struct {
	required bool
	secret   bool
	fallback any // default as it stands in JSON, nil for none
	// min and max bound a number, the characters of a string, the elements of
	// an array or the nanoseconds of a duration.
	min, max *float64
	enum     []any
	pattern  *regexp.Regexp
	format   string
}

// parseRules reads an ax tag for a field of shape s. The words are separated
// by commas; pattern takes the rest of the tag.
func parseRules(tag string, s *shape) (rules, error) {
	var r rules
	fallback, hasDefault := "", false
	for tag != "" {
		word, rest, _ := strings.Cut(tag, ",")
		if strings.HasPrefix(tag, "pattern=") {
			word, rest = tag, ""
		}
		tag = rest
		key, value, valued := strings.Cut(strings.TrimSpace(word), "=")
		if key == "default" && valued {
			fallback, hasDefault = value, true
			continue
		}
		if err := r.set(key, value, valued, s); err != nil {
			return r, err
		}
	}
	if !hasDefault {
		return r, nil
	}
	if r.required {
		return r, errors.New("a required setting cannot have a default")
	}
	return r, r.setDefault(fallback, s)
}

// set takes one word of a tag.
func (r *rules) set(key, value string, valued bool, s *shape) (err error) {
	switch {
	case key == "required" && !valued:
		r.required = true
	case key == "secret" && !valued:
		r.secret = true
	case key == "min" && valued:
		r.min, err = bound(value, s)
	case key == "max" && valued:
		r.max, err = bound(value, s)
	case key == "enum" && valued:
		return s.target(r).setEnum(value, s.scalar())
	case key == "pattern" && valued && s.scalar().kind == typeString:
		s.target(r).pattern, err = regexp.Compile(value)
	case key == "format" && value == "duration" && s.scalar().kind == typeString:
		return errors.New("format=duration needs a field of type pluginapi.Duration")
	case key == "format" && valued && (s.scalar().kind == typeString || s.scalar().kind == typeDuration):
		s.target(r).format = value
	default:
		return fmt.Errorf("%q is unknown or does not fit the field's type", key)
	}
	return err
}

// scalar is the shape that rules about single values are for: the elements of
// an array, or s itself.
func (s *shape) scalar() *shape {
	if s.kind == typeArray {
		return s.elem
	}
	return s
}

// target is where rules about single values are kept; r are those of s.
func (s *shape) target(r *rules) *rules {
	if s.kind == typeArray {
		return &s.elem.rules
	}
	return r
}

func bound(text string, s *shape) (*float64, error) {
	switch s.kind {
	case typeDuration:
		d, err := ParseDuration(text)
		if err != nil {
			return nil, err
		}
		return new(float64(d)), nil
	case typeInteger, typeNumber, typeString, typeArray:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("bound %q is not a number", text)
		}
		return &n, nil
	}
	return nil, errors.New("min and max do not fit the field's type")
}

func (r *rules) setEnum(list string, s *shape) error {
	for word := range strings.SplitSeq(list, "|") {
		value, err := s.literal(word)
		if err != nil {
			return err
		}
		r.enum = append(r.enum, value)
	}
	return nil
}

// setDefault takes a default and holds it against the other rules.
func (r *rules) setDefault(text string, s *shape) error {
	value, err := s.literal(text)
	if err != nil {
		return err
	}
	withRules := *s
	withRules.rules = *r
	if r.fallback, err = withRules.check("default", value); err != nil {
		return err
	}
	return nil
}

// literal reads a value as a tag writes it; elements of arrays are separated
// by a bar.
func (s *shape) literal(text string) (any, error) {
	switch s.kind {
	case typeString, typeDuration:
		return text, nil
	case typeBoolean:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not true or false", text)
		}
		return b, nil
	case typeInteger, typeNumber:
		return s.checkNumber(text)
	case typeArray:
		list := []any{}
		for word := range strings.SplitSeq(text, "|") {
			value, err := s.elem.literal(word)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return nil, errors.New("a setting of this type cannot have a value in its tag")
}

// broken returns which rule a value of the right type breaks, or "". size is
// the number that min and max bound.
func (s *shape) broken(value any, size float64) string {
	r := &s.rules
	switch {
	case r.min != nil && size < *r.min:
		return "expected at least " + s.boundText(*r.min)
	case r.max != nil && size > *r.max:
		return "expected at most " + s.boundText(*r.max)
	case len(r.enum) > 0 && !slices.Contains(r.enum, value):
		return "expected " + listWords(r.enum)
	}
	if text, ok := value.(string); ok && r.pattern != nil && !r.pattern.MatchString(text) {
		return "expected a text matching " + r.pattern.String()
	}
	return ""
}

// boundText writes min or max with what it counts.
func (s *shape) boundText(bound float64) string {
	number := strconv.FormatFloat(bound, 'f', -1, 64)
	switch s.kind {
	case typeDuration:
		return Duration(bound).String()
	case typeString:
		return number + " characters"
	case typeArray:
		return number + " elements"
	}
	return number
}

// listWords writes values as "a, b or c".
func listWords(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
