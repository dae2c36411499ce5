package main

import (
	"errors"
	"strings"
	"time"

	"github.com/adhocore/gronx"
	"github.com/axsched/ax/pluginapi/cron"
	"github.com/hashicorp/cronexpr"
	netresearch "github.com/netresearch/go-cron"
	"github.com/reugn/go-quartz/quartz"
	robfig "github.com/robfig/cron/v3"
)

// next returns the first time after the given one at which an expression
// fires, zero for never.
type next func(after time.Time) time.Time

// candidate is a library that takes part.
type candidate struct {
	name, version string
	// compile reads an expression, translated from the dialect of Quartz (6 or 7
	// fields) or of classic cron (5) to that of the library. An error says that
	// the library does not read it.
	compile func(x expression, zone *time.Location) (next, error)
}

// candidates are pluginapi/cron, first, and its peers.
func candidates() []candidate {
	return []candidate{
		{"ax", "this repository", compileAx},
		{"robfig/cron", "v3.0.1", compileRobfig},
		{"netresearch/go-cron", "v0.9.1", compileNetresearch},
		{"adhocore/gronx", "v1.20.4", compileGronx},
		{"reugn/go-quartz", "v0.15.2", compileQuartz},
		{"hashicorp/cronexpr", "v1.1.3", compileCronexpr},
	}
}

func compileAx(x expression, zone *time.Location) (next, error) {
	s, err := cron.Parse(x.String(), cron.Options{Location: zone})
	if err != nil {
		return nil, err
	}
	return s.Next, nil
}

var robfigParser = robfig.NewParser(robfig.SecondOptional | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)

var errNoYears = errors.New("there is no field for years")

func compileRobfig(x expression, zone *time.Location) (next, error) {
	x = x.sundayZero()
	if len(x) == withYear {
		if x[year] != "*" {
			return nil, errNoYears
		}
		x = x[:year]
	}
	s, err := robfigParser.Parse(x.String())
	if err != nil {
		return nil, err
	}
	return func(after time.Time) time.Time { return s.Next(after.In(zone)) }, nil
}

// netresearchParser reads all that the library can. The rule of classic cron
// for two day fields, and a search beyond five years, are options of it.
func netresearchParser(fields int) netresearch.Parser {
	o := netresearch.Minute | netresearch.Hour | netresearch.Dom | netresearch.Month | netresearch.Dow |
		netresearch.Extended | netresearch.DowOrDom
	switch fields {
	case withYear:
		o |= netresearch.Second | netresearch.Year
	case withSeconds:
		o |= netresearch.Second
	}
	return netresearch.MustNewParser(o).WithMaxSearchYears(200)
}

func compileNetresearch(x expression, zone *time.Location) (next, error) {
	x = x.sundayZero().mapField(dayOfWeek, func(item string) string {
		if day, ok := strings.CutSuffix(item, "L"); ok && day != "" {
			return day + "#L"
		}
		return item
	})
	s, err := netresearchParser(len(x)).Parse(x.String())
	if err != nil {
		return nil, err
	}
	return func(after time.Time) time.Time { return s.Next(after.In(zone)) }, nil
}

// compileGronx: the library has no compiled form and reads the text at each
// call.
func compileGronx(x expression, zone *time.Location) (next, error) {
	text := x.sundayZero().String()
	if !gronx.IsValid(text) {
		return nil, errors.New("the expression is not valid")
	}
	return func(after time.Time) time.Time {
		at, err := gronx.NextTickAfter(text, after.In(zone), false)
		if err != nil {
			return time.Time{}
		}
		return at
	}, nil
}

func compileQuartz(x expression, zone *time.Location) (next, error) {
	t, err := quartz.NewCronTriggerWithLoc(x.quartz().String(), zone)
	if err != nil {
		return nil, err
	}
	return func(after time.Time) time.Time {
		at, err := t.NextFireTime(after.UnixNano())
		if err != nil {
			return time.Time{}
		}
		return time.Unix(0, at).In(zone)
	}, nil
}

func compileCronexpr(x expression, zone *time.Location) (next, error) {
	x = x.sundayZero()
	if len(x) == withSeconds {
		x = append(x, "*") // 6 fields would be read as minute to year
	}
	e, err := cronexpr.Parse(x.String())
	if err != nil {
		return nil, err
	}
	return func(after time.Time) time.Time { return e.Next(after.In(zone)) }, nil
}
