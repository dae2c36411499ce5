package alert

import (
	"fmt"
	"text/template/parse"
)

// bounded refuses what could keep a template busy for ever: loops over anything
// but a list of the message, such as a number, and templates that call templates.
func bounded(n parse.Node) error {
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
	case *parse.RangeNode:
		if !overField(n.Pipe) {
			return fmt.Errorf("line %d: {{range %s}}: expected a list of the message, such as .Tasks, .More or .Hosts", n.Line, n.Pipe)
		}
		return branches(&n.BranchNode)
	case *parse.IfNode:
		return branches(&n.BranchNode)
	case *parse.WithNode:
		return branches(&n.BranchNode)
	case *parse.TemplateNode:
		return fmt.Errorf("line %d: {{template %q}}: a template of a message cannot call others", n.Line, n.Name)
	}
	return nil
}

func branches(b *parse.BranchNode) error {
	if err := bounded(b.List); err != nil {
		return err
	}
	return bounded(b.ElseList)
}

// overField reports whether a pipeline is a field of the message whose value is a
// list.
func overField(p *parse.PipeNode) bool {
	if len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return false
	}
	var ident []string
	switch arg := p.Cmds[0].Args[0].(type) {
	case *parse.FieldNode:
		ident = arg.Ident
	case *parse.VariableNode: // $.Tasks
		if arg.Ident[0] != "$" {
			return false
		}
		ident = arg.Ident[1:]
	}
	if len(ident) != 1 {
		return false
	}
	return ident[0] == "Tasks" || ident[0] == "More" || ident[0] == "Hosts"
}
