package apitest

import (
	"time"

	"github.com/axsched/ax/host/internal/why"
)

// sampleWhy answers for a task that is parked and was missed, or that a calendar
// has left out at a time that was asked about a week before.
func sampleWhy(at time.Time) []why.Answer {
	noon := Noon().In(Shanghai) // the zone of the task
	if !at.IsZero() {
		at = at.In(Shanghai)
	}
	next := why.Answer{
		At: noon.Add(2 * time.Hour), Due: true, Code: why.Parked, Before: noon.AddDate(0, 0, -1),
		Summary: `It cannot run unless this changes before: the task is parked: no plugin offers the trigger "random".`,
		Chain:   []why.Link{{At: noon.Add(-time.Hour), Step: why.StepPark, Text: `parked: no plugin offers the trigger "random"`}},
	}
	newest := why.Answer{
		At: noon.AddDate(0, 0, -1), Due: true, Code: why.Missed, Instance: "101", After: next.At,
		Summary: "It did not run. No host ran then: node-1 was started at 2026-03-02 11:00:00 +08:00; the misfire policy is skip (late by more than 1m0s).",
		Chain: []why.Link{
			{At: noon.AddDate(0, 0, -1), Step: why.StepSchedule, Text: "cron 0 0 12 * * ? (Asia/Shanghai) makes the task due at this time"},
			{At: noon.Add(-time.Hour), Step: why.StepHost, Text: "node-1 was started (version 0.1.0)"},
			{At: noon.Add(-time.Hour), Step: why.StepMissed, Text: "3 due times missed: late by more than 1m0s", Instance: "101"},
		},
	}
	switch {
	case at.IsZero():
		return []why.Answer{next, newest}
	case at.Before(noon.AddDate(0, 0, -6)):
		return []why.Answer{{
			At: at, Code: why.Closed, Before: at.AddDate(0, 0, -1), After: at.AddDate(0, 0, 1),
			Summary: "The task was not due: 2026-02-17 is closed in cn: 春节, from cn.csv.",
			Chain:   []why.Link{{At: at, Step: why.StepSchedule, Text: "cron 0 0 12 * * ? (Asia/Shanghai) names this time, and leaves it out: 2026-02-17 is closed in cn: 春节, from cn.csv"}},
		}}
	}
	newest.At = at
	return []why.Answer{newest}
}
