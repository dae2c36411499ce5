package console

import (
	"context"
	"errors"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/pluginapi/calendar"
)

const (
	// monthRuns bounds the instances of a month that are looked at, the newest
	// ones; monthDue the due times to come.
	monthRuns = 2000
	monthDue  = 500
	// monthLayout is how a month stands in addresses.
	monthLayout = "2006-01"
)

// month is a calendar with what became of each day of a task, and what is to
// come.
type month struct {
	First      time.Time
	Prev, Next string // months as in addresses; Next is empty where nothing is to come
	Weeks      [][]day
	// Partial: there are more runs than are shown.
	Partial bool
}

// day is a field of a month; one that belongs to another month has no number.
type day struct {
	Number int
	Date   string
	Today  bool
	// Counts are outcomes in the order of outcomes, without zeros.
	Counts []statusCount
	// Running counts runs under way, Due what is to come.
	Running, Due int
}

type statusCount struct {
	Status ax.Status
	Count  int
}

// Worst is the outcome that colours the day: a failure rather than a success.
func (d day) Worst() ax.Status {
	var worst ax.Status
	for _, c := range d.Counts {
		if worst == "" || c.Status.Failure() || !worst.Failure() && c.Status == ax.StatusMissed {
			worst = c.Status
		}
	}
	return worst
}

// month shows the month that is asked for, or the present one.
func (s *console) month(ctx context.Context, p *page, d *taskData, asked string) (month, error) {
	now := p.Now.In(d.Zone)
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, d.Zone)
	if at, err := time.ParseInLocation(monthLayout, asked, d.Zone); err == nil && at.Year() > 1970 && at.Year() < 2200 {
		first = at
	}
	end := first.AddDate(0, 1, 0)
	m := month{First: first, Prev: first.AddDate(0, -1, 0).Format(monthLayout), Next: end.Format(monthLayout)}
	runs, err := s.backend.Instances(ctx, ax.InstanceFilter{Task: d.Task.Name, Since: first, Until: end, Limit: monthRuns})
	if err != nil {
		return m, err
	}
	m.Partial = len(runs) == monthRuns
	due, err := s.dueWithin(ctx, p, d, end)
	if err != nil {
		return m, err
	}
	days := make([]day, calendar.DaysIn(first.Year(), first.Month()))
	for i := range days {
		date := first.AddDate(0, 0, i)
		days[i] = day{Number: i + 1, Date: date.Format(time.DateOnly), Today: date.Format(time.DateOnly) == now.Format(time.DateOnly)}
	}
	fill(days, d.Zone, runs)
	for _, at := range due {
		if local := at.In(d.Zone); !local.Before(first) {
			days[local.Day()-1].Due++
		}
	}
	m.Weeks = weeks(days, first.Weekday())
	return m, nil
}

// fill counts runs by their days.
func fill(days []day, zone *time.Location, runs []ax.Instance) {
	counts := make([]map[ax.Status]int, len(days))
	for i := range runs {
		at := runs[i].ScheduledAt.In(zone).Day() - 1
		if !runs[i].Status.Final() {
			days[at].Running++
			continue
		}
		if counts[at] == nil {
			counts[at] = map[ax.Status]int{}
		}
		counts[at][runs[i].Status]++
	}
	for i := range days {
		for _, status := range outcomes() {
			if n := counts[i][status]; n > 0 {
				days[i].Counts = append(days[i].Counts, statusCount{status, n})
			}
		}
	}
}

// dueWithin returns the due times from now to the end of a month; none if the
// task is not scheduled or its schedule cannot be asked.
func (s *console) dueWithin(ctx context.Context, p *page, d *taskData, end time.Time) ([]time.Time, error) {
	if d.NextErr != "" || d.Task.State != api.TaskOn || end.Before(p.Now) {
		return nil, nil
	}
	next, err := s.backend.Next(ctx, d.Task.Name, api.NextQuery{After: p.Now, N: monthDue})
	if _, away := errors.AsType[*api.Unavailable](err); away {
		return nil, nil
	}
	var due []time.Time
	for _, at := range next.Times {
		if at.Before(end) {
			due = append(due, at)
		}
	}
	return due, err
}

// weeks cuts days into weeks that begin with Monday.
func weeks(days []day, first time.Weekday) [][]day {
	fields := make([]day, (int(first)+6)%7, 42)
	fields = append(fields, days...)
	for len(fields)%7 != 0 {
		fields = append(fields, day{})
	}
	var all [][]day
	for i := 0; i < len(fields); i += 7 {
		all = append(all, fields[i:i+7])
	}
	return all
}
