package serve

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/axsched/ax/pluginapi/wire"
)

// command answers the arguments that every plugin has.
type command struct {
	manifest       wire.Manifest
	stdout, stderr io.Writer
}

// run returns the exit status, or ok false if the arguments are none of ours.
func (c command) run(args []string) (status int, ok bool) {
	if len(args) != 1 {
		return 0, false
	}
	switch args[0] {
	case wire.DescribeFlag:
		return c.describe(), true
	case "--version":
		fmt.Fprintln(c.stdout, c.manifest.Name, c.manifest.Version)
		return 0, true
	case "--help", "-h":
		c.explain(c.stdout)
		return 0, true
	}
	return 0, false
}

func (c command) describe() (status int) {
	out := json.NewEncoder(c.stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(c.manifest); err != nil {
		fmt.Fprintf(c.stderr, "describe plugin %s: %v\n", c.manifest.Name, err)
		return 1
	}
	return 0
}

// explain tells a person what this program is.
func (c command) explain(to io.Writer) {
	fmt.Fprintf(to, "%s %s is a plugin for ax", c.manifest.Name, c.manifest.Version)
	if c.manifest.Description != "" {
		fmt.Fprintf(to, ": %s", c.manifest.Description)
	}
	fmt.Fprint(to, "\n\nIt does nothing by itself: put it into the plugin directory of an ax host,\n"+
		"which starts it. It offers\n\n")
	for _, component := range c.manifest.Components {
		fmt.Fprintf(to, "  %-9s %-20s %s\n", component.Kind, component.Name, component.Description)
	}
	fmt.Fprintf(to, "\nFlags:\n"+
		"  %-15s print what it offers and the schemas of the settings, as JSON\n"+
		"  %-15s print its name and version\n"+
		"  %-15s print this text\n", wire.DescribeFlag, "--version", "--help")
}
