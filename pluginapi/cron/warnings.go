package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// Warnings lists what is valid and yet seldom meant: steps that do not fill
// their field, such as */40 minutes, and dates that not every month has. Each
// is a sentence that names the field. There are none for most schedules.
func (s *Schedule) Warnings() []string {
	words := strings.Fields(s.text)
	if _, ok := cutZone(words); ok {
		words = words[1:]
	}
	if len(words) == 1 { // an @ name
		return nil
	}
	p := parser{classic: len(words) == 5}
	var warnings []string
	for f, word := range p.sevenFields(words) {
		for item := range strings.SplitSeq(word, ",") {
			if w := p.warning(field(f), item); w != "" {
				warnings = append(warnings, w)
			}
		}
	}
	return warnings
}

func (p *parser) warning(f field, item string) string {
	s := specOf(f, p.classic)
	if f == dayOfMonth {
		if date, err := strconv.Atoi(strings.TrimSuffix(item, "W")); err == nil && date > 28 {
			return fmt.Sprintf("%s %s: months without a day %d are left out; L is the last day of every month", s.name, item, date)
		}
	}
	base, stepText, stepped := strings.Cut(item, "/")
	step, err := strconv.Atoi(stepText)
	if !stepped || err != nil || f == year || strings.Contains(base, "-") || f != dayOfMonth && s.size()%step == 0 || step == 1 {
		return ""
	}
	return fmt.Sprintf("%s %s: the step starts anew with each turn of the field, so the last interval is shorter; for a steady period use an interval", s.name, item)
}
