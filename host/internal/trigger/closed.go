package trigger

import (
	"time"

	"github.com/axsched/ax/pluginapi/calendar"
)

// closedDays keeps due times to the open days of a calendar.
type closedDays struct {
	days   *calendar.Calendar
	zone   *time.Location
	policy calendar.OnClosed
	// wall is the source as it would be if the zone's clock never changed; nil
	// if it follows elapsed time.
	wall calendar.Source
}

func (c *closedDays) moves() bool { return c.policy != calendar.Skip }

func (c *closedDays) around(src source) source {
	return filtered{c.filter(src)}
}

func (c *closedDays) filter(src source) *calendar.Filter {
	return &calendar.Filter{Calendar: c.days, OnClosed: c.policy, Zone: c.zone, Times: src.next, Wall: c.wall}
}

// filtered is a calendar's filter as a source.
type filtered struct{ filter *calendar.Filter }

func (f filtered) next(after time.Time) (time.Time, error) { return f.filter.Next(after) }
