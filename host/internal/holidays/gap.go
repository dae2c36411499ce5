package holidays

import (
	"fmt"

	"github.com/axsched/ax/pluginapi/calendar"
)

// NoticeDays is how many days ahead it is told that lists of holidays end.
const NoticeDays = 60

// Gap is a year for which a calendar has no lists of holidays although it has
// some for others. What it says of that year is a guess by its weekly pattern.
type Gap struct {
	Calendar string
	Year     int
	// From is the first day of the gap, or today if that is later; Days is how
	// many days there are until then.
	From calendar.Date
	Days int
	// First and Last bound the years known; both are 0 if there is none.
	First, Last int
}

// NextGap returns the first gap of a calendar that a day from today to
// NoticeDays later falls into; false: there is none.
func NextGap(c *calendar.Calendar, today calendar.Date) (Gap, bool) {
	first, last, bounded := c.Coverage()
	if !bounded {
		return Gap{}, false
	}
	for year := today.Year; year <= today.AddDays(NoticeDays).Year; year++ {
		from := calendar.Date{Year: year, Month: 1, Day: 1}
		if from.Before(today) {
			from = today
		}
		if !c.Explain(from).Known {
			return Gap{Calendar: c.Name(), Year: year, From: from, Days: today.DaysUntil(from), First: first, Last: last}, true
		}
	}
	return Gap{}, false
}

// Open reports whether the gap has begun: due times of today are guesses.
func (g Gap) Open() bool { return g.Days == 0 }

// String says what is missing, what that means and what to do, for people.
func (g Gap) String() string {
	known := "for no year that all of its layers know"
	switch g.First {
	case 0:
	case g.Last:
		known = fmt.Sprintf("for %d only", g.First)
	default:
		known = fmt.Sprintf("for %d to %d only", g.First, g.Last)
	}
	when := fmt.Sprintf("from %s on (days until then: %d)", g.From, g.Days)
	if g.Open() {
		when = "now"
	}
	return fmt.Sprintf("calendar %q has lists of holidays %s: add the list for %d; without it the weekly pattern decides, %s",
		g.Calendar, known, g.Year, when)
}
