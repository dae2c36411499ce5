package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/spelling"
	"github.com/axsched/ax/pluginapi"
)

// MaxDefinition bounds the text of one task, in bytes.
const MaxDefinition = 256 << 10

// frame is what a task that is defined outside of the files needs of them.
type frame struct {
	options          Options
	defaults, groups *yaml.Node
}

// Defined is a task that was read by itself.
type Defined struct {
	// Task has the source ax.SourceConsole.
	Task ax.Task
	// Faults are all that is wrong: it is good for use only if there are none.
	// Their positions are in the text, and Field says which key they are about.
	Faults Faults
	// Warnings are what may be meant but probably is not.
	Warnings Faults

	single *Config // with the task as its only one
	fields map[Position]string
}

// ReadTask reads a task that people define while the host runs: what one entry
// of tasks: would be, in YAML or JSON. It is held to the same rules, with the
// defaults, calendars and notifiers of this configuration. Values of ${env:…} and
// ${file:…} are for files only: whoever may define a task need not be one who may
// read the files of this machine. ${secret:…} stays as it is, see package secrets.
// file names the text in positions.
func (c *Config) ReadTask(text []byte, file string) *Defined {
	l := newLoader(c.frame.options)
	l.config.App, l.config.Store, l.config.Cluster, l.config.Files = c.App, c.Store, c.Cluster, c.Files
	l.config.byPeople, l.config.Named = true, c.Named
	l.calendars, l.notifiers, l.bare = c.Calendars, c.Notifiers, true
	d := &decoder{l, &source{path: file}}
	defined := &Defined{single: l.config}
	if root := d.readAlone(text); root != nil {
		d.fields, defined.fields = fieldsOf(d.source, root)
		reader := d.newTaskReader(c.frame.defaults, c.frame.groups)
		d.readTask(reader, root)
		defined.Task = l.config.Tasks[0]
		defined.Task.Source = ax.SourceConsole
	}
	defined.Faults, defined.Warnings = defined.place(l.faults), defined.place(l.warnings)
	return defined
}

// readAlone parses the text of a task and returns its keys, nil if it has none.
func (d *decoder) readAlone(text []byte) *yaml.Node {
	at := Position{File: d.path, Line: 1, Column: 1}
	if len(text) > MaxDefinition {
		d.faultAt(at, "the definition is larger than %d bytes", MaxDefinition)
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	bad := checkEncoding(text)
	var root *yaml.Node
	if json.Valid(text) { // it has escapes that YAML does not know
		text = yamlOf(text)
	}
	if bad == nil {
		root, bad = parse(text)
	}
	switch {
	case bad != nil:
		d.refuse(*bad)
		return nil
	case root == nil:
		d.faultAt(at, "the definition is empty, expected at least name: and job:")
		return nil
	case root.Kind != yaml.MappingNode:
		d.fault(root, "expected the keys of one task such as name:, got %s", describe(root))
		return nil
	}
	d.scan(root, 0)
	return root
}

// yamlOf writes JSON as YAML.
func yamlOf(text []byte) []byte {
	n, err := jsonNode(text, keyNode)
	if err != nil {
		return text
	}
	written, err := yaml.Marshal(n)
	if err != nil {
		return text
	}
	return written
}

// CheckComponents adds to the Faults how the task uses components: see
// Config.CheckComponents. It returns those about components that are missing,
// which may come later.
func (t *Defined) CheckComponents(cat Catalog) (missing Faults) {
	for _, f := range t.place(t.single.CheckComponents(cat)) {
		if f.Missing {
			missing = append(missing, f)
		} else {
			t.Faults = append(t.Faults, f)
		}
	}
	return missing
}

// Reject adds what only a plugin, or the host around, can tell about a use of a
// component.
func (t *Defined) Reject(kind pluginapi.Kind, err error) {
	f := t.single.ComponentFault(kind, t.Task.Name, err)
	f.Field = placeOfSettings(kind)
	t.Faults = append(t.Faults, f)
}

// place adds the keys to faults that only know their positions, and sorts them.
func (t *Defined) place(faults Faults) Faults {
	for i := range faults {
		if f := &faults[i]; f.Field == "" {
			f.Field = t.fieldAt(f.Position)
		}
	}
	return t.single.Sort(faults)
}

// fieldAt returns the key of the value that begins at a position, or before it in
// the same line: a fault may be about a part of a text.
func (t *Defined) fieldAt(pos Position) string {
	for ; pos.Column > 0; pos.Column-- {
		if field, ok := t.fields[pos]; ok {
			return field
		}
	}
	return ""
}

// fieldsOf returns the keys that lead to all nodes of a task, and to the positions
// of its single values.
func fieldsOf(s *source, root *yaml.Node) (map[*yaml.Node]string, map[Position]string) {
	nodes, places := map[*yaml.Node]string{}, map[Position]string{}
	var walk func(n *yaml.Node, field string)
	walk = func(n *yaml.Node, field string) {
		nodes[n] = field
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := joinField(field, n.Content[i].Value)
				nodes[n.Content[i]] = key
				walk(n.Content[i+1], key)
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				walk(item, field+"["+strconv.Itoa(i)+"]")
			}
		default:
			places[s.at(n)] = field
		}
	}
	walk(root, "")
	return nodes, places
}

