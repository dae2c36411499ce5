package params

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"
	"time"
)

// Finding is something about a template that is wrong, or probably not meant.
type Finding struct {
	// Part is the part of the text that it is about, "" for the whole.
	Part    string
	Message string
	// Word is unknown and probably one of Known; both are empty if it is about
	// something else.
	Word  string
	Known []string
	// Doubt: the template works, but probably does not do what is meant.
	Doubt bool
}

// CheckString reports what is wrong with one template text, nil if nothing is.
func CheckString(source string) []Finding {
	t, err := parseText(source)
	if err != nil {
		f := Finding{Message: err.Error()}
		if !strings.Contains(source, "\n") {
			f.Message = strings.TrimPrefix(f.Message, "1: ") // there is no other line
		}
		if m := undefined.FindStringSubmatch(f.Message); m != nil {
			f.Part, f.Word, f.Known = m[1], m[1], functionNames()
		}
		return []Finding{f}
	}
	c := checker{known: valueNames()}
	if main := t.trees[templateName]; main != nil && main.Root != nil {
		c.list(main.Root, true)
	}
	return c.found
}

// undefined is what the parser says of a function that is not there.
var undefined = regexp.MustCompile(`function "([^"]+)" not defined`)

// valueNames lists what a template sees.
func valueNames() []string {
	var names []string
	for field := range reflect.TypeFor[Values]().Fields() {
		names = append(names, field.Name)
	}
	return names
}

// checker walks through a parsed template. Where the dot is something else than
// Values, in with, only $ is known to be them.
type checker struct {
	known []string
	found []Finding
}

func (c *checker) list(list *parse.ListNode, dot bool) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		c.node(n, dot)
	}
}

// node looks at a part; dot tells that the dot is Values there.
func (c *checker) node(n parse.Node, dot bool) {
	switch n := n.(type) {
	case *parse.ActionNode:
		c.pipe(n.Pipe, dot)
	case *parse.IfNode:
		c.branch(&n.BranchNode, dot, dot)
	case *parse.WithNode:
		c.branch(&n.BranchNode, dot, false)
	case *parse.PipeNode:
		c.pipe(n, dot)
	case *parse.ChainNode:
		c.node(n.Node, dot)
	case *parse.FieldNode:
		if dot {
			c.name(n.Ident[0])
		}
	case *parse.VariableNode:
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			c.name(n.Ident[1])
		}
	}
}

func (c *checker) branch(b *parse.BranchNode, dot, inside bool) {
	c.pipe(b.Pipe, dot)
	c.list(b.List, inside)
	c.list(b.ElseList, dot)
}

func (c *checker) pipe(p *parse.PipeNode, dot bool) {
	if p == nil {
		return
	}
	for _, cmd := range p.Cmds {
		c.call(cmd)
		for _, arg := range cmd.Args {
			c.node(arg, dot)
		}
	}
}

func (c *checker) name(name string) {
	if !slices.Contains(c.known, name) {
		c.found = append(c.found, Finding{
			Part: "." + name, Message: fmt.Sprintf("templates know no .%s", name), Word: name, Known: c.known,
		})
	}
}

// call looks at the text that a function has as its first argument.
func (c *checker) call(cmd *parse.CommandNode) {
	if len(cmd.Args) < 2 {
		return
	}
	function, isName := cmd.Args[0].(*parse.IdentifierNode)
	arg, isText := cmd.Args[1].(*parse.StringNode)
	if !isName || !isText {
		return
	}
	f := Finding{Part: arg.Text}
	switch function.Ident {
	case "date":
		f.Message, f.Doubt = layoutProblem(arg.Text)
	case "in":
		if _, err := time.LoadLocation(arg.Text); err != nil {
			f.Message = fmt.Sprintf("in: %q is no time zone, expected an IANA name such as Asia/Shanghai or UTC", arg.Text)
		}
	case "add":
		if _, err := time.ParseDuration(arg.Text); err != nil {
			f.Message = fmt.Sprintf("add: expected a duration such as 90m or -1h30m (units ns, us, ms, s, m, h), got %q", arg.Text)
		}
	}
	if f.Message != "" {
		c.found = append(c.found, f)
	}
}
