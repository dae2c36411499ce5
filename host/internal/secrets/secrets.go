// Package secrets hides secret settings where a definition is shown, and puts them
// back where it comes back changed. Which settings are secret is said by the JSON
// Schema of a component: those that are writeOnly. It is pure.
package secrets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Mark stands for a secret that is not shown. A definition that comes back with it
// keeps the secret that was there.
const Mark = "[secret]"

// Hide returns settings with the mark in place of each secret text. With all, or a
// schema that cannot be read, every text counts as secret.
func Hide(schema, settings json.RawMessage, all bool) json.RawMessage {
	var tree any
	if len(schema) > 0 && json.Unmarshal(schema, &tree) != nil {
		all = true
	}
	value, err := decode(settings)
	if err != nil {
		return json.RawMessage(`{}`) // cannot be told apart, so nothing of it is shown
	}
	shown, err := encode(walk(tree, value, all, func(string) string { return Mark }))
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return shown
}

// Restore returns settings with the secrets of old in place of the marks. The error
// names a mark for which old has none.
func Restore(settings, old json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(settings, []byte(Mark)) {
		return settings, nil
	}
	value, err := decode(settings)
	if err != nil {
		return settings, fmt.Errorf("read the settings: %w", err)
	}
	was, err := decode(old)
	if err != nil {
		was = nil
	}
	value, err = restore(value, was, "")
	if err != nil {
		return settings, err
	}
	return encode(value)
}

// LostError says that a mark stands where there was no secret before.
type LostError struct {
	// Field is the setting, such as basic_auth.password.
	Field string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s stands for a secret that is not shown, and there was none here: write the secret itself", Mark)
}

func restore(value, was any, field string) (any, error) {
	switch value := value.(type) {
	case string:
		old, ok := was.(string)
		switch {
		case value != Mark:
		case !ok || old == Mark:
			return nil, &LostError{field}
		default:
			return old, nil
		}
	case members:
		old, _ := was.(members)
		for i := range value {
			var err error
			if value[i].value, err = restore(value[i].value, old.get(value[i].name), join(field, value[i].name)); err != nil {
				return nil, err
			}
		}
	case []any:
		old, _ := was.([]any)
		for i := range value {
			var before any
			if i < len(old) {
				before = old[i]
			}
			var err error
			if value[i], err = restore(value[i], before, field+"["+strconv.Itoa(i)+"]"); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

// walk puts what hide makes of it in place of each text that a schema says is
// secret.
func walk(schema, value any, secret bool, hide func(string) string) any {
	s, _ := schema.(map[string]any)
	// A reference leads to where this cannot be seen.
	secret = secret || s["writeOnly"] == true || s["$ref"] != nil
	switch value := value.(type) {
	case string:
		if secret && value != "" {
			return hide(value)
		}
	case members:
		properties, _ := s["properties"].(map[string]any)
		for i := range value {
			inner, known := properties[value[i].name]
			if !known {
				inner = s["additionalProperties"]
			}
			value[i].value = walk(inner, value[i].value, secret, hide)
		}
	case []any:
		for i := range value {
			value[i] = walk(s["items"], value[i], secret, hide)
		}
	}
	return value
}
