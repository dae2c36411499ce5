package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// setting is a key that a form has an input for.
type setting struct {
	// Key leads to it in the definition, such as job.with.basic_auth.password.
	Key  string
	Name string // the last part of Key
	// Label is what the input is called instead, empty for Name.
	Label string
	Text  string // what the plugin says about it
	// Kind is how it is put in: line, text, lines, number, choice, switch, secret or
	// yaml; group holds others.
	Kind     string
	Required bool
	Secret   bool
	Choices  []string
	Default  string
	Inner    []setting

	Value string
	Fault string
}

// schemaNode is what the forms read of a JSON Schema.
type schemaNode struct {
	Type                 any
	Format, Description  string
	Enum                 []any
	Default              json.RawMessage
	WriteOnly            bool
	Properties           map[string]schemaNode
	Required             []string
	Items                *schemaNode
	AdditionalProperties json.RawMessage
}

// deepest is how many levels of objects a form shows as inputs of their own.
const deepest = 3

// settingsOf makes the inputs for the settings of a component out of its schema;
// false if the schema does not list them.
func settingsOf(schema json.RawMessage, prefix string) ([]setting, bool) {
	var node schemaNode
	if json.Unmarshal(schema, &node) != nil || node.Properties == nil && len(schema) > 0 && !bytes.Contains(node.AdditionalProperties, []byte("false")) {
		return nil, false
	}
	return node.inputs(prefix, 1, true), true
}

// inputs are those of an object, the required ones first. Within an object that may
// be left out none is.
func (n *schemaNode) inputs(prefix string, depth int, needed bool) []setting {
	list := make([]setting, 0, len(n.Properties))
	for name, property := range n.Properties {
		required := needed && slices.Contains(n.Required, name)
		s := property.input(prefix+"."+name, depth, required)
		s.Name, s.Required = name, required
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b setting) int {
		switch {
		case a.Required != b.Required && a.Required:
			return -1
		case a.Required != b.Required:
			return 1
		case (a.Kind == "group") != (b.Kind == "group"):
			return map[bool]int{true: 1, false: -1}[a.Kind == "group"]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// textNames are settings whose texts tend to have several lines.
var textNames = []string{"shell", "script", "body", "text", "sql", "query", "message", "content"}

// input is how one property is put in.
func (n *schemaNode) input(key string, depth int, required bool) setting {
	s := setting{Key: key, Text: n.Description, Secret: n.WriteOnly, Default: plainDefault(n.Default), Kind: "yaml"}
	kind, _ := n.Type.(string)
	_, name, _ := cutLast(key, ".")
	switch {
	case len(n.Enum) > 0 && kind != "array":
		s.Kind = "choice"
		for _, value := range n.Enum {
			if text, ok := value.(string); ok {
				s.Choices = append(s.Choices, text)
			}
		}
	case kind == "string" && n.WriteOnly:
		s.Kind = "secret"
	case kind == "string" && n.Format == "" && slices.Contains(textNames, name):
		s.Kind = "text"
	case kind == "string":
		s.Kind = "line"
	case kind == "integer" || kind == "number":
		s.Kind = "number"
	case kind == "boolean":
		s.Kind = "switch"
	case kind == "array" && n.Items != nil && isScalar(n.Items.Type) && !n.WriteOnly:
		s.Kind = "lines"
		if n.Items.Type != "string" {
			s.Kind = "numbers"
		}
	case kind == "object" && len(n.Properties) > 0 && depth < deepest && !n.WriteOnly:
		s.Kind, s.Inner = "group", n.inputs(key, depth+1, required)
	}
	return s
}

func isScalar(kind any) bool { return kind == "string" || kind == "integer" || kind == "number" }

func plainDefault(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return "", text, false
}

// each calls do for every input, those within groups included.
func each(list []setting, do func(*setting)) {
	for i := range list {
		if list[i].Kind == "group" {
			each(list[i].Inner, do)
			continue
		}
		do(&list[i])
	}
}
