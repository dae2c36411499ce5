package cron

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	classicLayout = "minute hour day-of-month month day-of-week"
	quartzLayout  = "second minute hour day-of-month month day-of-week [year]"
)

func (p *parser) layout() string {
	if p.classic {
		return classicLayout
	}
	return quartzLayout
}

// checkWords refuses what would confuse the count of the fields: foreign
// characters and spaces within a field.
func (p *parser) checkWords(words []string) error {
	for i, w := range words {
		for _, r := range w {
			if r > unicode.MaxASCII {
				return &Error{
					Expr: p.expr, Field: fieldName(i, len(words)), Text: w,
					Problem: fmt.Sprintf("has the character %q (%U)", r, r), Hint: asciiHint(r),
				}
			}
		}
	}
	if i := strings.IndexFunc(p.expr, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsSpace(r) }); i >= 0 {
		return &Error{Expr: p.expr, Field: "expression", Problem: "fields are separated by a space that is not the plain one", Hint: "type plain spaces"}
	}
	return p.checkSpaces(words)
}

// asciiHint names the plain character that an input method or a word
// processor replaced.
func asciiHint(r rune) string {
	var plain rune
	switch {
	case r >= '！' && r <= '～': // the full-width forms of ASCII
		plain = r - '！' + '!'
	case r == '、':
		plain = ','
	case r == '–' || r == '—' || r == '−':
		plain = '-'
	case r == '×' || r == '∗':
		plain = '*'
	default:
		return "only plain ASCII characters are understood"
	}
	return fmt.Sprintf("type the plain %q", plain)
}

// checkSpaces finds lists, ranges and steps with spaces in them.
func (p *parser) checkSpaces(words []string) error {
	const separators = ",-/#"
	var joined []string
	broken := -1
	open := false // the word before asks for more
	for _, w := range words {
		open = open && w[0] != '*' && w[0] != '?'
		alone := len(w) == 1 && strings.Contains(separators, w)
		if n := len(joined); n > 0 && (open || alone || w[0] == ',') {
			joined[n-1] += w
			if broken < 0 {
				broken = n - 1
			}
		} else {
			joined = append(joined, w)
		}
		open = strings.ContainsAny(w[len(w)-1:], separators)
	}
	if broken < 0 {
		return nil
	}
	return &Error{
		Expr: p.expr, Field: fieldName(broken, len(joined)), Text: joined[broken],
		Problem: "there is a space within the field", Hint: fmt.Sprintf("write %s without spaces", joined[broken]),
	}
}

// fieldName names the i-th of n words.
func fieldName(i, n int) string {
	switch n {
	case 5:
		return specOf(field(i+1), true).name
	case 6, 7:
		return specOf(field(i), false).name
	}
	return "expression"
}

// checkCount refuses other numbers of fields than 5, 6 and 7.
func (p *parser) checkCount(words []string) error {
	n := len(words)
	if n >= 5 && n <= 7 {
		return nil
	}
	problem := fmt.Sprintf("has %d fields", n)
	switch {
	case strings.TrimSpace(p.expr) == "":
		problem = "is empty"
	case n == 0:
		problem = "has a zone and no fields"
	case n == 1:
		problem = "has one field"
	}
	return &Error{
		Expr: p.expr, Field: "expression", Problem: problem,
		Hint: "write 5 fields (" + classicLayout + ") or 6 to 7 (" + quartzLayout + ")",
	}
}

// checkDayFields demands one ? in the day fields of the Quartz dialect.
func (p *parser) checkDayFields(dates, weekdays string) error {
	if p.classic || (dates == "?") != (weekdays == "?") {
		return nil
	}
	if dates == "?" {
		return p.fail(dayOfWeek, weekdays, "both day fields are ?", "write * in one of them for every day")
	}
	fix := "put ? in the one that does not matter; for both, use two schedules"
	switch {
	case weekdays == "*":
		fix = "write ? instead of * in the day of week"
	case dates == "*":
		fix = "write ? instead of * in the day of month"
	}
	return p.fail(dayOfWeek, weekdays, fmt.Sprintf("the day of month %q is set too, and with 6 or 7 fields exactly one of the two must be ?", dates), fix)
}

// explainWord says why a word is no value of a field.
func (p *parser) explainWord(f field, text string) (problem, hint string) {
	s := specOf(f, p.classic)
	switch {
	case text == "":
		return "a value is missing", "remove the stray separator or write the value"
	case text == "?":
		return "? stands only in the day fields, alone", "the fields are " + p.layout() + "; write * for every " + s.name
	case strings.HasPrefix(text, "*"):
		return "* stands alone or before a step", "write * or */5"
	case f != dayOfWeek && isName(text, weekdayNames):
		return "a weekday is no " + s.name, "the fields are " + p.layout()
	case f != month && isName(text, monthNames):
		return "a month is no " + s.name, "the fields are " + p.layout()
	case s.names != nil && len(text) > 3 && isName(text, s.names):
		return "names have three letters", "write " + text[:3]
	}
	hint = fmt.Sprintf("write numbers from %d to %d", s.lo, s.top)
	if s.names != nil {
		hint += " or names " + s.names[0] + " to " + s.names[len(s.names)-1]
	}
	return "is not understood", hint
}

// isName reports whether a word begins with one of the names and has no
// other characters than letters.
func isName(text string, names []string) bool {
	return len(text) >= 3 && slices.Contains(names, text[:3]) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// explainNumber guesses what a number outside of a field's range meant.
func (p *parser) explainNumber(f field, n int) string {
	switch {
	case f != year && n >= firstNamedYear && n <= lastYear:
		return "a year goes into the last of 7 fields: " + quartzLayout
	case f == hour && n == 24:
		return "midnight is hour 0"
	case f == hour && p.classic && n <= 59:
		return "5 fields start with the minute, then the hour; with seconds in front write 6"
	case f == dayOfWeek && n == 0:
		return "with 6 or 7 fields 1 is Sunday and 7 is Saturday; names are clearer"
	case f == minute && n == 60, f == second && n == 60:
		return "the full " + specOf(f+1, p.classic).name + " is 0"
	}
	return ""
}
