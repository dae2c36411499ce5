package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
)

// NewTaskView shows a row of ax_task as of now. What is not in the row, the
// number of running instances, the newest instance and the first due time after
// a pause, is for the caller to fill in.
func NewTaskView(row ax.TaskRow, now time.Time) TaskView {
	v := TaskView{
		Name: row.Name, App: row.App, Group: row.Group, Description: row.Description, Labels: row.Labels,
		State: MoodOf(row, now), Schedule: newScheduleView(&row.Schedule, row.Name), Job: row.Job.Name,
		Attempts: row.Retry.MaxAttempts(), Concurrency: row.Concurrency, Overlap: row.Overlap,
		Misfire: row.Misfire.Policy, NotifyTo: row.Notify.To, Source: row.Source,
		NextAt: row.NextAt, PrevAt: row.PrevAt, Parked: row.Parked, Failures: row.Failures,
	}
	switch v.State {
	case TaskOff:
		v.NextAt = time.Time{}
	case TaskPaused:
		v.PausedUntil = row.PausedUntil
		if row.PausedUntil.IsZero() || !row.NextAt.After(row.PausedUntil) {
			v.NextAt = time.Time{}
		}
	case TaskOn, TaskParked, TaskDone:
	}
	if row.Timeout > 0 {
		v.Timeout = row.Timeout.String()
	}
	return v
}

// MoodOf sums up whether and why a task is scheduled.
func MoodOf(row ax.TaskRow, now time.Time) TaskMood {
	switch {
	case !row.Enabled:
		return TaskOff
	case row.Paused && (row.PausedUntil.IsZero() || now.Before(row.PausedUntil)):
		return TaskPaused
	case row.Parked != "":
		return TaskParked
	case row.NextAt.IsZero() && row.PlanDone: // else a plugin is still asked for due times
		return TaskDone
	default:
		return TaskOn
	}
}

func newScheduleView(s *ax.Schedule, task string) ScheduleView {
	v := ScheduleView{
		Cron: s.Cron, Anchor: s.Anchor, RepeatCount: s.RepeatCount, At: s.At,
		Timezone: s.Timezone, From: s.From, Until: s.Until, Calendar: s.Calendar, OnClosed: s.OnClosed,
		OnBlackout: s.OnBlackout, Words: preview.Describe(s, task),
	}
	for _, d := range []struct {
		from time.Duration
		to   *string
	}{{s.Every, &v.Every}, {s.Delay, &v.Delay}, {s.Jitter, &v.Jitter}} {
		if d.from > 0 {
			*d.to = d.from.String()
		}
	}
	for _, b := range s.Blackouts {
		v.Blackouts = append(v.Blackouts, b.String())
	}
	if s.Trigger != nil {
		v.Trigger = s.Trigger.Name
	}
	return v
}

// Text is the schedule in one line for people.
func (v ScheduleView) Text() string {
	switch {
	case v.Cron != "":
		return v.Cron
	case v.Every != "":
		return "every " + short(v.Every)
	case v.Delay != "":
		return short(v.Delay) + " after each run"
	case v.Trigger != "":
		return v.Trigger
	default:
		return "at " + v.At.Format(time.RFC3339)
	}
}

// short takes zeros off the end of a duration: 1h0m0s becomes 1h.
func short(duration string) string {
	if d, ok := strings.CutSuffix(duration, "m0s"); ok {
		duration = d + "m"
	}
	if d, ok := strings.CutSuffix(duration, "h0m"); ok {
		duration = d + "h"
	}
	return duration
}

func newInstanceView(i ax.Instance) InstanceView {
	return InstanceView{
		ID: i.ID.String(), Task: i.TaskName, App: i.App, Kind: i.Kind,
		Status: i.Status, Final: i.Status.Final(), Reason: i.Reason,
		ScheduledAt: i.ScheduledAt, CreatedAt: i.CreatedAt, StartedAt: i.StartedAt, EndedAt: i.EndedAt,
		RetryAt: i.RetryAt, DeadlineAt: i.DeadlineAt, Attempt: i.Attempt, Node: i.Node, Shard: i.Shard, Shards: i.Shards, Deferred: i.Deferred,
		Missed: i.Missed, MissedUntil: i.MissedUntil, TraceID: i.TraceID, Params: rawOrNil(i.Params),
		Message: i.Message, Error: i.Error, Data: rawOrNil(i.Data),
	}
}

// rawOrNil keeps stored JSON as it is: numbers would lose digits if decoded.
func rawOrNil(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return raw
}

func newEventView(e ax.Event) EventView {
	return EventView{
		ID: strconv.FormatInt(e.ID, 10), At: e.At, Attempt: e.Attempt,
		Stage: e.Stage, Level: e.Level, Node: e.Node, Text: e.Text,
	}
}

func convert[From, To any](list []From, to func(From) To) []To {
	out := make([]To, 0, len(list))
	for _, item := range list {
		out = append(out, to(item))
	}
	return out
}
