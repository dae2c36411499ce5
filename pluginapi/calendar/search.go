package calendar

import "time"

// SearchYears bounds how far [Calendar.NextOpen] and [Calendar.PrevOpen]
// look. A calendar closed for longer counts as closed for ever.
const SearchYears = 10

// searchDays is SearchYears in days, with its leap days.
const searchDays = SearchYears*365 + 3

// NextOpen returns the first open date after d, or false if there is none
// within [SearchYears].
func (c *Calendar) NextOpen(d Date) (Date, bool) { return c.step(d, 1) }

// PrevOpen returns the last open date before d, or false if there is none
// within [SearchYears].
func (c *Calendar) PrevOpen(d Date) (Date, bool) { return c.step(d, -1) }

func (c *Calendar) step(d Date, by int) (Date, bool) {
	number := d.number()
	for range searchDays {
		number += by
		if d = dateOfNumber(number); c.decideDay(d, number).open {
			return d, true
		}
	}
	return Date{}, false
}

// NthOpenOfMonth returns the nth open date of a month, counted from its end
// if n is negative: -1 is the last one. It returns false for n = 0 and where
// the month has fewer open days.
func (c *Calendar) NthOpenOfMonth(year int, month time.Month, n int) (Date, bool) {
	length := DaysIn(year, month)
	first, step := Date{Year: year, Month: month, Day: 1}, 1
	if n < 0 {
		first.Day, step, n = length, -1, -n
	}
	for i := range length {
		day := Date{Year: year, Month: month, Day: first.Day + i*step}
		if !c.IsOpen(day) {
			continue
		}
		if n--; n == 0 {
			return day, true
		}
	}
	return Date{}, false
}
