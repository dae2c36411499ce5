package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits on what is read. A file of 10,000 tasks has some 2 MiB.
const (
	maxFileBytes   = 32 << 20
	maxSecretBytes = 64 << 10
	maxFiles       = 10_000
	maxDepth       = 64
)

// source is one YAML file.
type source struct {
	path string
	root *yaml.Node // the mapping that is the document; nil if there is none
	// tasks are the entries of the list tasks that are not in root.
	tasks []part
	// broken: some of what belongs to root is no YAML.
	broken bool
	// fields are the keys that lead to the nodes of a task that stands by itself.
	fields map[*yaml.Node]string
}

// at returns the position of a node.
func (s *source) at(n *yaml.Node) Position {
	return Position{File: s.path, Line: max(n.Line, 1), Column: max(n.Column, 1)}
}

// open reads and parses a file, but for its tasks, and checks all that does not
// depend on what its keys mean. Faults of the file as a whole are reported at
// from, where it is named.
func (l *loader) open(path string, from Position) *source {
	src := &source{path: path}
	d := decoder{loader: l, source: src}
	data, err := l.readFile(path, maxFileBytes)
	if err != nil {
		l.incomplete = true
		l.faultAt(from, "%v", err)
		return src
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bad := checkEncoding(data); bad != nil {
		d.refuse(*bad)
		return src
	}
	d.parse(data)
	if src.root == nil {
		return src
	}
	if src.root.Kind != yaml.MappingNode {
		d.fault(src.root, "expected keys such as tasks:, got %s", describe(src.root))
		src.root = nil
		return src
	}
	d.scan(src.root, 0)
	return src
}

// refuse reports what is no YAML. What the file defines may be in there.
func (d *decoder) refuse(bad syntaxError) {
	d.incomplete, d.broken = true, true
	d.faultAt(Position{File: d.path, Line: bad.line, Column: bad.column}, "%s", bad.problem)
}

// parse makes the document of a file: in parts if it has the usual form, so that
// the tasks need not be in memory all at once, and else as a whole.
func (d *decoder) parse(file []byte) {
	o := outlineOf(file, partBytes)
	if o.sure {
		if root, err := o.join(); err == nil {
			d.root, d.tasks = root, o.tasks
			return
		}
	}
	root, bad := parse(file)
	if bad != nil {
		d.salvage(o, *bad)
		return
	}
	d.root = root
}

// parse returns the root node of the only document in data, or nil if it is
// empty.
func parse(data []byte) (*yaml.Node, *syntaxError) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	first, err := nextDocument(decoder)
	if err != nil {
		return nil, explain(data, err)
	}
	second, err := nextDocument(decoder)
	if err != nil {
		return nil, explain(data, err)
	}
	if second != nil {
		return nil, &syntaxError{line: max(second.Line, 1), column: max(second.Column, 1),
			problem: "a second document begins here: keep one per file and remove the line ---"}
	}
	return first, nil
}

// syntaxError says why a text is no YAML.
type syntaxError struct {
	line, column int
	problem      string
}

// nextDocument returns the root of the next document, or nil at the end. The
// parser panics on some malformed input, which becomes an error.
func nextDocument(decoder *yaml.Decoder) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not YAML: %v", r)
		}
	}()
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	root = document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" && root.Value == "" {
		return nil, nil // nothing but comments
	}
	return root, nil
}

// checkEncoding finds bytes that are no text.
func checkEncoding(data []byte) *syntaxError {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return &syntaxError{line: 1, column: 1, problem: "the file is UTF-16: save it as UTF-8"}
	}
	line, column := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &syntaxError{line, column, fmt.Sprintf("the byte 0x%02x is not UTF-8: save the file as UTF-8", data[i])}
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			return &syntaxError{line, column, fmt.Sprintf("the control character 0x%02x is not allowed", r)}
		}
		i, column = i+size, column+1
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return nil
}

// scan checks a node and all below it for what YAML allows and a
// configuration should not have, and fills in ${…}. A node that cannot be
// used gets the kind 0, which decoding passes over.
func (d *decoder) scan(n *yaml.Node, depth int) {
	switch {
	case n.Kind == yaml.AliasNode:
		d.fault(n, "*%s is an alias in YAML, which is not supported: quote the text, or use defaults: for what tasks share", n.Value)
		n.Kind = 0
		return
	case depth > maxDepth:
		d.fault(n, "nested deeper than %d levels", maxDepth)
		n.Kind = 0
		return
	case n.Anchor != "":
		d.fault(n, "&%s is an anchor in YAML, which is not supported: quote the text, or use defaults: for what tasks share", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		d.fault(n, "%s is a tag in YAML, which is not supported: quote the text if it begins with !", n.Tag)
		n.Kind = 0
	}
	switch n.Kind {
	case yaml.ScalarNode:
		d.fill(n)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			d.scan(item, depth+1)
		}
	case yaml.MappingNode:
		d.scanKeys(n)
		for i := 1; i < len(n.Content); i += 2 {
			d.scan(n.Content[i], depth+1)
		}
	}
}

// scanKeys checks that the keys of a mapping are texts and differ.
func (d *decoder) scanKeys(n *yaml.Node) {
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			hint := ""
			if key.Kind == yaml.MappingNode {
				hint = `; if this is a template, quote it: '{{ … }}'`
			}
			d.fault(key, "a key must be a text, got %s%s", describe(key), hint)
		case key.Tag == "!!merge":
			d.fault(key, "<< is a merge key in YAML, which is not supported: use defaults: for what tasks share")
		case key.Tag != "!!str":
			d.fault(key, "a key must be a text, got %s: write %s", describe(key), strconv.Quote(key.Value))
		case strings.Contains(key.Value, "${env:") || strings.Contains(key.Value, "${file:"):
			d.fault(key, "${…} is filled in in values only, not in keys")
		case lines[key.Value] > 0:
			d.fault(key, "%s is here twice, first in line %d: remove one of them", strconv.Quote(key.Value), lines[key.Value])
		default:
			lines[key.Value] = key.Line
		}
	}
}
