package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/pluginapi"
)

// Nodes of YAML that are written, for what is read elsewhere in this package.

func boolNode(value bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(value)}
}

func intNode(value int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(value)}
}

func durationNode(d time.Duration) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: pluginapi.Duration(d).String()}
}

func listNode(items []string) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, item := range items {
		list.Content = append(list.Content, textNode(item))
	}
	return list
}

// harmless matches texts that no reader of YAML takes for anything else, whatever
// stands around them.
var harmless = regexp.MustCompile(`^[\pL_./][\pL\pN_./-]*( [\pL\pN_./-]+)*$`)

// lines matches texts of several lines that can stand as they are.
var lines = regexp.MustCompile(`^[^\s\pC](?:[^\pC]*[^\s\pC])?(?:\n+(?: *[^\s\pC](?:[^\pC]*[^\s\pC])?))*\n?$`)

// textNode is a text, in quotes where it needs them. What looks like a reference
// is written so that it is none.
func textNode(value string) *yaml.Node {
	n := keyNode(unreferenced(value))
	if strings.Contains(n.Value, "\n") && lines.MatchString(n.Value) {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// keyNode is a key, in quotes where it needs them.
func keyNode(key string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Style: yaml.DoubleQuotedStyle}
	if word := strings.ToLower(key); harmless.MatchString(key) && !isYes(word) && !isNo(word) {
		n.Style = 0 // package yaml quotes what is true, null and the like
	}
	return n
}

var referenceLike = regexp.MustCompile(`\$\{([a-zA-Z]+):`)

// unreferenced doubles the dollar signs of what fill would replace.
func unreferenced(value string) string {
	special := strings.Contains(value, "$${")
	for _, m := range referenceLike.FindAllStringSubmatch(value, -1) {
		special = special || refersTo(m[1])
	}
	if !special {
		return value
	}
	return strings.ReplaceAll(value, "${", "$${")
}

// jsonNode makes YAML of JSON, with the keys in the same order. toText makes the
// texts: textNode writes what looks like a reference so that it is none, keyNode
// leaves it.
func jsonNode(text json.RawMessage, toText func(string) *yaml.Node) (*yaml.Node, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	n, err := nextNode(decoder, toText)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return n, nil
}

func nextNode(decoder *json.Decoder, toText func(string) *yaml.Node) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return restOf(decoder, toText, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"})
		}
		return restOf(decoder, toText, &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"})
	case string:
		return toText(token), nil
	case json.Number:
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: token.String()}
		n.Tag = n.ShortTag() // a large one is no !!int to package yaml
		return n, nil
	case bool:
		return boolNode(token), nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// restOf reads the content of an object or a list, whose beginning was read.
func restOf(decoder *json.Decoder, toText func(string) *yaml.Node, n *yaml.Node) (*yaml.Node, error) {
	plain := n.Kind == yaml.SequenceNode
	for decoder.More() {
		if n.Kind == yaml.MappingNode {
			key, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // no key is anything else
			n.Content = append(n.Content, keyNode(name))
		}
		child, err := nextNode(decoder, toText)
		if err != nil {
			return nil, err
		}
		plain = plain && child.Kind == yaml.ScalarNode && child.Style != yaml.LiteralStyle
		n.Content = append(n.Content, child)
	}
	if plain || len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	_, err := decoder.Token()
	return n, err
}
