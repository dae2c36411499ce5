package config

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// kind is what a value must be. Most are the types of JSON Schema; the others
// are texts of a certain form, which the schema has under the same name.
type kind string

const (
	kindObject   kind = "object"
	kindArray    kind = "array"
	kindString   kind = "string"
	kindInteger  kind = "integer"
	kindNumber   kind = "number"
	kindBoolean  kind = "boolean"
	kindDuration kind = "duration"
	kindInstant  kind = "instant"
	kindZone     kind = "zone"
	kindName     kind = "name"
	kindUse      kind = "component"
	kindCron     kind = "cron"
)

// rule says what a value must be, and takes it in. The description is there
// for messages, and for the test that holds it against the JSON Schema.
type rule struct {
	kind   kind
	enum   []string
	lo, hi int     // bounds of an integer
	fields []field // of an object with fixed keys
	needs  []string
	elem   *rule // of an array, or of an object with free keys
	// short is what may stand in place of an object or a list, nil for nothing.
	short *rule
	// take is called with a value of the right type. key names the value in
	// messages.
	take func(d *decoder, key string, n *yaml.Node)
}

// field is one key of an object.
type field struct {
	key  string
	rule rule
}

// decoder takes in the values of one file.
type decoder struct {
	*loader
	*source
}

func (d *decoder) fault(n *yaml.Node, format string, args ...any) {
	d.faultAt(d.at(n), format, args...)
	d.faults[len(d.faults)-1].Field = d.fields[n]
}

// take checks that a value has the type that its rule demands and takes it.
func (d *decoder) take(r *rule, key string, n *yaml.Node) {
	switch {
	case n.Kind == 0: // reported already
	case r.short != nil && n.Kind != r.yamlKind() && !isNull(n):
		d.take(r.short, key, n)
	case isNull(n):
		// An object or a list whose entries are all commented out.
		if r.kind != kindObject && r.kind != kindArray || len(r.needs) > 0 {
			d.fault(n, "%s has no value, expected %s", key, r.expectation())
		}
	case n.Kind != r.yamlKind():
		d.mismatch(r, key, n)
	default:
		r.take(d, key, n)
	}
}

func (r *rule) yamlKind() yaml.Kind {
	switch r.kind {
	case kindObject:
		return yaml.MappingNode
	case kindArray:
		return yaml.SequenceNode
	}
	return yaml.ScalarNode
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// mismatch reports a value of the wrong type.
func (d *decoder) mismatch(r *rule, key string, n *yaml.Node) {
	d.fault(n, "%s: expected %s, got %s%s", key, r.expectation(), d.show(n), r.remedy(n))
}

// expectation says in words what the rule demands.
func (r *rule) expectation() string {
	switch r.kind {
	case kindObject:
		keys := "keys with values"
		if len(r.needs) > 0 {
			keys = "keys such as " + r.needs[0] + ":"
		} else if len(r.fields) > 0 {
			keys = "keys such as " + r.fields[0].key + ":"
		}
		if r.short != nil {
			return r.short.expectation() + " or " + keys
		}
		return keys
	case kindArray:
		if r.short != nil {
			return r.short.expectation() + " or a list"
		}
		return "a list"
	case kindBoolean:
		return "true or false"
	case kindInteger:
		if r.lo == r.hi {
			return "a whole number"
		}
		return "a whole number from " + strconv.Itoa(r.lo) + " to " + strconv.Itoa(r.hi)
	case kindNumber:
		return "a number"
	case kindDuration:
		return "a duration such as 30s, 5m or 1h30m (units ms, s, m, h, d, w)"
	case kindInstant:
		return "a time such as 2026-12-01T10:00:00+08:00"
	case kindZone:
		return "a time zone such as Asia/Shanghai"
	case kindUse:
		return "the name of a component, such as exec or myplugin/sync"
	}
	if len(r.enum) > 0 {
		return either(r.enum)
	}
	return "a text"
}

// remedy says how to write a value of the wrong type right, if that is plain.
func (r *rule) remedy(n *yaml.Node) string {
	word := strings.ToLower(n.Value)
	switch {
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode:
		return `; if this is a template, quote it: '{{ … }}'`
	case n.Kind == yaml.MappingNode && r.kind == kindArray:
		return ": begin each entry with a dash"
	case n.Kind != yaml.ScalarNode:
		return ""
	case r.kind == kindObject && slices.Equal(r.needs, []string{"use"}) && componentName.MatchString(n.Value):
		return ": write {use: " + n.Value + "}"
	case r.kind == kindBoolean && isYes(word):
		return ": write true"
	case r.kind == kindBoolean && isNo(word):
		return ": write false"
	case r.kind == kindDuration && n.Tag == "!!int" && word != "0":
		return ": write " + n.Value + "s for seconds or " + n.Value + "m for minutes"
	case r.kind == kindString && n.Tag != "!!null":
		return ": write " + strconv.Quote(n.Value)
	}
	return ""
}

func isYes(word string) bool { return slices.Contains([]string{"yes", "on", "y", "1"}, word) }
func isNo(word string) bool  { return slices.Contains([]string{"no", "off", "n", "0"}, word) }

// maxShown bounds how much of a value a message shows.
const maxShown = 60

// show describes a value for a message, without giving secrets away.
func (d *decoder) show(n *yaml.Node) string {
	if filled(n) {
		return "the value of ${…}"
	}
	return describe(n)
}

func describe(n *yaml.Node) string {
	shown := n.Value
	if runes := []rune(shown); len(runes) > maxShown {
		shown = string(runes[:maxShown]) + "…"
	}
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys with values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "the number " + shown
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!bool":
		return shown
	}
	return strconv.Quote(shown)
}

