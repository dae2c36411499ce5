package apitest

import (
	"encoding/json"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/preview"
	"github.com/axsched/ax/host/internal/trigger"
)

func sampleTasks() []api.TaskView {
	now := Noon()
	repeat := 10
	rows := []ax.TaskRow{
		{
			Task: ax.Task{
				App: "orders", Name: "billing/close-day", Group: "billing", Description: "Closes the books of the day",
				Labels: map[string]string{"team": "finance"}, Enabled: true,
				Schedule: ax.Schedule{
					Cron: "0 0 2 * * ?", Timezone: "Asia/Shanghai", Calendar: "cn", OnClosed: ax.ClosedNext,
					From: now.AddDate(-1, 0, 0), Until: now.AddDate(1, 0, 0), Jitter: 30 * time.Second,
					Blackouts:  []ax.Blackout{{From: 22 * time.Hour, To: 90 * time.Minute}, {To: 24 * time.Hour, Calendar: "year-end"}},
					OnBlackout: ax.BlackoutAfter,
				},
				Job: ax.Use{Name: "exec"}, Timeout: 90 * time.Second, Retry: ax.DefaultRetry(), Concurrency: 1,
				Overlap: ax.OverlapSkip, Misfire: ax.Misfire{Policy: ax.MisfireOnce}, Notify: ax.Notify{To: []string{"ops"}},
				Source: "conf.yaml:12",
			},
			TaskState: ax.TaskState{NextAt: now.Add(14 * time.Hour), PrevAt: now.Add(-10 * time.Hour), Failures: 2},
		},
		{
			Task: ax.Task{
				App: "orders", Name: "每日对账", Enabled: true,
				Schedule: ax.Schedule{Every: 10 * time.Second, RepeatCount: &repeat, Anchor: now, Timezone: "Asia/Shanghai"},
				Job:      ax.Use{Name: "http"}, Overlap: ax.OverlapQueue, Misfire: ax.Misfire{Policy: ax.MisfireSkip},
			},
			TaskState: ax.TaskState{NextAt: now.Add(7 * time.Second), Paused: true, PausedUntil: now.Add(2 * time.Hour)},
		},
		{
			Task: ax.Task{
				App: "orders", Name: "warm-up", Enabled: true,
				Schedule: ax.Schedule{Trigger: &ax.Use{Name: "random"}, Timezone: "UTC"},
				Job:      ax.Use{Name: "demo/echo"}, Overlap: ax.OverlapAllow, Misfire: ax.Misfire{Policy: ax.MisfireSkip},
			},
			TaskState: ax.TaskState{Parked: `no plugin offers the trigger "random"`},
		},
	}
	views := make([]api.TaskView, 0, len(rows))
	for _, row := range rows {
		views = append(views, api.NewTaskView(row, now))
	}
	views[0].Running, views[0].LastID, views[0].LastStatus, views[0].LastAt = 1, "104", ax.StatusRunning, now.Add(-10*time.Hour)
	return views
}

// SampleInstances returns instances of the sample's tasks, newest first.
func SampleInstances() []ax.Instance {
	now := Noon()
	return []ax.Instance{
		{
			ID: 104, TaskName: "billing/close-day", App: "orders", Kind: ax.KindScheduled, Status: ax.StatusRunning,
			ScheduledAt: now.Add(-time.Minute), CreatedAt: now.Add(-time.Minute), StartedAt: now.Add(-59 * time.Second),
			Attempt: 1, Node: "node-1", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Deferred: true, DeadlineAt: now.Add(time.Minute),
			Params: json.RawMessage(`{"date":"2026-03-01","rows":9007199254740993}`),
		},
		{
			ID: 103, TaskName: "每日对账", App: "orders", Kind: ax.KindManual, Status: ax.StatusSuccess,
			ScheduledAt: now.Add(-time.Hour), CreatedAt: now.Add(-time.Hour), StartedAt: now.Add(-time.Hour), EndedAt: now.Add(-time.Hour + 1500*time.Millisecond),
			Attempt: 1, Node: "node-1", Message: "1204 rows copied", Data: json.RawMessage(`{"rows":1204}`),
		},
		{
			ID: 102, TaskName: "billing/close-day", App: "orders", Kind: ax.KindScheduled, Status: ax.StatusRetrying,
			ScheduledAt: now.Add(-25 * time.Hour), CreatedAt: now.Add(-25 * time.Hour), StartedAt: now.Add(-25 * time.Hour), EndedAt: now.Add(-24 * time.Hour),
			RetryAt: now.Add(time.Minute), Attempt: 2, Node: "node-1", Error: "exit status 1",
		},
		{
			ID: 101, TaskName: "warm-up", App: "orders", Kind: ax.KindScheduled, Status: ax.StatusMissed,
			ScheduledAt: now.AddDate(0, 0, -3), CreatedAt: now, Missed: 3, MissedUntil: now.AddDate(0, 0, -1), Reason: "the host was down",
		},
	}
}

