package params

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// foreign matches parts of date formats of other programs: letters as in Java
// and most spreadsheets, and the directives of strftime.
var foreign = regexp.MustCompile(`YYYY|yyyy|YY|yy|MM|DD|dd|HH|hh|mm|SS|ss|%[YymdHMSFT]`)

// layouts has the parts of a layout that mean the same as foreign ones.
var layouts = map[string]string{
	"YYYY": "2006", "yyyy": "2006", "YY": "06", "yy": "06", "MM": "01", "DD": "02", "dd": "02",
	"HH": "15", "hh": "15", "mm": "04", "SS": "05", "ss": "05",
	"%Y": "2006", "%y": "06", "%m": "01", "%d": "02", "%H": "15", "%M": "04", "%S": "05",
	"%F": "2006-01-02", "%T": "15:04:05",
}

// minutes matches MM that stands for minutes: after the hour.
var minutes = regexp.MustCompile(`((?:HH|hh)[^A-Za-z]?)MM`)

// layoutProblem says why a layout is probably none of Go's; doubt tells that it
// may be meant all the same.
func layoutProblem(layout string) (problem string, doubt bool) {
	// Two times that differ in all their parts, the weekday and zone included.
	first := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC).Format(layout)
	second := time.Date(2012, 11, 27, 18, 39, 48, 123456789, time.FixedZone("X", 3600)).Format(layout)
	constant := first == second
	isForeign := foreign.MatchString(layout)
	if !constant && !isForeign {
		return "", false
	}
	const expected = "date: %q names no part of a time: layouts are written with the time 2006-01-02 15:04:05"
	if !isForeign {
		return fmt.Sprintf(expected, layout), true
	}
	meant := foreign.ReplaceAllStringFunc(minutes.ReplaceAllString(layout, "${1}mm"), func(part string) string { return layouts[part] })
	if constant {
		return fmt.Sprintf(expected+", so write %q", layout, meant), false
	}
	odd := strings.Join(foreign.FindAllString(layout, -1), ", ")
	return fmt.Sprintf("date: %s in %q stays as it is: layouts are written with the time 2006-01-02 15:04:05, did you mean %q?", odd, layout, meant), true
}
