package calendar

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxNameBytes bounds names and sources, which end up in logs and answers.
const maxNameBytes = 512

// Kind says how a [Rule] picks its days.
type Kind int

// The kinds of rules. Dated is a single date or a range of dates.
const (
	Dated Kind = iota
	Yearly
	Monthly
)

// Rule picks days. Make one with [OnDate], [Between], [EveryYear],
// [EveryMonth] or [ParseRule].
type Rule struct {
	Kind     Kind
	From, To Date       // Dated: first and last day
	Month    time.Month // Yearly
	Day      int        // Yearly: 1..31; Monthly: 1..31, or -1..-31 from the end
	Name     string     // the holiday's name; optional
	Source   string     // the file it came from; optional
	Covers   int        // year whose published list holds this rule; 0 = none
}

// OnDate picks one date.
func OnDate(d Date) Rule { return Rule{Kind: Dated, From: d, To: d} }

// Between picks all dates from the first to the last, both included.
func Between(first, last Date) Rule { return Rule{Kind: Dated, From: first, To: last} }

// EveryYear picks the same day of each year. 29 February is picked in leap
// years only; in others nothing takes its place.
func EveryYear(month time.Month, day int) Rule {
	return Rule{Kind: Yearly, Month: month, Day: day}
}

// EveryMonth picks a day of each month: 1 to 31, or -1 for the last, -2 for
// the one before it and so on. Months without that day are passed over.
func EveryMonth(day int) Rule { return Rule{Kind: Monthly, Day: day} }

// ParseRule reads the written forms of rules:
//
//	2026-12-25                one date
//	2026-12-25..2027-01-06    from one date to another, both included
//	12-25                     this day every year
//	day 15, day -1            this day every month, the last day of every month
func ParseRule(text string) (Rule, error) {
	rule, err := parseRule(strings.TrimSpace(text))
	if err != nil {
		return Rule{}, err
	}
	return rule, rule.validate()
}

func parseRule(text string) (Rule, error) {
	if first, last, isRange := strings.Cut(text, ".."); isRange {
		from, err := ParseDate(strings.TrimSpace(first))
		if err != nil {
			return Rule{}, err
		}
		to, err := ParseDate(strings.TrimSpace(last))
		return Between(from, to), err
	}
	if number, isMonthly := strings.CutPrefix(text, "day "); isMonthly {
		day, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil {
			return Rule{}, fmt.Errorf("expected a day of the month such as \"day 15\" or \"day -1\", got %q", text)
		}
		return EveryMonth(day), nil
	}
	if len(text) == len("01-02") {
		// A leap year, so that 29 February can be stated.
		day, err := ParseDate("2000-" + text)
		if err != nil {
			return Rule{}, fmt.Errorf("expected a month and day such as 12-25, got %q", text)
		}
		return EveryYear(day.Month, day.Day), nil
	}
	day, err := ParseDate(text)
	return OnDate(day), err
}

// String returns the form that [ParseRule] reads; name, source and coverage
// are not part of it.
func (r Rule) String() string {
	switch {
	case r.Kind == Yearly:
		return fmt.Sprintf("%02d-%02d", r.Month, r.Day)
	case r.Kind == Monthly:
		return fmt.Sprintf("day %d", r.Day)
	case r.From == r.To:
		return r.From.String()
	default:
		return r.From.String() + ".." + r.To.String()
	}
}

func (r Rule) validate() error {
	if err := validateText(r.Name); err != nil {
		return fmt.Errorf("name of rule %s: %w", r, err)
	}
	if err := validateText(r.Source); err != nil {
		return fmt.Errorf("source of rule %s: %w", r, err)
	}
	switch r.Kind {
	case Dated:
		return r.validateDates()
	case Yearly:
		if r.Month < time.January || r.Month > time.December || r.Day < 1 || r.Day > DaysIn(2000, r.Month) {
			return fmt.Errorf("yearly rule %s: no year has this day", r)
		}
	case Monthly:
		if r.Day == 0 || r.Day < -31 || r.Day > 31 {
			return fmt.Errorf("monthly rule: expected a day from 1 to 31 or from -1 to -31, got %d", r.Day)
		}
	default:
		return fmt.Errorf("unknown kind of rule %d", r.Kind)
	}
	return nil
}

func (r Rule) validateDates() error {
	for _, d := range []Date{r.From, r.To} {
		if d.Year < 1 || d.Year > 9999 || d != DateOf(d.midnightUTC()) {
			return fmt.Errorf("rule %s: there is no date %s", r, d)
		}
	}
	if r.To.Before(r.From) {
		return fmt.Errorf("rule %s ends before it begins", r)
	}
	return nil
}

// validateText keeps out what would not survive the wire form unchanged.
func validateText(text string) error {
	if len(text) > maxNameBytes {
		return fmt.Errorf("%d bytes are too long, at most %d are allowed", len(text), maxNameBytes)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%q is not valid UTF-8", text)
	}
	return nil
}

// compareRules is the canonical order: rules that can be joined come one
// after the other.
func compareRules(a, b Rule) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Covers, b.Covers),
		a.From.Compare(b.From),
		a.To.Compare(b.To),
		cmp.Compare(a.Month, b.Month),
		cmp.Compare(a.Day, b.Day),
	)
}
