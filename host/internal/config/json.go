package config

import (
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
)

// free is an object whose content the configuration does not know: settings
// of a component, parameters of a job. It is kept as JSON.
func free(to *json.RawMessage) rule {
	return rule{kind: kindObject, take: func(d *decoder, key string, n *yaml.Node) {
		*to = d.appendJSON(nil, key, n)
	}}
}

// appendJSON writes a node as JSON. The form is plain, so that the text of
// equal settings is equal: no spaces, keys as they stand in the file.
func (d *decoder) appendJSON(to []byte, key string, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		to = append(to, '{')
		for i, p := range pairs(n) {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendText(to, p.key.Value), ':')
			to = d.appendJSON(to, p.key.Value, p.value)
		}
		return append(to, '}')
	case yaml.SequenceNode:
		to = append(to, '[')
		for i, item := range n.Content {
			if i > 0 {
				to = append(to, ',')
			}
			to = d.appendJSON(to, key, item)
		}
		return append(to, ']')
	case yaml.ScalarNode:
		return d.appendScalar(to, key, n)
	}
	return append(to, "null"...) // a node that was reported already
}

// appendScalar writes a single value. What YAML readers disagree about is
// refused, since nothing here tells what is meant.
func (d *decoder) appendScalar(to []byte, key string, n *yaml.Node) []byte {
	switch n.Tag {
	case "!!null":
		return append(to, "null"...)
	case "!!bool":
		return append(to, strings.ToLower(n.Value)...)
	case "!!int", "!!float":
		if problem := d.numberProblem(n); problem != "" {
			d.fault(n, "%s: %s", key, problem)
			return append(to, "null"...)
		}
		if json.Valid([]byte(n.Value)) {
			return append(to, n.Value...)
		}
		d.fault(n, "%s: expected a number with digits on both sides of its point, got %s", key, d.show(n))
		return append(to, "null"...)
	}
	word := strings.ToLower(n.Value)
	if n.Style == 0 && !filled(n) && len(word) > 1 && (isYes(word) || isNo(word)) {
		d.fault(n, "%s: %s is true or false to some readers of YAML and a text to others: write true or false, or quote the text",
			key, n.Value)
	}
	return appendText(to, n.Value)
}

func appendText(to []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string always encodes
	return append(to, quoted...)
}
