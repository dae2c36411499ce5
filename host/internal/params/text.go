package params

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// maxRendered bounds what a single template may produce.
const maxRendered = 64 << 10

// templateName is that of every template: what a message says of the place is
// the path of the parameter.
const templateName = "params"

// text is a template as it was parsed: itself and what it defines. Most of a
// template that can be executed is the functions that it knows: they are not
// kept, for the sake of hosts with very many tasks.
type text struct{ trees map[string]*parse.Tree }

// parseText parses a template. The error begins with the line.
func parseText(source string) (*text, error) {
	trees, err := parse.Parse(templateName, source, "", "", builtins(), functions())
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "template: "+templateName+":"))
	}
	for _, tree := range trees {
		if err := bounded(tree.Root); err != nil {
			return nil, err
		}
	}
	return &text{trees}, nil
}

// bounded refuses what could keep a template busy for ever: loops, of which a
// single value needs none, and templates that call templates.
func bounded(n parse.Node) error {
	var branch *parse.BranchNode
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, child := range n.Nodes {
			if err := bounded(child); err != nil {
				return err
			}
		}
		return nil
	case *parse.RangeNode:
		return fmt.Errorf("%d: {{range}} is not for parameters: a template makes one text of one due time", n.Line)
	case *parse.TemplateNode:
		return fmt.Errorf("%d: {{template}} is not for parameters: each is a template of its own", n.Line)
	case *parse.IfNode:
		branch = &n.BranchNode
	case *parse.WithNode:
		branch = &n.BranchNode
	default:
		return nil
	}
	if err := bounded(branch.List); err != nil {
		return err
	}
	return bounded(branch.ElseList)
}

// render executes the template.
func (t *text) render(v Values) (string, error) {
	tmpl := template.New(templateName).Option("missingkey=error").Funcs(functions())
	for name, tree := range t.trees {
		if _, err := tmpl.AddParseTree(name, tree); err != nil {
			return "", err
		}
	}
	w := limitedBuilder{left: maxRendered}
	if err := tmpl.Execute(&w, v); err != nil {
		return "", err
	}
	return w.String(), nil
}

// builtins names what Go's templates can call by themselves. The parser only
// looks whether a name is there.
func builtins() map[string]any {
	names := map[string]any{}
	for _, name := range []string{
		"and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or",
		"print", "printf", "println", "slice", "urlquery",
	} {
		names[name] = name
	}
	return names
}

// functionNames lists what a template can call.
func functionNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(functions())), maps.Keys(builtins()))
	slices.Sort(names)
	return names
}

// limitedBuilder refuses to grow beyond a limit, so that a template cannot eat
// the host's memory.
type limitedBuilder struct {
	strings.Builder
	left int
}

func (b *limitedBuilder) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, fmt.Errorf("the text is longer than %d bytes", maxRendered)
	}
	b.left -= len(p)
	return b.Builder.Write(p)
}
