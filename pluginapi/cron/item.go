package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// item parses one item of a list: *, a value, a range or H, with or without
// a step.
func (p *parser) item(f field, text string, add func(value int)) error {
	s := specOf(f, p.classic)
	base, stepText, stepped := strings.Cut(text, "/")
	v := span{lo: s.lo, hi: s.hi, step: 1}
	if stepped {
		var err error
		if v.step, err = p.step(f, text, stepText); err != nil {
			return err
		}
	}
	from, to, ranged := strings.Cut(base, "-")
	var err error
	switch {
	case base == "*":
	case base == "H" || strings.HasPrefix(base, "H("):
		v, err = p.hashed(f, text, base, stepped, v.step)
	case ranged:
		v, err = p.valueRange(f, text, from, to, v.step)
	default:
		v.lo, err = p.value(f, text, base)
		if v.lo > s.hi {
			v.lo = s.lo
		}
		if !stepped {
			v.hi = v.lo
		}
	}
	if err != nil {
		return err
	}
	s.each(v, add)
	return nil
}

// step parses what follows a slash.
func (p *parser) step(f field, item, text string) (int, error) {
	most := specOf(f, p.classic).maxStep()
	n, err := strconv.ParseUint(text, 10, 16)
	switch {
	case err != nil:
		return 0, p.fail(f, item, "the step is not a number", "write a number after /, such as */5")
	case n == 0:
		return 0, p.fail(f, item, "the step is 0", fmt.Sprintf("write a step from 1 to %d", most))
	case int(n) > most:
		return 0, p.fail(f, item, fmt.Sprintf("the step is larger than %d and would never be taken", most),
			"a step counts within its field; for longer periods use the next field or an interval")
	}
	return int(n), nil
}

// valueRange parses a range, which may wrap in all fields but the year.
func (p *parser) valueRange(f field, item, from, to string, step int) (span, error) {
	if from == "" || to == "" {
		return span{}, p.fail(f, item, "a range needs two values", "write it as first-last")
	}
	lo, err := p.value(f, item, from)
	if err != nil {
		return span{}, err
	}
	hi, err := p.value(f, item, to)
	if err != nil {
		return span{}, err
	}
	s := specOf(f, p.classic)
	if lo > s.hi { // classic 7-x is 0-x
		lo = s.lo
		if hi > s.hi {
			hi = s.lo
		}
	}
	if hi < lo {
		if f == year {
			return span{}, p.fail(f, item, "the range runs backwards", "write the earlier year first")
		}
		hi += s.size()
	}
	return span{lo: lo, hi: hi, step: step}, nil
}

// value parses a number or a name.
func (p *parser) value(f field, item, text string) (int, error) {
	s := specOf(f, p.classic)
	if i := slices.Index(s.names, text); i >= 0 {
		return s.lo + i, nil
	}
	if text == "" || strings.Trim(text, "0123456789") != "" {
		problem, hint := p.explainWord(f, text)
		return 0, p.fail(f, item, problem, hint)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < s.lo || n > s.top {
		return 0, p.fail(f, item, fmt.Sprintf("must be from %d to %d", s.lo, s.top), p.explainNumber(f, n))
	}
	return n, nil
}

// fail names the field and the text at fault, in the letters of the user.
func (p *parser) fail(f field, text, problem, hint string) error {
	if i := strings.Index(strings.ToUpper(p.expr), text); i >= 0 {
		text = p.expr[i : i+len(text)]
	}
	return &Error{Expr: p.expr, Field: specOf(f, p.classic).name, Text: text, Problem: problem, Hint: hint}
}
