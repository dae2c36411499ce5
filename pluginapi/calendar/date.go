package calendar

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// dateLayout is the only written form of a date.
const dateLayout = "2006-01-02"

const secondsPerDay = 24 * 60 * 60

// Date is a civil date of the Gregorian calendar, without zone. Two dates are
// equal exactly if == says so, as long as they were made by this package.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDate reads "2006-01-02", years 0001 to 9999. A day that its month does
// not have is an error.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(dateLayout, text)
	if err != nil || t.Year() < 1 {
		return Date{}, fmt.Errorf("expected a date such as 2026-12-31, got %q", text)
	}
	return DateOf(t), nil
}

// DateOf returns the date that t shows in its own location.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{Year: year, Month: month, Day: day}
}

// String returns the form that [ParseDate] reads.
func (d Date) String() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// AddDays returns the date n days later, or earlier if n is negative.
func (d Date) AddDays(n int) Date {
	return dateOfNumber(d.number() + n)
}

// DaysUntil returns how many days later other is; negative if it is earlier.
func (d Date) DaysUntil(other Date) int {
	return other.number() - d.number()
}

// Compare returns -1, 0 or +1 as d is before, equal to or after other.
func (d Date) Compare(other Date) int {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day))
}

// Before reports whether d is earlier than other.
func (d Date) Before(other Date) bool { return d.Compare(other) < 0 }

// After reports whether d is later than other.
func (d Date) After(other Date) bool { return d.Compare(other) > 0 }

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday {
	return weekdayOf(d.number())
}

// DaysIn returns the number of days of a month.
func DaysIn(year int, month time.Month) int {
	return Date{Year: year, Month: month + 1, Day: 0}.midnightUTC().Day()
}

func (d Date) midnightUTC() time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

// number counts days from 1970-01-01, which is 0.
func (d Date) number() int {
	return int(d.midnightUTC().Unix() / secondsPerDay)
}

// weekdayOf returns the day of the week of a day number; day 0 is a Thursday.
func weekdayOf(number int) time.Weekday {
	return time.Weekday(((number+int(time.Thursday))%7 + 7) % 7)
}

func dateOfNumber(n int) Date {
	return DateOf(time.Unix(int64(n)*secondsPerDay, 0).UTC())
}

// ParseWeekday reads an English weekday in any case, whole or as its first
// three letters: "MON", "monday".
func ParseWeekday(text string) (time.Weekday, error) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if name := day.String(); strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) {
			return day, nil
		}
	}
	return 0, fmt.Errorf("expected a weekday such as MON or Monday, got %q", text)
}
