// Package cron reads cron expressions and computes when they fire: Next and
// Prev in any time zone, exactly, without allocation, in tens of nanoseconds.
// It reads no clock and starts nothing.
//
// # Dialects
//
// The number of fields decides how an expression is read.
//
//	5 fields:  minute hour day-of-month month day-of-week         classic cron
//	6 fields:  second minute hour day-of-month month day-of-week  Quartz
//	7 fields:  the same and year                                  Quartz
//
//	field         values       names    also
//	second        0-59
//	minute        0-59
//	hour          0-23
//	day of month  1-31                  ? L L-3 LW L-3W 15W
//	month         1-12         JAN-DEC
//	day of week   5 fields: 0-7, 0 and 7 = SUN, 1 = MON, …, 6 = SAT
//	              6 or 7:   1-7, 1 = SUN, 2 = MON, …, 7 = SAT
//	                           SUN-SAT  ? 6L FRIL 6#3 MON#1
//	year          1970-2199
//
// Every field takes *, values, ranges (a-b), steps (*/n, a/n, a-b/n) and
// lists of these separated by commas without spaces. Names are of any case.
// Ranges wrap around the end of the field, except in years: FRI-MON, 22-2,
// NOV-FEB. A step counts from the start of its range, or of the field, and
// begins anew each time the field does: */40 minutes are minutes 0 and 40.
//
// L is the last day of the month, L-3 three days before it; 15W is the Monday
// to Friday nearest to the 15th within its month, LW the last one of the
// month; 6L (FRIL) is the last such weekday of the month and 6#3 the third.
// In the Quartz dialect L alone as day of week is Saturday. Months without
// the day, as for 31, 31W, L-30 or MON#5, are left out.
//
// With 6 or 7 fields exactly one of the day fields must be ?, "not set". With
// 5 fields ? is the same as *, and Vixie's rule holds: if both day fields are
// restricted a day needs to match only one of them; if either starts with *
// it must match both.
//
// H stands for a value that [Options].Hash picks, so that many schedules
// written alike spread over the time: "H H(0-5) * * *" is once a night, H/15
// every 15 minutes from a picked one on. In the day of month it picks from 1
// to 28.
//
// @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly stand
// for their usual five fields. CRON_TZ=Asia/Shanghai in front (or TZ=) names
// the zone.
//
// A schedule that names no years fires from 1601 to 2126, one that does from
// 1970 to 2199. Beyond that, and where no date matches, Next is the zero time.
//
// # Changes of the clock
//
// A schedule fires when the local clock first reaches a matching time. So a
// time that the clock skips fires once, at the first instant after the gap,
// together with all others in the gap; and a time that the clock shows twice
// fires once, at its first showing. "0 30 2 * * ?" in New York fires at 03:00
// on the day in March that has no 02:30.
//
// Schedules whose second, minute or hour field starts with * follow elapsed
// time instead: they fire whenever the clock shows a matching time, so again
// in a repeated hour and not for a skipped one. "0 */30 * * * ?" fires every
// 30 minutes all year, whatever the clock does.
//
// Both hold for jumps of any length at any time of day, as in Lord Howe
// Island (30 minutes), Havana (at midnight) or Samoa (the whole of 30
// December 2011). Zones and their jumps are those of the time package.
package cron
