package config

import (
	"bytes"
	"iter"
	"regexp"

	"gopkg.in/yaml.v3"
)

// part is a run of whole lines of a file.
type part struct {
	file       []byte
	begin, end int // offsets
	line       int // how many lines are before it
	entries    int // how many entries of a list begin in it
}

func (p part) text() []byte { return p.file[p.begin:p.end] }

// upTo is the run from the beginning of one part to the end of another.
func (p part) upTo(last part) part {
	return part{file: p.file, begin: p.begin, end: last.end, line: p.line}
}

// outline is a file in parts that are parsed each by itself. Where sure is true
// they mean alone what they mean in the whole, or one of them is no YAML: a cut
// within quotes or brackets leaves them open. Where it is false there is
// something unusual, and the parts are a guess.
type outline struct {
	// sections each have one key of the outermost level; the one of tasks has no
	// entries.
	sections []part
	// tasks are the entries of the list tasks, some in each part.
	tasks []part
	sure  bool
}

// partBytes is the size from which a part of the tasks gets no more entries.
const partBytes = 16 << 10

var (
	// outerKey matches a line that begins a section.
	outerKey = regexp.MustCompile(`^[\p{L}_][^:#"'{}\[\]]*:(\s|$)`)
	tasksKey = regexp.MustCompile(`^tasks:\s*(#.*)?$`)
	// oddBreak matches ends of lines that only YAML takes for such.
	oddBreak = regexp.MustCompile(`\r[^\n]|\r$|\x{85}|\x{2028}|\x{2029}`)
	// begin matches the mark that may stand before a document.
	begin = regexp.MustCompile(`^---\s*(#.*)?$`)
)

// outlineOf cuts a file into parts, those of the tasks of at least so many bytes
// or one entry.
func outlineOf(file []byte, least int) outline {
	if oddBreak.Match(file) {
		return outline{}
	}
	o := outline{sure: true}
	var tasks *part
	var current *part // what the next line belongs to
	inTasks := false
	for line, at := range (part{file: file, end: len(file)}).lines() {
		switch {
		case outerKey.Match(line):
			inTasks = tasksKey.Match(line)
			o.sure = o.sure && !(inTasks && tasks != nil)
			o.sections = append(o.sections, at)
			current = &o.sections[len(o.sections)-1]
		case current == nil:
			o.sure = o.sure && (isBlank(line) || begin.Match(line))
		case bytes.HasPrefix(line, []byte("---")), bytes.HasPrefix(line, []byte("...")):
			return outline{} // several documents
		case inTasks && tasks == nil && !isBlank(line):
			tasks = &at
			current = tasks
		default:
			current.end = at.end
		}
	}
	if tasks != nil {
		var regular bool
		o.tasks, regular = tasks.cut(least)
		o.sure = o.sure && regular
	}
	o.sure = o.sure && len(o.sections) > 0
	return o
}

// lines yields the lines of a part, without their ends, and each as a part.
func (p part) lines() iter.Seq2[[]byte, part] {
	return func(yield func([]byte, part) bool) {
		line := part{file: p.file, begin: p.begin, line: p.line}
		for ; line.begin < p.end; line.begin, line.line = line.end, line.line+1 {
			line.end = p.end
			if i := bytes.IndexByte(p.file[line.begin:p.end], '\n'); i >= 0 {
				line.end = line.begin + i + 1
			}
			if !yield(bytes.TrimRight(line.text(), "\r\n"), line) {
				return
			}
		}
	}
}

// isBlank reports whether a line has nothing, or nothing but a comment.
func isBlank(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// cut cuts a list into parts of at least so many bytes, or of one entry if
// that is longer. It is irregular if not all its lines are deeper than its dashes.
func (p part) cut(least int) (parts []part, regular bool) {
	regular = true
	indent := -1
	for line, at := range p.lines() {
		text := bytes.TrimLeft(line, " ")
		depth := len(line) - len(text)
		isEntry := len(text) > 0 && text[0] == '-' && (len(text) == 1 || text[1] == ' ')
		if indent < 0 {
			indent, regular = depth, isEntry
		}
		isNext := isEntry && depth == indent
		if depth <= indent && !isNext && !isBlank(line) {
			regular = false
		}
		if last := len(parts) - 1; last < 0 || isNext && parts[last].end-parts[last].begin >= least {
			parts = append(parts, at)
		} else {
			parts[last].end = at.end
		}
		if isNext {
			parts[len(parts)-1].entries++
		}
	}
	return parts, regular
}

// parse returns the root of a part, nil for an empty one. Its nodes have the
// lines that they have in the file.
func (p part) parse() (*yaml.Node, error) {
	root, err := nextDocument(yaml.NewDecoder(bytes.NewReader(p.text())))
	if err == nil && root != nil {
		moveDown(root, p.line)
	}
	return root, err
}

func moveDown(n *yaml.Node, lines int) {
	n.Line += lines
	for _, child := range n.Content {
		moveDown(child, lines)
	}
}

// join makes one mapping of the sections. The error is of the first that is no
// YAML.
func (o outline) join() (*yaml.Node, error) {
	root := o.newRoot()
	for _, section := range o.sections {
		n, err := section.parse()
		if err != nil {
			return nil, err
		}
		root.Content = append(root.Content, n.Content...)
	}
	return root, nil
}

func (o outline) newRoot() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: o.sections[0].line + 1, Column: 1}
}
