package calendar

import (
	"fmt"
	"io"
	"time"
)

// Limits on holiday files. A real one has some dozens of rows.
const (
	maxFileBytes = 1 << 20
	maxFileRows  = 20_000
)

// lastProvingDay is the last day of December that shows that a list is about
// its own year. Later ones are often the head of the next New Year's holiday.
const lastProvingDay = 28

// listedDay is one entry of a holiday file.
type listedDay struct {
	date Date
	name string
	work bool // a make-up workday
	year int  // the year the file says it is about; 0 = it does not say
}

// dayList gathers the entries of one file.
type dayList struct {
	source       string
	closed, open []Rule
	works        map[Date]bool
}

func newDayList(source string) *dayList {
	return &dayList{source: source, works: map[Date]bool{}}
}

// add takes one more entry and refuses a date listed both as off and as work.
func (l *dayList) add(day listedDay) error {
	if len(l.closed)+len(l.open) >= maxFileRows {
		return fmt.Errorf("more than %d days", maxFileRows)
	}
	if works, listed := l.works[day.date]; listed && works != day.work {
		return fmt.Errorf("%s is listed both as a day off and as a workday", day.date)
	}
	l.works[day.date] = day.work
	rule := OnDate(day.date)
	rule.Name, rule.Source, rule.Covers = day.name, l.source, day.covers()
	if err := rule.validate(); err != nil {
		return err
	}
	if day.work {
		l.open = append(l.open, rule)
	} else {
		l.closed = append(l.closed, rule)
	}
	return nil
}

func (d listedDay) covers() int {
	switch {
	case d.year != 0:
		return d.year
	case d.date.Month == time.December && d.date.Day > lastProvingDay:
		return 0
	default:
		return d.date.Year
	}
}

// readLimited reads a whole file, or fails if it is larger than any real one.
func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFileBytes)
	}
	return data, nil
}
