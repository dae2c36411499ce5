package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/secrets"
	"github.com/axsched/ax/pluginapi"
)

// Catalog knows the components that plugins and the host itself offer.
type Catalog interface {
	// Lookup returns the JSON Schema of a component's settings. The error says
	// that there is no such component and what may be meant, or that several
	// plugins offer it.
	Lookup(kind pluginapi.Kind, use string) (schema json.RawMessage, err error)
}

// use is one place where the configuration names a component.
type use struct {
	ax.Use
	kind  pluginapi.Kind
	owner string // name of the task, the notifier or the listener
	*source
	// node and name are the places of the whole and of the name.
	node, name place
	// with are the settings, nil for none.
	with *yaml.Node
}

// place is where a node was. Nodes are kept for settings only: with very many
// tasks they are most of the memory.
type place struct{ line, column int32 }

func placeOf(n *yaml.Node) place { return place{int32(n.Line), int32(n.Column)} }

// stub is an empty mapping at a place.
func (p place) stub() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: int(p.line), Column: int(p.column)}
}

// faultAtName reports a fault at the name of the component.
func (k *checker) faultAtName(u *use, format string, args ...any) {
	k.fault(u.name.stub(), format, args...)
}

// task returns the name of the only task that a fault of this use harms.
func (u *use) task() string {
	if u.kind == pluginapi.KindNotifier || u.kind == pluginapi.KindListener {
		return ""
	}
	return u.owner
}

// CheckComponents returns the faults in how the configuration uses components:
// those that are not there, marked Missing, and settings that break the
// component's schema. It may be called again whenever the catalog has changed.
func (c *Config) CheckComponents(cat Catalog) Faults {
	faults := c.checkOwn(cat)
	if c.made != nil {
		faults = append(faults, c.made.checkOwn(cat)...)
	}
	return c.Sort(faults)
}

// checkOwn leaves out the tasks that are defined elsewhere.
func (c *Config) checkOwn(cat Catalog) Faults {
	c.passed.mu.Lock()
	defer c.passed.mu.Unlock()
	if c.passed.schemas == nil {
		c.passed.schemas = make([]string, len(c.uses))
	}
	k := &checker{catalog: cat, known: map[knownKey]*known{}, decoder: decoder{loader: newLoader(Options{})}}
	k.byPeople, k.named = c.byPeople, secrets.Set(c.Named)
	for i := range c.uses {
		u := &c.uses[i]
		first := len(k.faults)
		k.source = u.source
		k.check(u, &c.passed.schemas[i])
		for j := range k.faults[first:] {
			k.faults[first+j].Task, k.faults[first+j].Kind = u.task(), u.kind
		}
	}
	return k.faults
}

// passed remembers for each use the schema that its settings have passed: with
// very many tasks, a look at all settings whenever the state of some plugin
// changes would take seconds.
type passed struct {
	mu      sync.Mutex
	schemas []string
}

// ComponentFault returns a fault at the settings of a component: of the task,
// notifier or listener that is called owner. It is for what only a plugin can
// tell about settings.
func (c *Config) ComponentFault(kind pluginapi.Kind, owner string, err error) Fault {
	f := Fault{Message: fmt.Sprintf("%s of %q: %v", kind, owner, err)}
	i := slices.IndexFunc(c.uses, func(u use) bool { return u.kind == kind && u.owner == owner })
	if i < 0 {
		return f
	}
	u := &c.uses[i]
	at := u.with
	if at == nil {
		at = u.node.stub()
	}
	f.Position, f.Task = u.at(at), u.task()
	f.Message = fmt.Sprintf("%s %s: %v", kind, u.Name, err)
	return f
}

type checker struct {
	decoder
	catalog Catalog
	known   map[knownKey]*known
	// byPeople: settings name their secrets, which are in named.
	byPeople bool
	named    secrets.Set
}

type knownKey struct {
	kind pluginapi.Kind
	name string
}

// known is a component that was looked up.
type known struct {
	missing error
	broken  error
	schema  *jsonschema.Schema
	raw     string // the schema as it came
	text    any    // its JSON
}

func (k *checker) check(u *use, passed *string) {
	found := k.lookup(u)
	switch {
	case found.missing != nil:
		k.faultAtName(u, "%v%s", found.missing, k.otherKind(u))
		k.faults[len(k.faults)-1].Missing = true
		k.settings(u, found)
		return
	case found.broken != nil:
		k.faultAtName(u, "the settings schema of %s %s is unusable: %v", u.kind, u.Name, found.broken)
		return
	}
	if *passed == found.raw {
		return
	}
	settings := k.settings(u, found)
	if settings == nil {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(settings))
	if err != nil {
		k.faultAtName(u, "settings of %s: %v", u.Name, err)
		return
	}
	invalid := found.schema.Validate(value)
	if invalid == nil {
		*passed = found.raw
		return
	}
	t := translator{decoder: &k.decoder, use: u, schema: found.text}
	t.report(invalid)
}

// settings returns those of a use with their secrets in place, nil if that cannot
// be.
func (k *checker) settings(u *use, found *known) json.RawMessage {
	settings := u.With
	if settings == nil {
		settings = json.RawMessage("{}")
	}
	if !k.byPeople {
		return settings
	}
	filled, err := k.named.Fill(json.RawMessage(found.raw), settings, found.missing == nil)
	if err == nil {
		return filled
	}
	at := u.with
	if at == nil {
		at = u.node.stub()
	}
	field := placeOfSettings(u.kind)
	if f, ok := errors.AsType[*secrets.FieldError](err); ok {
		field = joinField(field, f.Field)
	}
	k.fault(at, "%s: %v", field, err)
	k.faults[len(k.faults)-1].Field = field
	return nil
}

func (k *checker) lookup(u *use) *known {
	key := knownKey{u.kind, u.Name}
	if found := k.known[key]; found != nil {
		return found
	}
	found := &known{}
	k.known[key] = found
	raw, err := k.catalog.Lookup(u.kind, u.Name)
	if err != nil {
		found.missing = err
		return found
	}
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	found.raw = string(raw)
	found.text, found.schema, found.broken = compile(raw)
	return found
}

// schemaURL names a settings schema within the compiler; nothing is loaded.
const schemaURL = "settings.json"

func compile(raw json.RawMessage) (any, *jsonschema.Schema, error) {
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // a schema may not read files
	if err := compiler.AddResource(schemaURL, text); err != nil {
		return nil, nil, err
	}
	schema, err := compiler.Compile(schemaURL)
	return text, schema, err
}

// otherKind tells of a component with the name of one that is missing.
func (k *checker) otherKind(u *use) string {
	for _, kind := range pluginapi.Kinds() {
		if kind == u.kind {
			continue
		}
		if _, err := k.catalog.Lookup(kind, u.Name); err == nil {
			return fmt.Sprintf("; there is a %s with this name", kind)
		}
	}
	return ""
}