// SampleEvents returns the log of an instance.
func SampleEvents(id ax.InstanceID) []ax.Event {
	at := Noon().Add(-time.Hour)
	return []ax.Event{
		{ID: 1001, InstanceID: id, At: at, Stage: ax.StageTriggerReady, Level: "info", Node: "node-1", Text: "due"},
		{ID: 1002, InstanceID: id, At: at.Add(20 * time.Millisecond), Attempt: 1, Stage: ax.StageOutput, Level: "output", Text: "对账 started"},
		{ID: 1003, InstanceID: id, At: at.Add(1500 * time.Millisecond), Attempt: 1, Stage: ax.StageOutcome, Level: "info", Text: "SUCCESS: 1204 rows copied"},
	}
}

func samplePlugins() []api.PluginView {
	return []api.PluginView{
		{
			Name: "demo", Version: "1.4.0", Description: "Shows the way", Path: "plugins/ax-plugin-demo", State: "ready", PID: 4711,
			StartedAt: Noon(), Running: 2,
			Components: []api.ComponentView{{Kind: "job", Name: "echo", Description: "Says it again"}, {Kind: "trigger", Name: "never"}},
		},
		{Name: "random", Version: "0.1.0", Path: "plugins/ax-plugin-random", State: "quarantined", Reason: "exited 5 times in a minute", Restarts: 5},
	}
}

func sampleHealth() api.Health {
	return api.Health{
		Status: api.HealthDegraded, Reasons: []string{"plugin random is quarantined", "1 task is parked"}, Version: "0.1.0", App: "orders", Node: "node-1",
		Incarnation: "node-1/1", StartedAt: Noon(), UptimeSeconds: 3600, Database: "sqlite", DatabaseOK: true,
		Plugins: 2, PluginsReady: 1, Tasks: 3, TasksParked: 1, Running: 1, QueueDepth: 0,
	}
}

func sampleBacklog() api.Backlog {
	now := Noon()
	return api.Backlog{
		Workers: 2, Busy: 2, QueueLimit: 3, QueueDepth: 3, Held: 1, TasksTotal: 4, SlowSince: now.AddDate(0, 0, -1),
		Tasks: []api.BacklogTask{
			{
				Task: "warm-up", Overdue: true, OldestDue: now.Add(-3 * time.Hour),
				Why: []api.WaitReason{{Cause: api.WaitParked, Text: `no plugin offers the trigger "random"`, Until: now.Add(time.Minute)}},
			},
			{
				Task: "billing/close-day", Running: 1, Queued: 3, Waiting: 1, Retrying: 1,
				OldestDue: now.Add(-2 * time.Hour), RunningSince: now.Add(-10 * time.Hour),
				Why: []api.WaitReason{
					{Cause: api.WaitLimit, Text: "its limit of 4 at once is used up"},
					{Cause: api.WaitWorkers, Text: "all workers are busy (2)"},
					{Cause: api.WaitRetry, Text: "the pause before the next attempt", Until: now.Add(time.Minute)},
				},
			},
			{
				Task: "import", Overdue: true, OldestDue: now.Add(-time.Second),
				Why: []api.WaitReason{{Cause: api.WaitRoom, Text: "all workers are busy (2) and the queue is full (3)"}},
			},
			{Task: "每日对账", Running: 1, RunningSince: now.Add(-time.Minute)},
		},
		Slow: []api.SlowTask{
			{Task: "billing/close-day", Runs: 24, Failures: 2, Average: "14m2.75s", Longest: "1h20m0s"},
			{Task: "每日对账", Runs: 8640, Average: "35ms", Longest: "1.5s"},
		},
	}
}

// sampleNext returns a due time at noon of each day, the last of which is
// beyond what a calendar knows.
func sampleNext(q api.NextQuery) api.NextTimes {
	var next api.NextTimes
	for i := range q.N {
		next.Times = append(next.Times, Noon().AddDate(0, 0, i+1))
	}
	last := next.Times[q.N-1]
	next.Beyond = []preview.Beyond{{At: last, Calendars: []string{"cn"}}}
	if !q.Why {
		return next
	}
	next.Why = append(next.Why, preview.Step{
		At: Noon().Add(time.Minute), Last: Noon().Add(time.Hour), Times: 60, Verdict: trigger.VerdictClosed,
		Reason: "2026-03-02 is closed in cn: 春节, from cn.csv",
	})
	for _, due := range next.Times {
		next.Why = append(next.Why, preview.Step{At: due, Times: 1, Due: due, Verdict: trigger.VerdictDue})
	}
	next.Why[q.N].Reason = trigger.BeyondText("cn")
	return next
}
