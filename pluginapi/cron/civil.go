package cron

// Local clock readings are counted in seconds, and days in days, since
// 1600-03-01T00:00:00 of the clock in question. A year that starts in March
// has its leap day at the end, and 1600 begins a 400-year cycle of the
// Gregorian calendar, so that all arithmetic stays positive and short.
const (
	secondsPerDay = 24 * 60 * 60
	epochYear     = 1600
	unixEpochDay  = 135080 // 1970-01-01
	epochWeekday  = 3      // 1600-03-01 was a Wednesday; Sunday is 0
)

// The span of schedules. A year field names years up to lastYear; a schedule
// without one ends with lastOpenYear.
const (
	firstYear      = 1601
	firstNamedYear = 1970
	lastOpenYear   = 2126
	lastYear       = 2199

	firstDay    = 306    // 1601-01-01
	lastOpenDay = 192422 // 2126-12-31
	lastDay     = 219085 // 2199-12-31
)

// daysBefore[m] is the number of days from 1 March to the first of month m.
var daysBefore = [13]int{0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275}

// dayNumber returns the day of a date from March 1600 on.
func dayNumber(year, month, day int) int {
	y := year - epochYear
	if month <= 2 {
		y--
	}
	return 365*y + y/4 - y/100 + y/400 + daysBefore[month] + day - 1
}

// date is the inverse of dayNumber. Method: C. Neri and L. Schneider,
// "Euclidean affine functions and their application to calendar algorithms"
// (2022), where divisions by constants become multiplications.
func date(dayNumber int) (year, month, day int) {
	n := 4*uint32(dayNumber) + 3
	century := n / 146097
	n = n%146097 | 3
	p := uint64(2939745) * uint64(n)
	yearOfCentury := uint32(p >> 32)
	dayOfYear := uint32(p) / 2939745 / 4
	m := 2141*dayOfYear + 197913
	year = epochYear + int(100*century+yearOfCentury)
	month, day = int(m>>16), int(m&0xffff)/2141+1
	if dayOfYear >= 306 {
		year++
		month -= 12
	}
	return year, month, day
}

// weekday returns 0 for Sunday to 6 for Saturday.
func weekday(dayNumber int) int {
	return int(uint32(dayNumber+epochWeekday) % 7)
}

// monthLength returns 28 to 31.
func monthLength(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}
