package config

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// later keeps a value to be taken in by a rule like r when more is known.
func later(r rule, to **yaml.Node) rule {
	r.take = func(_ *decoder, _ string, n *yaml.Node) { *to = n }
	return r
}

// section is an object with fixed keys.
func section(what string, fields ...field) rule {
	return rule{kind: kindObject, fields: fields, take: func(d *decoder, _ string, n *yaml.Node) {
		d.object(what, n, fields)
	}}
}

// words is a list of texts; a single text may stand for a list of one.
func words(to *[]string) rule { return orOne(listOfText(to)) }

// orOne lets a single value stand in place of a list with this one element.
func orOne(list rule) rule {
	single := rule{kind: list.elem.kind}
	single.take = func(d *decoder, key string, n *yaml.Node) {
		list.take(d, key, &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}})
	}
	list.short = &single
	return list
}

// listOf is a list. begin is called before it, and each after each element
// that elem has taken in.
func listOf(elem rule, begin, each func()) rule {
	return rule{kind: kindArray, elem: &elem, take: func(d *decoder, key string, n *yaml.Node) {
		begin()
		for _, item := range n.Content {
			before := len(d.faults)
			d.take(&elem, key, item)
			if len(d.faults) == before && item.Kind != 0 {
				each()
			}
		}
	}}
}

// listOfText is a list of texts.
func listOfText(to *[]string) rule {
	var one string
	return listOf(text(&one), func() { *to = nil }, func() { *to = append(*to, one) })
}

// choices is a list of some of several words, each at most once.
func choices(to *[]string, allowed ...string) rule {
	var one string
	elem := choice(&one, allowed...)
	return rule{kind: kindArray, elem: &elem, take: func(d *decoder, key string, n *yaml.Node) {
		*to = []string{}
		for _, item := range n.Content {
			one = ""
			d.take(&elem, key, item)
			if slices.Contains(*to, one) {
				d.fault(item, "%s: %s is here twice", key, one)
			} else if one != "" {
				*to = append(*to, one)
			}
		}
	}}
}

// textMap is an object with free keys and texts for values.
func textMap(to *map[string]string) rule {
	var one string
	elem := text(&one)
	return rule{kind: kindObject, elem: &elem, take: func(d *decoder, key string, n *yaml.Node) {
		*to = make(map[string]string, len(n.Content)/2)
		for _, p := range pairs(n) {
			one = ""
			d.take(&elem, key+"."+p.key.Value, p.value)
			(*to)[p.key.Value] = one
		}
	}}
}

// secretTexts is an object of secrets by the names that people give them.
func secretTexts(to *map[string]string) rule {
	r := textMap(to)
	take := r.take
	r.take = func(d *decoder, key string, n *yaml.Node) {
		take(d, key, n)
		for _, p := range pairs(n) {
			d.checkName(key, p.key)
			switch value := (*to)[p.key.Value]; {
			case p.value.Tag != "!!str" || p.value.Kind == 0: // a fault already
			case len(value) < minSecretBytes:
				d.fault(p.value, "%s.%s: expected a secret of at least %d characters, such as ${env:SHOP_TOKEN}", key, p.key.Value, minSecretBytes)
			default:
				d.secret(value)
			}
		}
	}
	return r
}

// named is an object whose keys are names that people choose.
func named(elem rule) rule { return rule{kind: kindObject, elem: &elem} }

// eachNamed calls each with the key and the value of every entry of an object
// whose keys are names. n may be nil.
func (d *decoder) eachNamed(what string, n *yaml.Node, each func(key, value *yaml.Node)) {
	if n == nil {
		return
	}
	for _, p := range pairs(n) {
		d.checkName(what, p.key)
		each(p.key, p.value)
	}
}
