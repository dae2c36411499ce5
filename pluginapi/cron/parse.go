package cron

import (
	"strings"
	"time"
)

// Options of [Parse].
type Options struct {
	// Location is the zone whose clock the schedule follows; nil is UTC. A
	// CRON_TZ= prefix takes precedence. Schedules with the same pointer share
	// one table of clock changes, so load a zone once, not for each schedule.
	Location *time.Location

	// Hash seeds the H fields, usually with the task's name: equal seeds give
	// equal times, on every machine and in every release.
	Hash string
}

// Parse reads an expression. The number of its fields decides the dialect,
// see the package comment. Every error is an [*Error]. An expression that no
// date can satisfy is not an error: see [Schedule.Never].
func Parse(expr string, o Options) (*Schedule, error) {
	p := parser{expr: expr, seed: o.Hash}
	s := &Schedule{loc: o.Location}
	if s.loc == nil {
		s.loc = time.UTC
	}
	words := strings.Fields(expr)
	prefix := ""
	if zone, ok := cutZone(words); ok {
		loc, err := p.location(zone)
		if err != nil {
			return nil, err
		}
		s.loc = loc
		prefix = "CRON_TZ=" + zone + " "
		words = words[1:]
	}
	words, canonical, err := p.words(words)
	if err != nil {
		return nil, err
	}
	if err := p.rules(words, &s.rules); err != nil {
		return nil, err
	}
	for _, w := range words[second:dayOfMonth] {
		s.elapsed = s.elapsed || w[0] == '*'
	}
	s.text = prefix + canonical
	s.zone = zoneOf(s.loc)
	return s, nil
}

// parser holds what all steps of a parse need to know.
type parser struct {
	expr    string
	seed    string
	classic bool // five fields, minute first
}

// cutZone returns the zone name of a CRON_TZ= or TZ= prefix.
func cutZone(words []string) (name string, ok bool) {
	if len(words) == 0 {
		return "", false
	}
	key, name, ok := strings.Cut(words[0], "=")
	key = strings.ToUpper(key)
	return name, ok && (key == "CRON_TZ" || key == "TZ")
}

func (p *parser) location(name string) (*time.Location, error) {
	const example = "write a name of the tz database, such as CRON_TZ=Asia/Shanghai"
	switch name {
	case "":
		return nil, &Error{Expr: p.expr, Field: "zone", Problem: "the name is missing", Hint: example}
	case "Local":
		return nil, &Error{Expr: p.expr, Field: "zone", Text: name, Problem: "depends on the machine", Hint: example}
	}
	loc, err := loadLocation(name)
	if err != nil {
		return nil, &Error{Expr: p.expr, Field: "zone", Text: name, Problem: "is not known", Hint: example}
	}
	return loc, nil
}

// words brings the words of an expression into the seven-field form and
// returns its canonical text beside.
func (p *parser) words(given []string) (words []string, canonical string, err error) {
	if err := p.checkWords(given); err != nil {
		return nil, "", err
	}
	if len(given) > 0 && given[0][0] == '@' {
		name := strings.ToLower(given[0])
		text, err := p.named(name)
		if err != nil {
			return nil, "", err
		}
		if len(given) > 1 {
			return nil, "", &Error{Expr: p.expr, Field: "expression", Text: name, Problem: "stands alone", Hint: "remove what follows it"}
		}
		p.classic = true
		return p.sevenFields(strings.Fields(text)), name, nil
	}
	if err := p.checkCount(given); err != nil {
		return nil, "", err
	}
	p.classic = len(given) == 5
	for _, w := range given {
		words = append(words, canonicalWord(w))
	}
	return p.sevenFields(words), strings.Join(words, " "), nil
}

// canonicalWord spells names in upper case and a step without a start, as in
// /5, with its star.
func canonicalWord(w string) string {
	items := strings.Split(strings.ToUpper(w), ",")
	for i, item := range items {
		if strings.HasPrefix(item, "/") {
			items[i] = "*" + item
		}
	}
	return strings.Join(items, ",")
}

func (p *parser) sevenFields(words []string) []string {
	if p.classic {
		words = append([]string{"0"}, words...)
	}
	if len(words) == 6 {
		words = append(words, "*")
	}
	return words
}

// named returns the five fields that an @ name stands for.
func (p *parser) named(name string) (string, error) {
	hint := "known are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly"
	switch name {
	case "@yearly", "@annually":
		return "0 0 1 1 *", nil
	case "@monthly":
		return "0 0 1 * *", nil
	case "@weekly":
		return "0 0 * * 0", nil
	case "@daily", "@midnight":
		return "0 0 * * *", nil
	case "@hourly":
		return "0 * * * *", nil
	case "@every":
		hint = "an interval is no cron expression"
	case "@reboot":
		hint = "a start is no point in time"
	}
	return "", &Error{Expr: p.expr, Field: "expression", Text: name, Problem: "is not known", Hint: hint}
}

// rules parses the seven fields.
func (p *parser) rules(words []string, r *rules) error {
	var err error
	if r.seconds, err = p.set(second, words[second]); err != nil {
		return err
	}
	if r.minutes, err = p.set(minute, words[minute]); err != nil {
		return err
	}
	hours, err := p.set(hour, words[hour])
	if err != nil {
		return err
	}
	if err := p.days(words[dayOfMonth], words[dayOfWeek], &r.days); err != nil {
		return err
	}
	months, err := p.set(month, words[month])
	if err != nil {
		return err
	}
	r.hours, r.months = uint32(hours), uint32(months)
	r.anyYear = words[year] == "*"
	if err := p.list(year, words[year], r.years.add); err != nil {
		return err
	}
	r.seal()
	return nil
}

// set parses a field of at most 64 values.
func (p *parser) set(f field, text string) (uint64, error) {
	var set uint64
	err := p.list(f, text, func(v int) { set |= 1 << v })
	return set, err
}

// list parses the items of a field.
func (p *parser) list(f field, text string, add func(value int)) error {
	for item := range strings.SplitSeq(text, ",") {
		if err := p.item(f, item, add); err != nil {
			return err
		}
	}
	return nil
}