func joinField(field, key string) string {
	if field == "" {
		return key
	}
	return field + "." + key
}

// missingKey reports a key that an object needs.
func (d *decoder) missingKey(n *yaml.Node, what, key string) {
	d.fault(n, "%s needs the key %s", what, key)
	if d.fields != nil {
		d.faults[len(d.faults)-1].Field = joinField(d.fields[n], key)
	}
}

// errBare refuses a reference in a text that is no file of the configuration.
func errBare(match string) error {
	return fmt.Errorf("%s: values from the environment and from files are for the files of the configuration; write $%s if the text is to stay", match, match)
}

// refersTo reports whether ${source:…} is, or looks like, a reference.
func refersTo(source string) bool {
	return spelling.Nearest(source, []string{"env", "file"}) != ""
}

// With returns the configuration with tasks that are defined elsewhere, in place
// of those that it had before: their components are checked too, and gaps of
// their calendars are told.
func (c *Config) With(tasks []ax.Task) *Config {
	with := *c
	with.made = &Config{App: c.App, Calendars: c.Calendars, Tasks: tasks, passed: &passed{}, byPeople: true, Named: c.Named}
	with.made.noteCalendars()
	src := &source{path: ax.SourceConsole}
	for i := range tasks {
		t := &tasks[i]
		with.made.addStored(src, pluginapi.KindJob, t.Name, &t.Job)
		with.made.addStored(src, pluginapi.KindTrigger, t.Name, t.Schedule.Trigger)
		with.made.addStored(src, pluginapi.KindParams, t.Name, t.ParamsFrom)
	}
	with.made.Tasks = nil
	return &with
}

func (c *Config) addStored(src *source, kind pluginapi.Kind, owner string, u *ax.Use) {
	if u != nil {
		c.uses = append(c.uses, use{Use: *u, kind: kind, owner: owner, source: src})
	}
}

// Missing returns the calendar that a task names and the configuration does not
// have, empty if it has all of them.
func (c *Config) Missing(s *ax.Schedule) string {
	for _, name := range s.CalendarNames() {
		if c.Calendars[name] == nil {
			return name
		}
	}
	return ""
}

// Taken returns a fault for each task of the files whose name is taken by one that
// people have made in the console.
func (c *Config) Taken(made func(name string) bool) Faults {
	var faults Faults
	for i := range c.Tasks {
		t := &c.Tasks[i]
		if !made(t.Name) {
			continue
		}
		file, line, _ := cutLast(t.Source, ":")
		n, err := strconv.Atoi(line)
		if err != nil {
			n = 1
		}
		faults = append(faults, Fault{
			Position: Position{File: beside(c.Files[0], file), Line: n, Column: 1}, Task: t.Name,
			Message: fmt.Sprintf("there is a task %q already that was made in the console: rename this one, or delete that one there", t.Name),
		})
	}
	return c.Sort(faults)
}

// PlaceOfField returns the line and the column, from 1, at which a key of a task
// stands in the text of its definition, or of the innermost key around it that is
// there; 0 if the text cannot be read.
func PlaceOfField(text []byte, field string) (line, column int) {
	root, bad := parse(text)
	if bad != nil || root == nil {
		return 0, 0
	}
	nodes, _ := fieldsOf(&source{}, root)
	line, column, best := max(root.Line, 1), max(root.Column, 1), -1
	for n, at := range nodes {
		inner := at == field || strings.HasPrefix(field, at+".") || strings.HasPrefix(field, at+"[")
		if inner && n.Line > 0 && (len(at) > best || len(at) == best && n.Line*1000+n.Column < line*1000+column) && at != "" {
			line, column, best = n.Line, n.Column, len(at)
		}
	}
	return line, column
}

// placeOfSettings is the key of the settings of a component that a task uses.
func placeOfSettings(kind pluginapi.Kind) string {
	switch kind {
	case pluginapi.KindTrigger:
		return "trigger.with"
	case pluginapi.KindParams:
		return "params_from.with"
	}
	return "job.with"
}
