package calendar

import (
	"fmt"
	"time"
)

// weekly is the set of open weekdays of one layer.
type weekly struct {
	stated bool
	open   [7]bool // by time.Weekday; meaningful only if stated
}

func newWeekly(days []time.Weekday) (weekly, error) {
	w := weekly{stated: days != nil}
	for _, day := range days {
		if day < time.Sunday || day > time.Saturday {
			return weekly{}, fmt.Errorf("weekly pattern: there is no weekday %d", day)
		}
		w.open[day] = true
	}
	return w, nil
}

func (w weekly) isOpen(day time.Weekday) bool {
	return !w.stated || w.open[day]
}

// days returns the open weekdays from Sunday on: nil if no pattern is stated,
// empty but not nil if it opens none.
func (w weekly) days() []time.Weekday {
	if !w.stated {
		return nil
	}
	days := []time.Weekday{}
	for day, open := range w.open {
		if open {
			days = append(days, time.Weekday(day))
		}
	}
	return days
}

func (w weekly) explain(day time.Weekday) string {
	switch {
	case !w.stated:
		return "no weekly pattern: every day is open"
	case w.open[day]:
		return "weekly pattern: " + day.String() + " is open"
	default:
		return "weekly pattern: " + day.String() + " is closed"
	}
}
