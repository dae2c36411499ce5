package calendar

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// maxLayers bounds a chain of calendars that extend one another.
const maxLayers = 64

// Spec is the plain description of a calendar, as a config file states it.
type Spec struct {
	// Name identifies the calendar and must not be empty.
	Name string
	// Weekly lists the weekdays that are open. Nil means that this layer
	// states no pattern: that of Extends holds, or every day is open. An
	// empty list that is not nil closes every day that no rule opens.
	Weekly []time.Weekday
	// Closed and Open pick single days out of the pattern; Open wins.
	Closed, Open []Rule
	// Extends lists the calendars below this one; later ones win over
	// earlier ones, and this one wins over all of them.
	Extends []*Calendar
}

// Calendar is a named set of open and closed days; the package comment says
// how a day is decided. Make one with [New] or [Unmarshal].
type Calendar struct {
	layers  []*layer // the last one is the calendar's own
	bounded bool
	years   map[int]bool // the years known, if bounded
	wire    []byte
	hash    string
}

// layer is one calendar of the chain, on its own.
type layer struct {
	name   string
	weekly weekly
	closed ruleSet
	open   ruleSet
}

// Day is what a calendar says about one date, and why.
type Day struct {
	Date   Date
	Open   bool
	Known  bool   // false: no list is at hand for this year, so Open is a guess
	ByRule bool   // true: a rule decided; false: the weekly pattern
	Reason string // the rule's name or text, or the weekly pattern in words
	Source string // the file the rule came from, if any
	Layer  string // name of the calendar in the chain that decided
}

// New builds a calendar. It fails on an empty name, on rules that name no
// day, and on more layers or rules than fit.
func New(spec Spec) (*Calendar, error) {
	own, err := newLayer(spec)
	if err != nil {
		return nil, fmt.Errorf("building calendar %q: %w", spec.Name, err)
	}
	var layers []*layer
	for _, parent := range spec.Extends {
		if parent == nil {
			return nil, fmt.Errorf("building calendar %q: a calendar it extends is nil", spec.Name)
		}
		for _, l := range parent.layers {
			// Two parents may share an ancestor. It stays where it came first:
			// put in again, it would undo what the first parent changed.
			if !slices.Contains(layers, l) {
				layers = append(layers, l)
			}
		}
	}
	return assemble(append(layers, own))
}

func newLayer(spec Spec) (*layer, error) {
	if spec.Name == "" {
		return nil, fmt.Errorf("the name is empty")
	}
	if err := validateText(spec.Name); err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	pattern, err := newWeekly(spec.Weekly)
	if err != nil {
		return nil, err
	}
	closed, err := newRuleSet(spec.Closed)
	if err != nil {
		return nil, fmt.Errorf("closed days: %w", err)
	}
	open, err := newRuleSet(spec.Open)
	if err != nil {
		return nil, fmt.Errorf("open days: %w", err)
	}
	return &layer{name: spec.Name, weekly: pattern, closed: closed, open: open}, nil
}

func assemble(layers []*layer) (*Calendar, error) {
	if len(layers) > maxLayers {
		return nil, fmt.Errorf("%d layers are too many, at most %d are allowed", len(layers), maxLayers)
	}
	c := &Calendar{layers: layers}
	for _, l := range layers {
		covered := l.coveredYears()
		switch {
		case len(covered) == 0: // no published list, so nothing can be missing
		case !c.bounded:
			c.bounded, c.years = true, covered
		default:
			maps.DeleteFunc(c.years, func(year int, _ bool) bool { return !covered[year] })
		}
	}
	c.encode()
	return c, nil
}

func (l *layer) coveredYears() map[int]bool {
	years := map[int]bool{}
	for _, rules := range [][]Rule{l.closed.rules, l.open.rules} {
		for _, rule := range rules {
			if rule.Covers != 0 {
				years[rule.Covers] = true
			}
		}
	}
	return years
}

// Name returns the calendar's own name.
func (c *Calendar) Name() string { return c.own().name }

// own returns the calendar's own layer, above those it extends.
func (c *Calendar) own() *layer { return c.layers[len(c.layers)-1] }

// IsOpen reports whether a date is open.
func (c *Calendar) IsOpen(d Date) bool {
	return c.decide(d).open
}

// Explain says whether a date is open, and why.
func (c *Calendar) Explain(d Date) Day {
	v := c.decide(d)
	day := Day{Date: d, Open: v.open, Known: c.knows(d.Year), ByRule: v.rule != nil, Layer: v.layer.name}
	if v.rule == nil {
		day.Reason = v.layer.weekly.explain(d.Weekday())
		return day
	}
	day.Source = v.rule.Source
	day.Reason = v.rule.Name
	if day.Reason == "" {
		day.Reason = v.rule.String()
	}
	return day
}

// Coverage returns the first and last year for which published lists are at
// hand; [Day.Known] tells of a year missing between them. A calendar without
// lists is not bounded and knows every year. If its layers have lists but no
// year in common, it is bounded and both years are 0.
func (c *Calendar) Coverage() (first, last int, bounded bool) {
	if years := slices.Sorted(maps.Keys(c.years)); len(years) > 0 {
		first, last = years[0], years[len(years)-1]
	}
	return first, last, c.bounded
}

func (c *Calendar) knows(year int) bool {
	return !c.bounded || c.years[year]
}

// RuleNames returns the names of all rules of the calendar and of those it
// extends, sorted, each once.
func (c *Calendar) RuleNames() []string {
	names := map[string]bool{}
	for _, l := range c.layers {
		for _, rules := range [][]Rule{l.closed.rules, l.open.rules} {
			for _, rule := range rules {
				names[rule.Name] = true
			}
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// verdict is a decision with its ground.
type verdict struct {
	open  bool
	rule  *Rule // nil: the weekly pattern of layer
	layer *layer
}

func (c *Calendar) decide(d Date) verdict { return c.decideDay(d, d.number()) }

// decideDay is decide for a date whose number is known.
func (c *Calendar) decideDay(d Date, number int) verdict {
	for _, l := range slices.Backward(c.layers) {
		if rule := l.open.match(d, number); rule != nil {
			return verdict{open: true, rule: rule, layer: l}
		}
		if rule := l.closed.match(d, number); rule != nil {
			return verdict{open: false, rule: rule, layer: l}
		}
	}
	pattern := c.own()
	for _, l := range slices.Backward(c.layers) {
		if l.weekly.stated {
			pattern = l
			break
		}
	}
	return verdict{open: pattern.weekly.isOpen(weekdayOf(number)), layer: pattern}
}
