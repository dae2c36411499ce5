package console

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/secrets"
)

// tree is a definition as YAML, of which a form takes one key after the other. What
// is left is shown as YAML.
type tree struct{ root *yaml.Node }

func parseTree(text string) tree {
	var document yaml.Node
	if yaml.Unmarshal([]byte(text), &document) != nil || len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return tree{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}}
	}
	return tree{document.Content[0]}
}

// find returns the mapping that holds the last part of a key, and where in it.
func (t tree) find(key string) (parent *yaml.Node, at int) {
	parent = t.root
	parts := strings.Split(key, ".")
	for i, part := range parts {
		if parent.Kind != yaml.MappingNode {
			return nil, 0
		}
		n := slices.IndexFunc(parent.Content, func(n *yaml.Node) bool { return n.Value == part })
		for n >= 0 && n%2 == 1 { // a value that looks like the key
			next := slices.IndexFunc(parent.Content[n+1:], func(n *yaml.Node) bool { return n.Value == part })
			if n = n + 1 + next; next < 0 {
				n = -1
			}
		}
		if n < 0 {
			return nil, 0
		}
		if i == len(parts)-1 {
			return parent, n
		}
		parent = parent.Content[n+1]
	}
	return nil, 0
}

// take removes a key that fits into an input, and returns what it says there.
func (t tree) take(key, kind string) (value string, there bool) {
	parent, at := t.find(key)
	if parent == nil {
		return "", false
	}
	value, fits := inputText(parent.Content[at+1], kind)
	if fits {
		parent.Content = slices.Delete(parent.Content, at, at+2)
	}
	return value, fits
}

// inputText is what stands in an input for a value.
func inputText(n *yaml.Node, kind string) (text string, fits bool) {
	switch kind {
	case "yaml":
		return writeYAML(n), true
	case "lines", "numbers":
		if n.Kind == yaml.ScalarNode {
			return n.Value, !strings.Contains(n.Value, "\n")
		}
		var lines []string
		for _, item := range n.Content {
			if n.Kind != yaml.SequenceNode || item.Kind != yaml.ScalarNode || strings.Contains(item.Value, "\n") {
				return "", false
			}
			lines = append(lines, item.Value)
		}
		return strings.Join(lines, "\n"), true
	case "line", "number", "choice", "switch":
		return n.Value, n.Kind == yaml.ScalarNode && !strings.Contains(n.Value, "\n")
	}
	return n.Value, n.Kind == yaml.ScalarNode
}

func writeYAML(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		return ""
	}
	n.Style &^= yaml.FlowStyle // read better over several lines
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if e.Encode(n) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// prune takes mappings out that have lost all their keys.
func prune(n *yaml.Node) {
	for i := len(n.Content) - 2; n.Kind == yaml.MappingNode && i >= 0; i -= 2 {
		child := n.Content[i+1]
		if prune(child); child.Kind == yaml.MappingNode && len(child.Content) == 0 {
			n.Content = slices.Delete(n.Content, i, i+2)
		}
	}
}

// put sets a key to what an input says.
func (t tree) put(key string, value *yaml.Node) {
	parent := t.root
	parts := strings.Split(key, ".")
	for _, part := range parts[:len(parts)-1] {
		at := slices.IndexFunc(parent.Content, func(n *yaml.Node) bool { return n.Value == part })
		if at < 0 || at%2 == 1 {
			inner := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			parent.Content = append(parent.Content, textNode(part), inner)
			parent = inner
			continue
		}
		parent = parent.Content[at+1]
	}
	parent.Content = append(parent.Content, textNode(parts[len(parts)-1]), value)
}

// harmless matches texts that mean the same without quotes wherever they stand;
// package yaml quotes what is true, null and the like.
var harmless = regexp.MustCompile(`^[\pL_./][\pL\pN_./-]*$`)

func textNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	if harmless.MatchString(text) && !slices.Contains([]string{"yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		n.Style = 0
	}
	if strings.Contains(text, "\n") && strings.TrimLeft(text, " \n") == text && !strings.ContainsAny(text, "\t\r") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// plainNode is a value whose type shows in how it is written.
func plainNode(text string) *yaml.Node {
	var document yaml.Node
	if yaml.Unmarshal([]byte(text), &document) != nil || len(document.Content) == 0 || document.Content[0].Kind != yaml.ScalarNode {
		return textNode(text)
	}
	return document.Content[0]
}

var errNoYAML = badRequest("This is no YAML.")

// valueOf makes of what stands in an input what the definition says; nil if it is
// empty.
func valueOf(text, kind string) (*yaml.Node, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	switch kind {
	case "number", "switch":
		return plainNode(strings.TrimSpace(text)), nil
	case "lines", "numbers":
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for line := range strings.SplitSeq(text, "\n") {
			switch {
			case strings.TrimSpace(line) == "":
			case kind == "numbers":
				list.Content = append(list.Content, plainNode(strings.TrimSpace(line)))
			default:
				list.Content = append(list.Content, textNode(line))
			}
		}
		return list, nil
	case "yaml":
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			return nil, errNoYAML
		}
		if len(document.Content) == 0 {
			return nil, nil
		}
		return document.Content[0], nil
	case "line", "choice":
		text = strings.TrimSpace(text)
	}
	return textNode(text), nil
}

// body writes the definition that a form says. masked leaves secrets out that were
// written down, for showing it. What cannot be read is a fault at its key.
func (f *defineForm) body(values url.Values, masked bool) (string, []api.TaskFault) {
	t := parseTree("")
	var faults []api.TaskFault
	put := func(key, text, kind string) {
		n, err := valueOf(text, kind)
		switch {
		case err != nil:
			faults = append(faults, api.TaskFault{Field: key, Message: err.Error()})
		case n != nil:
			t.put(key, n)
		}
	}
	putAll := func(list ...setting) {
		for _, s := range list {
			put(s.Key, values.Get(s.Key), s.Kind)
		}
	}
	putAll(f.About...)
	if values.Get("enabled") == "" {
		t.put("enabled", plainNode("false"))
	}
	switch when := values.Get("when"); when {
	case "cron", "every", "delay", "at":
		put(when, values.Get(when), "line")
	case "trigger":
		put("trigger.use", values.Get("trigger.use"), "line")
		f.putSettings(f.Trigger, values, masked, put)
	}
	putAll(f.Limits...)
	put("job.use", values.Get("job.use"), "line")
	f.putSettings(f.Job, values, masked, put)
	putAll(f.Params)
	putAll(f.Policies...)
	if to := values["notify.to"]; len(to) > 0 {
		put("notify.to", strings.Join(to, "\n"), "lines")
	}
	if more, err := valueOf(values.Get("more"), "yaml"); err != nil || more != nil && more.Kind != yaml.MappingNode {
		faults = append(faults, api.TaskFault{Field: "more", Message: errNoYAML.Error()})
	} else if more != nil {
		merge(t.root, more)
	}
	return writeYAML(t.root) + "\n", faults
}

// merge adds the keys of one mapping to another. A key of both stays twice, which
// the host refuses.
func merge(to, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		at := slices.IndexFunc(to.Content, func(n *yaml.Node) bool { return n.Value == key.Value })
		if at >= 0 && at%2 == 0 && to.Content[at+1].Kind == yaml.MappingNode && value.Kind == yaml.MappingNode {
			merge(to.Content[at+1], value)
			continue
		}
		to.Content = append(to.Content, key, value)
	}
}

// putSettings adds the settings of a component.
func (f *defineForm) putSettings(c *componentForm, values url.Values, masked bool, put func(key, text, kind string)) {
	if c == nil {
		return
	}
	if !c.Known {
		put(c.Key+".with", values.Get(c.Key+".with"), "yaml")
		return
	}
	each(c.Settings, func(s *setting) {
		text := values.Get(s.Key)
		if s.Kind == "secret" && masked && text != "" && !secrets.Named(text) {
			text = secrets.Mark
		}
		put(s.Key, text, s.Kind)
	})
}
