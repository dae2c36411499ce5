package config

import (
	"errors"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/pluginapi/calendar"
)

// dayRules is a list of days, each with a name if wanted.
func dayRules(to *[]calendar.Rule) rule {
	var days, label string
	daysRule := text(&days)
	fields := []field{{"days", daysRule}, {"name", text(&label)}}
	var at *yaml.Node
	elem := rule{kind: kindObject, fields: fields, needs: []string{"days"}, take: func(d *decoder, key string, n *yaml.Node) {
		days, label = "", ""
		at = d.object("a day of "+key, n, fields, "days")["days"]
	}}
	elem.short = &rule{kind: kindString, take: func(d *decoder, key string, n *yaml.Node) {
		label, at = "", n
		daysRule.take(d, key, n)
	}}
	r := rule{kind: kindArray, elem: &elem}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		for _, item := range n.Content {
			before := len(d.faults)
			d.take(&elem, key, item)
			if len(d.faults) > before || item.Kind == 0 || isNull(item) {
				continue
			}
			parsed, err := parseDays(days)
			if err != nil {
				d.fault(at, "%s: %v", key, err)
				continue
			}
			parsed.Name = label
			*to = append(*to, parsed)
		}
	}
	return r
}

// parseDays reads what calendar.ParseRule reads, with words in front of rules
// that repeat: "yearly 12-25", "monthly 15", "monthly last".
func parseDays(text string) (calendar.Rule, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch rest = strings.TrimSpace(rest); {
	case word == "yearly":
		return calendar.ParseRule(rest)
	case word == "monthly" && rest == "last":
		return calendar.EveryMonth(-1), nil
	case word == "monthly":
		return calendar.ParseRule("day " + rest)
	}
	parsed, err := calendar.ParseRule(text)
	if err != nil && len(rest) == 0 && !strings.Contains(text, "-") {
		return parsed, errors.New("expected days such as 2026-12-25, 2026-12-25..2027-01-06, yearly 12-25, monthly 15 or monthly last, got " + strconv.Quote(text))
	}
	return parsed, err
}
