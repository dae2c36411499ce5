package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// maxRules bounds one list of rules of a layer.
const maxRules = 100_000

// ruleSet finds the rule that picks a day.
type ruleSet struct {
	rules   []Rule // canonical: sorted, neighbouring dates joined
	spans   []span // the dated ones by first day
	yearly  map[monthDay]*Rule
	monthly map[int]*Rule
}

type monthDay struct{ month, day int }

// span is a dated rule in day numbers.
type span struct {
	from, to int
	reach    int // the greatest to of this span and all before it
	rule     *Rule
}

// newRuleSet checks rules and brings them into canonical form, so that equal
// sets are equal on the wire whatever the order they were stated in.
func newRuleSet(stated []Rule) (ruleSet, error) {
	if len(stated) > maxRules {
		return ruleSet{}, fmt.Errorf("%d rules are too many, at most %d are allowed", len(stated), maxRules)
	}
	for _, rule := range stated {
		if err := rule.validate(); err != nil {
			return ruleSet{}, err
		}
	}
	set := ruleSet{rules: joinRules(stated), yearly: map[monthDay]*Rule{}, monthly: map[int]*Rule{}}
	for i := range set.rules {
		rule := &set.rules[i]
		switch rule.Kind {
		case Dated:
			set.spans = append(set.spans, span{from: rule.From.number(), to: rule.To.number(), rule: rule})
		case Yearly:
			set.yearly[monthDay{int(rule.Month), rule.Day}] = rule
		case Monthly:
			set.monthly[rule.Day] = rule
		}
	}
	set.orderSpans()
	return set, nil
}

// joinRules sorts a copy of the rules and joins dated ones that touch and say
// the same: seven single days of a holiday become one range.
func joinRules(stated []Rule) []Rule {
	sorted := slices.SortedFunc(slices.Values(stated), compareRules)
	joined := sorted[:0]
	for _, rule := range sorted {
		if len(joined) > 0 && joined[len(joined)-1].join(rule) {
			continue
		}
		joined = append(joined, rule)
	}
	return joined
}

// join widens r by next, which follows it in canonical order, and reports
// whether that was possible.
func (r *Rule) join(next Rule) bool {
	if *r == next {
		return true
	}
	sameWords := r.Kind == Dated && next.Kind == Dated &&
		r.Name == next.Name && r.Source == next.Source && r.Covers == next.Covers
	if !sameWords || next.From.After(r.To.AddDays(1)) {
		return false
	}
	if next.To.After(r.To) {
		r.To = next.To
	}
	return true
}

// orderSpans sorts by first day; of those that begin together the shorter,
// being more specific, comes last and is found first.
func (s *ruleSet) orderSpans() {
	slices.SortStableFunc(s.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	for i := range s.spans {
		s.spans[i].reach = s.spans[i].to
		if i > 0 {
			s.spans[i].reach = max(s.spans[i].reach, s.spans[i-1].reach)
		}
	}
}

// match returns the rule that picks the day, or nil. A dated rule is named
// before a yearly one, a yearly one before a monthly one.
func (s *ruleSet) match(d Date, number int) *Rule {
	next := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].from > number })
	for i := next - 1; i >= 0 && s.spans[i].reach >= number; i-- {
		if s.spans[i].to >= number {
			return s.spans[i].rule
		}
	}
	if len(s.yearly) > 0 {
		if rule := s.yearly[monthDay{int(d.Month), d.Day}]; rule != nil {
			return rule
		}
	}
	if len(s.monthly) == 0 {
		return nil
	}
	if rule := s.monthly[d.Day]; rule != nil {
		return rule
	}
	return s.monthly[d.Day-DaysIn(d.Year, d.Month)-1]
}
