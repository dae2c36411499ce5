package config

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/spelling"
	"github.com/axsched/ax/pluginapi"
)

// text is any text.
func text(to *string) rule {
	r := rule{kind: kindString}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		if n.Tag != "!!str" && n.Tag != "!!timestamp" {
			d.mismatch(&r, key, n)
			return
		}
		*to = n.Value
	}
	return r
}

// maxNameRunes is what the store's column for names takes.
const maxNameRunes = 128

// nameProblem says what is wrong with the name of a task, a calendar, a
// notifier and so on, or "".
func nameProblem(name string) string {
	if name == "" || utf8.RuneCountInString(name) > maxNameRunes {
		return "expected 1 to 128 characters"
	}
	for i, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || i > 0 && strings.ContainsRune("._-", r) {
			continue
		}
		return "expected letters, digits, dots, dashes and underscores, beginning with a letter or digit"
	}
	return ""
}

// name is the name of something in the configuration.
func name(to *string) rule {
	r := text(to)
	r.kind = kindName
	takeText := r.take
	r.take = func(d *decoder, key string, n *yaml.Node) {
		takeText(d, key, n)
		d.checkName(key, n)
	}
	return r
}

func (d *decoder) checkName(key string, n *yaml.Node) {
	if problem := nameProblem(n.Value); problem != "" && n.Tag == "!!str" {
		d.fault(n, "%s: %s, got %s", key, problem, d.show(n))
	}
}

// choice is one of several words.
func choice[T ~string](to *T, words ...T) rule {
	r := rule{kind: kindString}
	for _, word := range words {
		r.enum = append(r.enum, string(word))
	}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		for _, word := range words {
			if n.Value == string(word) {
				*to = word
				return
			}
		}
		guess := ""
		if near := spelling.Nearest(n.Value, r.enum); near != "" && !filled(n) {
			guess = ", did you mean " + near + "?"
		}
		d.fault(n, "%s: expected %s, got %s%s", key, either(r.enum), d.show(n), guess)
	}
	return r
}

// integer is a whole number in decimal.
func integer(to *int, lo, hi int) rule {
	r := rule{kind: kindInteger, lo: lo, hi: hi}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		if problem := d.numberProblem(n); problem != "" {
			d.fault(n, "%s: %s", key, problem)
			return
		}
		if n.Tag != "!!int" && !filled(n) {
			d.mismatch(&r, key, n)
			return
		}
		value, err := strconv.Atoi(n.Value)
		if err != nil || value < lo || value > hi {
			d.mismatch(&r, key, n)
			return
		}
		*to = value
	}
	return r
}

// numberProblem refuses numbers that YAML does not read as they look: 010 is
// 8 to it, and so is 08; 1_000, 0x10 and .inf are numbers.
func (d *decoder) numberProblem(n *yaml.Node) string {
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return ""
	}
	digits := strings.TrimLeft(n.Value, "+-")
	switch {
	case len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return "a number with a leading zero is read as octal: drop the zero, or quote it if it is a text, got " + d.show(n)
	case strings.HasPrefix(n.Value, "+"), strings.ContainsAny(digits, "_xXob"), strings.Contains(strings.ToLower(digits), "inf"),
		strings.Contains(strings.ToLower(digits), "nan"):
		return "expected a number in plain decimal digits, or quotes around a text, got " + d.show(n)
	}
	return ""
}

// number is a number with a fraction.
func number(to *float64, lo, hi float64) rule {
	r := rule{kind: kindNumber}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		if n.Tag != "!!int" && n.Tag != "!!float" && !filled(n) {
			d.mismatch(&r, key, n)
			return
		}
		if problem := d.numberProblem(n); problem != "" {
			d.fault(n, "%s: %s", key, problem)
			return
		}
		value, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || !(value >= lo && value <= hi) {
			d.fault(n, "%s: expected a number from %v to %v, got %s", key, lo, hi, d.show(n))
			return
		}
		*to = value
	}
	return r
}

// boolean is true or false.
func boolean(to *bool) rule {
	r := rule{kind: kindBoolean}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		switch value := strings.ToLower(n.Value); {
		case n.Tag != "!!bool" && !filled(n), value != "true" && value != "false":
			d.mismatch(&r, key, n)
		default:
			*to = value == "true"
		}
	}
	return r
}

// maxDuration bounds all durations. It is far below what overflows when two of
// them are added.
const maxDuration = 10 * 365 * 24 * time.Hour

// duration is a length of time with units, at least lo.
func duration(to *time.Duration, lo time.Duration) rule {
	r := rule{kind: kindDuration}
	r.take = func(d *decoder, key string, n *yaml.Node) {
		if n.Tag != "!!str" {
			d.mismatch(&r, key, n)
			return
		}
		value, err := pluginapi.ParseDuration(n.Value)
		switch {
		case err != nil && strings.HasPrefix(n.Value, "-") && !filled(n):
			d.fault(n, "%s: a duration cannot be negative, got %s", key, d.show(n))
		case err != nil && overflows(n.Value), value.Std() > maxDuration:
			d.fault(n, "%s: expected at most 10 years (3650d), got %s", key, d.show(n))
		case err != nil:
			d.mismatch(&r, key, n)
		case value.Std() < lo:
			d.fault(n, "%s: expected at least %s, got %s", key, pluginapi.Duration(lo), d.show(n))
		default:
			*to = value.Std()
		}
	}
	return r
}

// overflows reports whether a text that is refused as a duration looks like
// one: it is too long, then.
func overflows(text string) bool { return durationForm.MatchString(text) }

var durationForm = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h|d|w))+$`)
