// Package calendar holds civil dates and named sets of closed and open days:
// weekends, public holidays, make-up workdays, a company's own days on top of
// its country's.
//
// # How a day is decided
//
// A [Calendar] is a chain of layers: those of the calendars it extends, in
// the order they are listed, then its own. The chain is read from its end:
//
//  1. In the last layer with a rule for the day, that rule decides. Where the
//     layer has both, the open rule wins over the closed one, so a make-up
//     workday inside a closed week is open.
//  2. If no layer has a rule for it, the weekly pattern decides: that of the
//     last layer which states one. Without any pattern every day is open.
//
// # What a calendar does not know
//
// Holiday lists are published year by year. A rule read from such a list
// carries the year it speaks for ([Rule.Covers]), and [Day.Known] is false in
// a year for which a layer has lists, but none for that year. Such a day is
// still answered from the patterns and rules at hand; it is for the caller to
// warn. Where several layers have lists, a year is known only if each of them
// covers it.
//
// # Zones
//
// Dates have no zone. [Date.In] and [Date.At] turn a local time of day into
// an instant, and decide what happens where the clock is put forward or back.
//
// Nothing here reads the clock, the disk or the network. A Calendar never
// changes once built and may be used from many goroutines.
package calendar
