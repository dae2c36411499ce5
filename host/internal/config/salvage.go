package config

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// salvage takes what is YAML of a file that is none as a whole, so that one
// fault does not hide the others. bad is what is wrong with the whole.
func (d *decoder) salvage(o outline, bad syntaxError) {
	root := &yaml.Node{}
	if len(o.sections) > 0 {
		root = o.newRoot()
	}
	d.broken = !d.readAll(o.sections, func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			root.Content = append(root.Content, n.Content...)
		}
	})
	d.incomplete = d.incomplete || d.broken
	isBad := func(p part) bool { _, err := p.parse(); return err != nil }
	if d.broken || slices.ContainsFunc(o.tasks, isBad) {
		d.tasks = o.tasks
	} else { // what is wrong lies in how the parts go together
		d.refuse(bad)
	}
	if len(root.Content) > 0 {
		d.root = root
	}
}

// readAll parses parts and reports those that are no YAML. A part may have been
// cut off from what closes its quotes and brackets: it is tried with what
// follows as well.
func (d *decoder) readAll(parts []part, each func(root *yaml.Node)) (sound bool) {
	sound = true
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		root, err := p.parse()
		for last := i + 1; err != nil && last < min(i+lookAhead, len(parts)); last++ {
			if longer, longerErr := p.upTo(parts[last]).parse(); longerErr == nil {
				root, err, i = longer, nil, last
			}
		}
		switch {
		case err != nil:
			sound = false
			bad := explain(p.text(), err)
			d.faultAt(Position{File: d.path, Line: p.line + bad.line, Column: bad.column}, "%s", bad.problem)
		case root != nil:
			each(root)
		}
	}
	return sound
}

// takeParts takes in the tasks that are not in the root.
func (d *decoder) takeParts(r *taskReader) {
	for _, p := range d.tasks {
		list, err := p.parse()
		if err == nil {
			d.takeEntries(r, list)
			continue
		}
		whole, bad := parse(p.file)
		if bad == nil { // what looks like an entry is none: here the parts end
			d.takeRest(r, whole, p.line)
			return
		}
		entries, _ := p.cut(0)
		if d.readAll(entries, func(list *yaml.Node) { d.takeEntries(r, list) }) {
			d.refuse(*bad)
		}
	}
}

// takeEntries takes in a list of tasks that was not yet looked at.
func (d *decoder) takeEntries(r *taskReader, list *yaml.Node) {
	if list != nil {
		d.scan(list, 1)
		d.takeTasks(r, list)
	}
}

// takeRest takes in the tasks of a whole document that are below a line.
func (d *decoder) takeRest(r *taskReader, whole *yaml.Node, line int) {
	for _, p := range pairs(whole) {
		if p.key.Value == "tasks" {
			p.value.Content = slices.DeleteFunc(p.value.Content, func(n *yaml.Node) bool { return n.Line <= line })
			d.takeEntries(r, p.value)
		}
	}
}
