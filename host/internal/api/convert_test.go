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
			if got := moodOf(row, now); got != want {
				t.Errorf("row %d of %s is %s", i, want, got)
			}
		}
	}
}
