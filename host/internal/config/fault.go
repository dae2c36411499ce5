package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/axsched/ax/pluginapi"
)

// Position is a place in a file; lines and columns count from 1, columns in
// characters.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Fault is one thing that is wrong with the configuration.
type Fault struct {
	Position
	// Message says what is wrong, what was expected and, where there is a good
	// guess, what was meant. It never shows a value that came from ${…}.
	Message string
	// Task is the name of the only task that suffers from it; empty if the
	// fault concerns more than one task.
	Task string
	// Kind is that of the component whose use is wrong; empty for other faults.
	Kind pluginapi.Kind
	// Field is the key that it is about, such as job.with.command[0], where a
	// single task was read; empty for the task as a whole.
	Field string
	// Missing: no plugin at hand offers the component. It may be dropped in
	// later, so a running host parks the task instead of refusing the file.
	Missing bool
}

func (f Fault) String() string { return f.Position.String() + ": " + f.Message }

// Faults are all faults of a configuration, in the order of its files and
// lines. As an error it has one line for each.
type Faults []Fault

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Unusable returns the faults without those about missing components, which are
// no reason to refuse a configuration that is only looked at, or that waits for
// its plugins.
func (fs Faults) Unusable() Faults {
	return slices.DeleteFunc(slices.Clone(fs), func(f Fault) bool { return f.Missing })
}

// Sort orders faults, which may come from Load and from CheckComponents, by
// file in the order of c.Files and by place in the file. Of several equal ones
// one is kept.
func (c *Config) Sort(fs Faults) Faults {
	rank := make(map[string]int, len(c.Files))
	for i, name := range c.Files {
		rank[name] = i
	}
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		)
	})
	return slices.Compact(fs)
}
