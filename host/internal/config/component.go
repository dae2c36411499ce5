package config

import (
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/ax"
)

// component is a use of a component, with the places of its parts.
type component struct {
	ax.Use
	node *yaml.Node // the whole, nil if it is not there
	use  *yaml.Node
	with *yaml.Node
}

// componentName is "component" or "plugin/component".
var componentName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*(/[a-z][a-z0-9]*(-[a-z0-9]+)*)?$`)

// rule takes in {use: NAME, with: {…}} and further keys, if any.
func (c *component) rule(extra ...field) rule {
	useName := text(&c.Name)
	takeText := useName.take
	useName.kind = kindUse
	useName.take = func(d *decoder, key string, n *yaml.Node) {
		takeText(d, key, n)
		if n.Tag == "!!str" && !componentName.MatchString(n.Value) {
			d.mismatch(&useName, key, n)
		}
	}
	fields := append([]field{{"use", useName}, {"with", free(&c.With)}}, extra...)
	needs := []string{"use"}
	return rule{kind: kindObject, fields: fields, needs: needs, take: func(d *decoder, key string, n *yaml.Node) {
		given := d.object(key, n, fields, needs...)
		c.node, c.use, c.with = n, given["use"], given["with"]
	}}
}
