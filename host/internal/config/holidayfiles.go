package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/axsched/ax/host/internal/holidays"
	"github.com/axsched/ax/pluginapi/calendar"
)

// maxHolidayBytes is what packages calendar and holidays read of a file.
const maxHolidayBytes = 1 << 20

// HolidayFile is a file of holidays that a calendar reads.
type HolidayFile struct {
	Name string // as the configuration has it
	Path string
}

// CalendarFiles returns the files that a calendar reads, those of the calendars
// that it extends included.
func (c *Config) CalendarFiles(calendar string) []HolidayFile { return c.calendarFiles[calendar] }

// holidayFile is a file of holidays, with what is said about how to read it.
type holidayFile struct {
	node  *yaml.Node // its name
	ics   holidays.ICS
	given stated
}

// holidayFiles is a list of files: their names, or their names with more.
func holidayFiles(each func(holidayFile)) rule {
	var f holidayFile
	var prefix string
	file := noting(path(new(string)), &f.node)
	fields := []field{
		{"file", file},
		{"work_prefix", orOne(listOf(prefixRule(&prefix), func() { f.ics.WorkPrefixes = []string{} },
			func() { f.ics.WorkPrefixes = append(f.ics.WorkPrefixes, prefix) }))},
		{"timed", choice(&f.ics.Timed, holidays.TimedIgnore, holidays.TimedClose)},
	}
	elem := rule{kind: kindObject, fields: fields, needs: []string{"file"}}
	elem.take = func(d *decoder, _ string, n *yaml.Node) {
		f = holidayFile{}
		f.given = d.object("a file of holidays", n, fields, "file")
	}
	elem.short = &rule{kind: kindString, take: func(d *decoder, key string, n *yaml.Node) {
		f = holidayFile{}
		d.take(&file, key, n)
	}}
	list := listOf(elem, func() {}, func() { each(f) })
	list.short = &rule{kind: kindString, take: func(d *decoder, key string, n *yaml.Node) {
		list.take(d, key, &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}})
	}}
	return list
}

// prefixRule is the beginning of a summary.
func prefixRule(to *string) rule {
	r := text(to)
	take := r.take
	r.take = func(d *decoder, key string, n *yaml.Node) {
		take(d, key, n)
		if n.Value == "" {
			d.fault(n, "%s: expected the beginning of a summary, got nothing; for no workdays write []", key)
		}
	}
	return r
}

// readHolidays reads a file of holidays and make-up workdays.
func (d *decoder) readHolidays(spec *calendar.Spec, f holidayFile) {
	path := beside(d.path, f.node.Value)
	extension := strings.ToLower(filepath.Ext(path))
	if !slices.Contains([]string{".csv", ".json", ".ics"}, extension) {
		d.fault(f.node, "files: expected a .csv, .json or .ics file, got %s", d.show(f.node))
		return
	}
	for _, key := range []string{"work_prefix", "timed"} {
		if n := f.given[key]; n != nil && extension != ".ics" {
			d.fault(n, "%s: it is for .ics files only", key)
		}
	}
	d.config.calendarFiles[spec.Name] = append(d.config.calendarFiles[spec.Name], HolidayFile{Name: f.node.Value, Path: path})
	data, replaced := d.options.Replace[path]
	var err error
	if !replaced {
		data, err = d.readFile(path, maxHolidayBytes)
	}
	if err != nil {
		d.fault(f.node, "files: %v", err)
		return
	}
	// The name as written is the source of the rules: it must not depend on
	// where the host was started.
	f.ics.Source = f.node.Value
	list, err := f.parse(extension, data)
	if err != nil {
		d.faultAt(placeIn(path, err), "%v", err)
		return
	}
	for _, notice := range list.Notices {
		d.notice(spec.Name, Position{File: path, Line: notice.Line, Column: 1}, notice.Text)
	}
	spec.Closed = append(spec.Closed, list.Closed...)
	spec.Open = append(spec.Open, list.Open...)
}

// noticeKey is what a notice about a file of a calendar says, but for its numbers.
type noticeKey struct{ calendar, text string }

// noticed is where a notice is among the warnings, and in how many further files
// the same was found.
type noticed struct {
	index, more int
	text        string
}

var numbers = regexp.MustCompile(`\d+`)

// notice warns of something in a file of holidays: once for all files of a calendar,
// which mostly are one for each year.
func (d *decoder) notice(calendar string, pos Position, text string) {
	key := noticeKey{calendar, numbers.ReplaceAllString(text, "")}
	before := d.noticed[key]
	if before == nil {
		d.noticed[key] = &noticed{index: len(d.warnings), text: text}
		d.warn(pos, "%s", text)
		return
	}
	before.more++
	d.warnings[before.index].Message = fmt.Sprintf("%s (the same in other files of the calendar: %d)", before.text, before.more)
}

func (f *holidayFile) parse(extension string, data []byte) (list holidays.List, err error) {
	switch extension {
	case ".csv":
		list.Closed, list.Open, err = calendar.ParseCSV(bytes.NewReader(data), f.ics.Source)
	case ".json":
		list.Closed, list.Open, err = calendar.ParseJSON(bytes.NewReader(data), f.ics.Source)
	default:
		list, err = f.ics.Parse(data)
	}
	return list, err
}

var lineInError = regexp.MustCompile(`\bline (\d+)\b`)

// placeIn returns the place that an error about a file names.
func placeIn(path string, err error) Position {
	pos := Position{File: path, Line: 1, Column: 1}
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil {
		pos.Line, _ = strconv.Atoi(m[1])
	}
	return pos
}
