package calendar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// yearFile is the per-year form of holiday lists in JSON. Fields it does not
// name, such as links to the notices, are ignored.
type yearFile struct {
	Year int       `json:"year"`
	Days []jsonDay `json:"days"`
}

type jsonDay struct {
	Name     string `json:"name"`
	Date     string `json:"date"`
	IsOffDay *bool  `json:"isOffDay"`
}

// ParseJSON reads a list of holidays and make-up workdays in either of two
// forms, at most 1 MiB and 20,000 days:
//
//	{"year": 2026, "days": [{"name": "元旦", "date": "2026-01-01", "isOffDay": true}]}
//	[{"name": "元旦", "date": "2026-01-01", "isOffDay": true}]
//
// In the first form all days cover the stated year, also those of the year
// before or after. Otherwise they cover years as in [ParseCSV]. A list without
// days covers nothing: publishers put up empty files for years to come.
func ParseJSON(r io.Reader, source string) (closed, open []Rule, err error) {
	list, err := parseJSON(r, source)
	if err != nil {
		return nil, nil, fmt.Errorf("reading holidays from %s: %w", source, err)
	}
	return list.closed, list.open, nil
}

func parseJSON(r io.Reader, source string) (*dayList, error) {
	data, err := readLimited(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, utf8Mark)
	var file yearFile
	var target any = &file
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("[")) {
		target = &file.Days
	}
	if err := json.Unmarshal(data, target); err != nil {
		return nil, locate(data, err)
	}
	if file.Days == nil {
		return nil, errors.New(`expected {"year": …, "days": […]} or a list of days`)
	}
	list := newDayList(source)
	for i, entry := range file.Days {
		day, err := entry.parse(file.Year)
		if err == nil {
			err = list.add(day)
		}
		if err != nil {
			return nil, fmt.Errorf("day %d of the list: %w", i+1, err)
		}
	}
	return list, nil
}

func (d jsonDay) parse(year int) (listedDay, error) {
	date, err := ParseDate(d.Date)
	if err != nil {
		return listedDay{}, err
	}
	if d.IsOffDay == nil {
		return listedDay{}, fmt.Errorf("%s: isOffDay is missing", date)
	}
	if year != 0 && (date.Year < year-1 || date.Year > year+1) {
		return listedDay{}, fmt.Errorf("%s is far from the year %d of the list", date, year)
	}
	return listedDay{date: date, name: d.Name, work: !*d.IsOffDay, year: year}, nil
}

// locate adds the line to an error of the JSON decoder that knows its place.
func locate(data []byte, err error) error {
	var offset int64
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = mismatch.Offset
	} else {
		return err
	}
	line := 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}
