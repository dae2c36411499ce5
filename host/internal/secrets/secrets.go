// Package secrets keeps secret settings out of what is stored and shown. Which
// settings are secret is said by the JSON Schema of a component: those that are
// writeOnly. A definition that people make names its secrets, ${secret:NAME}, and
// each host has them in its configuration. It is pure.
package secrets

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mark stands for a secret that is not shown.
const Mark = "[secret]"

var reference = regexp.MustCompile(`\$\{secret:([^}]*)\}`)

// Reference is how a definition names a secret.
func Reference(name string) string { return "${secret:" + name + "}" }

// Named reports whether a text names a secret.
func Named(text string) bool { return reference.MatchString(text) }

// Set holds the secrets of a host by their names.
type Set map[string]string

// Missing returns an error for the first secret that settings name and the set
// does not have, nil if it has all.
func (s Set) Missing(settings json.RawMessage) error {
	for _, m := range reference.FindAllSubmatch(settings, -1) {
		if _, ok := s[string(m[1])]; !ok {
			return s.missing(string(m[1]))
		}
	}
	return nil
}

func (s Set) missing(name string) error {
	if len(s) == 0 {
		return fmt.Errorf("there is no secret %q: secrets: in the configuration of this host has none", name)
	}
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Errorf("there is no secret %q: secrets: in the configuration of this host has %s", name, strings.Join(names, ", "))
}

// FieldError says what is wrong with a setting.
type FieldError struct {
	// Field is the setting, such as basic_auth.password.
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// Fill returns settings with the secrets that they name. A text that the schema
// says is secret has to name one. Of the texts of an object with free keys, such as
// environment variables, those have to whose key sounds like it. No other text may
// name one: it could be shown. known false says that there is no schema to be had;
// then keys decide. The error is a *FieldError if it is about a setting.
func (s Set) Fill(schema, settings json.RawMessage, known bool) (json.RawMessage, error) {
	if len(settings) == 0 {
		return settings, nil
	}
	var tree any
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &tree); err != nil {
			return nil, fmt.Errorf("read the schema of the settings: %w", err)
		}
	}
	value, err := decode(settings)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	at := place{}
	if !known {
		at.level = unknown
	}
	value, err = walk(tree, value, at, func(p place, text string) (string, error) {
		filled, err := s.fill(p, text)
		if err != nil {
			err = &FieldError{p.field, err}
		}
		return filled, err
	})
	if err != nil {
		return nil, err
	}
	return encode(value)
}

func (s Set) fill(p place, text string) (string, error) {
	switch {
	case Named(text) && p.level == open: // a command or a URL, say
		return "", fmt.Errorf("secrets are filled in in settings that the plugin keeps secret, and this one it does not: %s", reference.FindString(text))
	case p.exposes(text):
		return "", fmt.Errorf("a secret is not written down here: give it a name in secrets: in the configuration of the hosts, and write %s", Reference("NAME"))
	}
	var err error
	filled := reference.ReplaceAllStringFunc(text, func(match string) string {
		name := reference.FindStringSubmatch(match)[1]
		value, ok := s[name]
		if !ok {
			err = s.missing(name)
		}
		return value
	})
	return filled, err
}

// Hide returns settings of a file with the mark in place of each secret text. known
// false says that there is no schema to be had; then every text counts as secret.
func Hide(schema, settings json.RawMessage, known bool) json.RawMessage {
	return hide(schema, settings, known, secret, func(p place, text string) bool { return p.level != open && text != "" })
}

// HideMade is Hide for settings that people have made, which name their secrets: the
// mark is in place of what Fill would refuse.
func HideMade(schema, settings json.RawMessage, known bool) json.RawMessage {
	return hide(schema, settings, known, unknown, place.exposes)
}

func hide(schema, settings json.RawMessage, known bool, otherwise level, hidden func(place, string) bool) json.RawMessage {
	var tree any
	at := place{}
	if !known || len(schema) > 0 && json.Unmarshal(schema, &tree) != nil {
		at.level = otherwise
	}
	value, err := decode(settings)
	if err != nil {
		return json.RawMessage(`{}`) // cannot be told apart, so nothing of it is shown
	}
	value, err = walk(tree, value, at, func(p place, text string) (string, error) {
		if hidden(p, text) {
			return Mark, nil
		}
		return text, nil
	})
	if err != nil {
		return json.RawMessage(`{}`)
	}
	shown, err := encode(value)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return shown
}

// level is what is known of whether a setting is secret.
type level int

const (
	open level = iota
	unknown
	free // in an object with free keys that is secret
	secret
)

// place is where a text stands in settings.
type place struct {
	field, key string
	level      level
}

// soundsSecret matches keys that one gives to secrets.
var soundsSecret = regexp.MustCompile(`(?i)auth|token|secret|pass|pwd|cookie|credential|api[_-]?key|private|signature|dsn`)

// exposes reports whether a text that ought to name a secret is one itself.
func (p place) exposes(text string) bool {
	switch {
	case text == Mark: // copied from where it stands for one
		return true
	case text == "" || Named(text):
		return false
	}
	return p.level == secret || p.level != open && soundsSecret.MatchString(p.key)
}

// in is the place of a member; its key is free if the schema does not know it.
func (p place) in(key string, known bool) place {
	next := place{key, key, p.level}
	if p.field != "" {
		next.field = p.field + "." + key
	}
	if p.level == secret && !known {
		next.level = free
	}
	return next
}

func (p place) at(i int) place {
	p.field += "[" + strconv.Itoa(i) + "]"
	return p
}

// walk puts what change makes of it in place of each text.
func walk(schema, value any, p place, change func(place, string) (string, error)) (any, error) {
	s, _ := schema.(map[string]any)
	switch {
	case s["writeOnly"] == true:
		p.level = secret
	case s["$ref"] != nil: // leads to where this cannot be seen
		p.level = max(p.level, unknown)
	}
	var err error
	switch value := value.(type) {
	case string:
		return change(p, value)
	case members:
		properties, _ := s["properties"].(map[string]any)
		for i := range value {
			inner, known := properties[value[i].name]
			if !known {
				inner = s["additionalProperties"]
			}
			if value[i].value, err = walk(inner, value[i].value, p.in(value[i].name, known), change); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range value {
			if value[i], err = walk(s["items"], value[i], p.at(i), change); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
