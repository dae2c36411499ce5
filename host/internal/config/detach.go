package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// detach replaces the nodes that the uses keep by copies. The nodes of a file
// are made in the order of its text: few of them, kept here and there, would
// hold on to most of the memory that all of them took.
func (c *Config) detach() {
	filled := map[*source]map[*yaml.Node]bool{}
	for i := range c.uses {
		u := &c.uses[i]
		if filled[u.source] == nil {
			filled[u.source] = map[*yaml.Node]bool{}
		}
		k := copier{from: u.source.filled, to: filled[u.source], copies: map[*yaml.Node]*yaml.Node{}}
		u.node, u.name, u.with = k.copy(u.node), k.copy(u.name), k.copy(u.with)
	}
	for s, nodes := range filled {
		s.filled = nodes
	}
}

// copier copies nodes, each one once.
type copier struct {
	from, to map[*yaml.Node]bool // see source.filled
	copies   map[*yaml.Node]*yaml.Node
}

func (k *copier) copy(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	if done := k.copies[n]; done != nil {
		return done
	}
	made := *n
	made.Value = strings.Clone(n.Value)
	k.copies[n] = &made
	if k.from[n] {
		k.to[&made] = true
	}
	made.Alias = k.copy(n.Alias)
	made.Content = slices.Clone(n.Content)
	for i, child := range made.Content {
		made.Content[i] = k.copy(child)
	}
	return &made
}