// pair is one entry of a mapping.
type pair struct{ key, value *yaml.Node }

// pairs returns the entries of a mapping whose keys are texts; n may be nil.
func pairs(n *yaml.Node) []pair {
	if n == nil {
		return nil
	}
	list := make([]pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Kind == yaml.ScalarNode && key.Tag == "!!str" {
			list = append(list, pair{key, n.Content[i+1]})
		}
	}
	return list
}

// stated holds the values of an object's keys as they stand in the file.
type stated map[string]*yaml.Node

// has reports whether one of the keys is stated.
func (s stated) has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return s[key] != nil })
}

// object takes in the keys of an object, which is named what in messages.
func (d *decoder) object(what string, n *yaml.Node, fields []field, needs ...string) stated {
	found := make(stated, len(n.Content)/2)
	for _, p := range pairs(n) {
		found[p.key.Value] = p.value
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == p.key.Value })
		if i < 0 {
			d.unknownKey(what, p.key, fields)
			continue
		}
		d.take(&fields[i].rule, p.key.Value, p.value)
	}
	for _, key := range needs {
		if !found.has(key) {
			d.missingKey(n, what, key)
		}
	}
	return found
}

func (d *decoder) unknownKey(what string, key *yaml.Node, fields []field) {
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	meant := misnomers[key.Value]
	if slices.Contains(known, meant.key) {
		d.fault(key, "unknown key %q in %s, %s", key.Value, what, meant.remedy)
		return
	}
	d.fault(key, "unknown key %q in %s%s", key.Value, what, insteadOf(key.Value, known))
}

// misnomers are keys that other programs have and people try, by the key
// that does it here.
var misnomers = map[string]struct{ key, remedy string }{
	"schedule": {"cron", "write cron:, every:, at: or trigger:"},
	"interval": {"every", "write every: with a duration such as 20s"},
	"tz":       {"timezone", "write timezone:"},
	"command":  {"job", "write job: {use: exec, with: {command: [program, argument]}}"},
	"shell":    {"job", "write job: {use: exec, with: {shell: …}}"},
	"run":      {"job", "write job: {use: exec, with: {shell: …}}"},
	"retries":  {"retry", "write retry: with a number, or with count: and delays:"},
	"disabled": {"enabled", "write enabled: false"},
	"timezone": {"defaults", "write it under defaults: or in a task"},
	"webhook":  {"notifiers", "write notifiers: with a name and use: webhook"},
	"jobs":     {"tasks", "write tasks:"},
	"database": {"store", "write store: {dsn: …}"},
	"config":   {"with", "write with:"},
	"settings": {"with", "write with:"},
	"plugin":   {"use", "write use:"},
}
