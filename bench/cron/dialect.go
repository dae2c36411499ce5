package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// expression is the fields of a cron expression: 5 from the minute on, in the
// classic dialect, or 6 or 7 from the second on, in that of Quartz.
type expression []string

// Numbers of fields.
const (
	classic     = 5
	withSeconds = 6
	withYear    = 7
)

// Places of fields if there are 6 or 7.
const (
	dayOfMonth = 3
	dayOfWeek  = 5
	year       = 6
)

func parseExpression(text string) expression { return strings.Fields(text) }

func (x expression) String() string { return strings.Join(x, " ") }

// mapField returns the expression with each item of the list in one field
// replaced.
func (x expression) mapField(field int, f func(item string) string) expression {
	i := field
	if len(x) == classic {
		i-- // there is no second
	}
	if i < 0 || i >= len(x) {
		return x
	}
	items := strings.Split(x[i], ",")
	for k := range items {
		items[k] = f(items[k])
	}
	y := slices.Clone(x)
	y[i] = strings.Join(items, ",")
	return y
}

var number = regexp.MustCompile(`[0-9]+`)

// mapDays maps the numbers that stand for days of the week, and leaves alone
// what follows / and #.
func (x expression) mapDays(f func(day int) int) expression {
	return x.mapField(dayOfWeek, func(item string) string {
		end := strings.IndexAny(item, "/#")
		if end < 0 {
			end = len(item)
		}
		return number.ReplaceAllStringFunc(item[:end], func(text string) string {
			day, err := strconv.Atoi(text)
			if err != nil {
				return text
			}
			return strconv.Itoa(f(day))
		}) + item[end:]
	})
}

// starred writes the * that Quartz lets out before a step.
func (x expression) starred() expression {
	for field := range x {
		x = x.mapField(field, func(item string) string {
			if strings.HasPrefix(item, "/") {
				return "*" + item
			}
			return item
		})
	}
	return x
}

// sundayZero translates from Quartz, where Sunday is 1 and L alone Saturday, to
// the libraries that count days of the week as classic cron does. Some of these
// have a second Sunday, 7, and years before 1970: steps say where they end or
// begin.
func (x expression) sundayZero() expression {
	if len(x) == classic {
		return x
	}
	x = x.starred().mapDays(func(day int) int {
		if day < 1 || day > 7 {
			return day // wrong, and to be refused as that
		}
		return day - 1
	})
	x = x.mapField(dayOfWeek, func(item string) string {
		start, step, stepped := strings.Cut(item, "/")
		switch {
		case item == "L":
			return "6"
		case stepped && !strings.ContainsAny(start, "*-"):
			return start + "-6/" + step
		}
		return item
	})
	return x.mapField(year, func(item string) string {
		if step, ok := strings.CutPrefix(item, "*/"); ok {
			return "1970-2099/" + step
		}
		return item
	})
}

// quartz translates from classic cron to Quartz. What has two day fields stays
// as it is: Quartz has no way to say it.
func (x expression) quartz() expression {
	if len(x) != classic {
		return x.starred()
	}
	x = append(expression{"0"}, x.mapDays(func(day int) int { return day%7 + 1 })...)
	switch {
	case x[dayOfWeek] == "*":
		x[dayOfWeek] = "?"
	case x[dayOfMonth] == "*":
		x[dayOfMonth] = "?"
	}
	return x
}
