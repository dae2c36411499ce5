package api

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

func TestMood(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	enabled := func(st ax.TaskState) ax.TaskRow { return ax.TaskRow{Task: ax.Task{Enabled: true}, TaskState: st} }
	for want, rows := range map[TaskMood][]ax.TaskRow{
		TaskOff: {{TaskState: ax.TaskState{NextAt: now}}},
		TaskOn: {
			enabled(ax.TaskState{NextAt: now}),
			enabled(ax.TaskState{}), // due times have not been fetched yet
			enabled(ax.TaskState{NextAt: now, PlanDone: true}),
			enabled(ax.TaskState{NextAt: now, Paused: true, PausedUntil: now}),
		},
		TaskPaused: {enabled(ax.TaskState{Paused: true}), enabled(ax.TaskState{Paused: true, PausedUntil: now.Add(1)})},
		TaskParked: {enabled(ax.TaskState{Parked: "no plugin"})},
		TaskDone:   {enabled(ax.TaskState{PlanDone: true})},
	} {
		for i, row := range rows {
			if got := MoodOf(row, now); got != want {
				t.Errorf("row %d of %s is %s", i, want, got)
			}
		}
	}
}

func TestScheduleText(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]ax.Schedule{
		"every 1h": {Every: time.Hour}, "every 20h30m": {Every: 20*time.Hour + 30*time.Minute}, "every 10m": {Every: 10 * time.Minute},
		"every 1m30s": {Every: 90 * time.Second}, "every 500ms": {Every: 500 * time.Millisecond}, "every 1h0m1s": {Every: time.Hour + time.Second},
		"5m after each run": {Delay: 5 * time.Minute}, "0 2 * * *": {Cron: "0 2 * * *"}, "random": {Trigger: &ax.Use{Name: "random"}},
		"at 2026-03-01T10:00:00Z": {At: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
	} {
		if got := newScheduleView(&s, "task").Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNextAt: what a pause or the configuration keeps from happening is not shown
// as the next due time.
func TestNextAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		enabled bool
		state   ax.TaskState
		want    time.Time
	}{
		"on":             {true, ax.TaskState{NextAt: now.Add(1)}, now.Add(1)},
		"off":            {false, ax.TaskState{NextAt: now.Add(1)}, time.Time{}},
		"paused":         {true, ax.TaskState{NextAt: now.Add(1), Paused: true}, time.Time{}},
		"within a pause": {true, ax.TaskState{NextAt: now.Add(1), Paused: true, PausedUntil: now.Add(2)}, time.Time{}},
		"at its end":     {true, ax.TaskState{NextAt: now.Add(2), Paused: true, PausedUntil: now.Add(2)}, time.Time{}},
		"after a pause":  {true, ax.TaskState{NextAt: now.Add(3), Paused: true, PausedUntil: now.Add(2)}, now.Add(3)},
		"pause is over":  {true, ax.TaskState{NextAt: now.Add(1), Paused: true, PausedUntil: now}, now.Add(1)},
	} {
		row := ax.TaskRow{Task: ax.Task{Enabled: c.enabled, Schedule: ax.Schedule{Every: time.Hour}}, TaskState: c.state}
		if got := NewTaskView(row, now).NextAt; !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
