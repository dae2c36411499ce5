// Package holidays knows lists of holidays that package calendar does not read
// itself: iCalendar files, China's public holidays with their make-up workdays,
// and those of some other countries. It turns them into rules and calendars of
// that package, which then decide; and it tells when the lists of a calendar
// are about to end.
//
// # Dates only
//
// A holiday is a date, so nothing here does arithmetic with zones: the date of
// an event is taken as it is written.
//
// # Years covered
//
// Days that are listed one by one cover their year, as in calendar.ParseCSV. A
// yearly rule without an end (every 25 December) is no list of a year and
// covers none: a file of nothing else knows all years, one with both those of
// its single days.
package holidays

import "github.com/axsched/ax/pluginapi/calendar"

// List is what a file says about days.
type List struct {
	Closed, Open []calendar.Rule
	// Notices are what may not be meant like that, in the order of the lines.
	Notices []Notice
}

// Notice tells of something in a file that a person should look at.
type Notice struct {
	Line int
	Text string
}
