package calendar

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// utf8Mark is what spreadsheets put before UTF-8 text.
var utf8Mark = []byte("\ufeff")

// ParseCSV reads a list of holidays and make-up workdays. The first row names
// the columns, in any order: date (2006-01-02), kind (off or work) and, if
// wanted, name; others are ignored. Lines beginning with # are comments. The
// text must be UTF-8, at most 1 MiB and 20,000 rows.
//
// Source becomes [Rule.Source], and each rule covers the year of its date,
// except on 29-31 December: these may be all that a list for the next year
// says about this one. Errors carry the line.
func ParseCSV(r io.Reader, source string) (closed, open []Rule, err error) {
	list, err := parseCSV(r, source)
	if err != nil {
		return nil, nil, fmt.Errorf("reading holidays from %s: %w", source, err)
	}
	return list.closed, list.open, nil
}

func parseCSV(r io.Reader, source string) (*dayList, error) {
	data, err := readLimited(r)
	if err != nil {
		return nil, err
	}
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, utf8Mark)))
	rows.Comment = '#'
	rows.TrimLeadingSpace = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: expected a row of column names: %w", err)
	}
	columns, err := findColumns(header)
	if err != nil {
		line, _ := rows.FieldPos(0)
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	list := newDayList(source)
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err // a csv.ParseError, which names the line
		}
		day, err := columns.parse(row)
		if err == nil {
			err = list.add(day)
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// csvColumns holds the positions of the columns; name is -1 if absent.
type csvColumns struct{ date, name, kind int }

func findColumns(header []string) (csvColumns, error) {
	find := func(name string) int {
		return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) })
	}
	columns := csvColumns{date: find("date"), name: find("name"), kind: find("kind")}
	if columns.date < 0 || columns.kind < 0 {
		return csvColumns{}, fmt.Errorf("expected the column names date, name, kind, got %q", strings.Join(header, ","))
	}
	return columns, nil
}

func (c csvColumns) parse(row []string) (listedDay, error) {
	var day listedDay
	var err error
	if day.date, err = ParseDate(strings.TrimSpace(row[c.date])); err != nil {
		return listedDay{}, err
	}
	switch kind := strings.TrimSpace(row[c.kind]); kind {
	case "off":
	case "work":
		day.work = true
	default:
		return listedDay{}, fmt.Errorf("expected the kind off or work, got %q", kind)
	}
	if c.name >= 0 {
		day.name = strings.TrimSpace(row[c.name])
	}
	if !utf8.ValidString(day.name) {
		return listedDay{}, fmt.Errorf("the name %q is not UTF-8: save the file as UTF-8", day.name)
	}
	return day, nil
}
