package why_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/host/internal/why"
)

// due is the due time that most of the tests ask about, and now is a day later.
var (
	due = time.Date(2026, 3, 2, 2, 0, 0, 0, time.UTC)
	now = due.Add(24 * time.Hour)
)

func at(minutes float64) time.Time { return due.Add(time.Duration(minutes * float64(time.Minute))) }

// facts are those of a task that is due at the instant by its schedule, made a
// month before, of which nothing else is known; changed by the given functions.
func facts(change ...func(*why.Facts)) why.Facts {
	f := why.Facts{
		Now: now, At: due, Zone: time.UTC,
		Task: ax.TaskRow{
			Task: ax.Task{
				Name: "nightly", Enabled: true, Concurrency: 1,
				Schedule: ax.Schedule{Cron: "0 0 2 * * ?", Timezone: "UTC", Version: "v2"},
				Misfire:  ax.Misfire{Policy: ax.MisfireSkip, Threshold: time.Minute},
			},
			TaskState: ax.TaskState{NextAt: now.Add(24 * time.Hour)},
			CreatedAt: due.AddDate(0, -1, 0), CreatedBy: "config",
		},
		Steps:  []trigger.Step{{At: due, Due: due, Verdict: trigger.VerdictDue}},
		Before: due.AddDate(0, 0, -1), After: due.AddDate(0, 0, 1),
		Events: map[ax.InstanceID][]ax.Event{},
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

// row adds an instance that was recorded on time, changed by a function, with
// events in the words "minutes stage text".
func row(status ax.Status, change func(*ax.Instance), events ...string) func(*why.Facts) {
	return func(f *why.Facts) {
		r := ax.Instance{
			ID: ax.InstanceID(100 + len(f.Rows)), ScheduledAt: due, Kind: ax.KindScheduled, Status: status,
			Attempt: 1, Node: "n1", CreatedAt: due, StartedAt: due,
		}
		if status.Final() {
			r.EndedAt = at(1.5)
		}
		if change != nil {
			change(&r)
		}
		f.Rows = append(f.Rows, r)
		for _, text := range events {
			var e ax.Event
			var minutes float64
			if _, err := fmt.Sscan(text, &minutes, &e.Stage); err != nil {
				panic(err)
			}
			e.At, e.Text = at(minutes), strings.SplitN(text, " ", 3)[2]
			f.Events[r.ID] = append(f.Events[r.ID], e)
		}
	}
}

// shard makes an instance one of a task that is broadcast.
func shard(n int, node string) func(*ax.Instance) {
	return func(r *ax.Instance) { r.Shard, r.Shards, r.Node = n, 3, node }
}

// audit adds the newest row of the trail.
func audit(minutes float64, action, detail string) func(*why.Facts) {
	return func(f *why.Facts) {
		row := ax.AuditRow{At: at(minutes), Actor: "lin", Action: action, Object: "nightly", Detail: json.RawMessage(detail)}
		f.Audit = append([]ax.AuditRow{row}, f.Audit...)
	}
}

// noStep is a schedule that does not make the task due, for a reason.
func noStep(steps ...trigger.Step) func(*why.Facts) {
	return func(f *why.Facts) { f.Steps = steps }
}

// former is another definition at the instant.
func former(computed, wasDue bool, change func(*ax.Task)) func(*why.Facts) {
	return func(f *why.Facts) {
		task := f.Task.Task
		task.Schedule.Version = "v1"
		change(&task)
		f.Former = &why.Former{Task: task, ChangedAt: at(60), ChangedBy: "eve", Due: wasDue, Computed: computed}
	}
}

func pending(f *why.Facts) { f.Now, f.Task.NextAt = at(1), due }

type test struct {
	name  string
	facts why.Facts
	code  why.Code
	// summary and chain are parts of the text, the chain as "step: text" a line.
	summary []string
	chain   string
}

func check(t *testing.T, tests []test) {
	t.Helper()
	for _, tc := range tests {
		a := why.Explain(tc.facts)
		if a.Code != tc.code {
			t.Errorf("%s: code %s, want %s", tc.name, a.Code, tc.code)
		}
		for _, want := range tc.summary {
			if !strings.Contains(a.Summary, want) {
				t.Errorf("%s: no %q in the summary: %s", tc.name, want, a.Summary)
			}
		}
		if !strings.HasSuffix(a.Summary, ".") {
			t.Errorf("%s: no sentence: %s", tc.name, a.Summary)
		}
		var lines []string
		last := time.Time{}
		for _, l := range a.Chain {
			if l.At.Before(last) {
				t.Errorf("%s: %s is told after what came later", tc.name, l.Text)
			}
			last = l.At
			lines = append(lines, l.At.Format("02 15:04:05 ")+string(l.Step)+": "+l.Text)
		}
		if got := strings.Join(lines, "\n"); got != tc.chain {
			t.Errorf("%s: chain\n%s\nwant\n%s", tc.name, got, tc.chain)
		}
	}
}

const isDue = "02 02:00:00 schedule: cron 0 0 2 * * ? (UTC) makes the task due at this time"

func TestInstances(t *testing.T) {
	t.Parallel()
	check(t, []test{
		{
			"succeeded", facts(row(ax.StatusSuccess, nil,
				"0 trigger_ready due 02:00, noticed 1ms later", "0 claimed attempt 1 claimed by n1", "0.5 output working", "1.5 outcome SUCCESS after 1m30s")),
			why.Succeeded, []string{"It ran on n1 from 2026-03-02 02:00:00 +00:00 for 1m30s and succeeded."},
			isDue + "\n02 02:00:00 noticed: due 02:00, noticed 1ms later\n02 02:00:00 claimed: attempt 1 claimed by n1\n02 02:01:30 outcome: SUCCESS after 1m30s",
		},
		{
			"failed after retries, told to somebody", facts(
				row(ax.StatusFailed, func(r *ax.Instance) { r.Attempt, r.Error = 3, "exit status 1\nno space" }, "1 retry_scheduled attempt 2 of 3 follows in 1m0s", "1.5 outcome FAILED"),
				func(f *why.Facts) {
					f.Alerts = []ax.AlertRow{
						{Notifier: "ops", Event: "failed", State: ax.AlertSent, Count: 1, FirstAt: at(1.5), LastAt: at(1.5), WindowEnd: at(1.6)},
						{Notifier: "ops", Event: "failed", State: ax.AlertSent, Count: 1, FirstAt: at(-90), LastAt: at(-90), WindowEnd: at(-90)},
						{Notifier: "mail", Event: "failed", State: ax.AlertFailed, Count: 7, FirstAt: at(-1), LastAt: at(2), NextTryAt: at(5), LastError: "no route"},
					}
				}),
			why.Failed, []string{"ended FAILED after 3 attempts: exit status 1 no space."},
			isDue + "\n02 02:01:00 retry: attempt 2 of 3 follows in 1m0s\n02 02:01:30 outcome: FAILED\n02 02:01:36 alert: message (failed) to ops: sent" +
				"\n02 02:02:00 alert: message of 7 events (failed) to mail failed, tried again at 2026-03-02 02:05:00 +00:00: no route",
		},
		{
			"runs", facts(row(ax.StatusRunning, func(r *ax.Instance) { r.StartedAt = due.Add(300 * time.Microsecond) })),
			why.Running, []string{"It runs on n1 since 2026-03-02 02:00:00 +00:00."}, isDue,
		},
		{
			"runs again", facts(row(ax.StatusRunning, func(r *ax.Instance) { r.StartedAt, r.Attempt = due.Add(61500*time.Millisecond), 2 })),
			why.Running, []string{"It runs on n1 since 2026-03-02 02:01:01.500 +00:00, in attempt 2."}, isDue,
		},
		{
			"waits for a callback", facts(row(ax.StatusRunning, func(r *ax.Instance) { r.Deferred, r.DeadlineAt = true, at(60) })),
			why.Running, []string{"callback", "03:00:00"}, isDue,
		},
		{
			"retrying", facts(row(ax.StatusRetrying, func(r *ax.Instance) { r.RetryAt, r.Error = at(6), "boom" })),
			why.Retrying, []string{"Attempt 1 failed, the next one follows at 2026-03-02 02:06:00 +00:00: boom."}, isDue,
		},
		{
			"all workers busy", facts(row(ax.StatusDispatched, func(r *ax.Instance) { r.StartedAt = time.Time{} }, "0 dispatched queued on n1: all workers are busy")),
			why.Waiting, []string{"queue of n1", "all workers are busy"}, isDue + "\n02 02:00:00 dispatched: queued on n1: all workers are busy",
		},
		{
			"skipped by the run before", facts(
				row(ax.StatusSkipped, func(r *ax.Instance) {
					r.Reason, r.StartedAt = "skipped: an earlier run has not ended (limit 1)", time.Time{}
				}, "0 outcome skipped: an earlier run has not ended (limit 1)"),
				func(f *why.Facts) {
					f.Others = []ax.Instance{
						{ID: 99, ScheduledAt: at(-60), StartedAt: at(-60), EndedAt: at(30), Status: ax.StatusSuccess},
						{ID: 98, ScheduledAt: at(-120), StartedAt: at(-120), EndedAt: at(-100), Status: ax.StatusSuccess},
						{ID: 97, ScheduledAt: at(-180), Status: ax.StatusSkipped, EndedAt: at(60)},
					}
				}),
			why.Skipped, []string{"It did not run, held up by instance 99: an earlier run has not ended (limit 1)."},
			isDue + "\n02 02:00:00 held: instance 99, due 2026-03-02 01:00:00 +00:00, runs since 2026-03-02 01:00:00 +00:00, until 2026-03-02 02:30:00 +00:00" +
				"\n02 02:00:00 skipped: an earlier run has not ended (limit 1)",
		},
		{
			"a run on each host", facts(
				row(ax.StatusSuccess, shard(0, "n1"), "0 trigger_ready due 02:00; shard 1 of 3, for n1", "1 outcome SUCCESS after 1m0s"),
				row(ax.StatusSkipped, shard(1, "n2"), "0 outcome skipped: an earlier run has not ended on n2 (limit 1)"),
				row(ax.StatusFailed, func(r *ax.Instance) { shard(2, "n3")(r); r.Error = "no space" }, "1.5 outcome FAILED after 1m30s"),
				func(f *why.Facts) {
					f.Others = []ax.Instance{
						{ID: 98, ScheduledAt: at(-60), StartedAt: at(-60), EndedAt: at(30), Status: ax.StatusSuccess, Shards: 3, Shard: 1, Node: "n2"},
						{ID: 97, ScheduledAt: at(-60), StartedAt: at(-60), EndedAt: at(30), Status: ax.StatusSuccess, Shards: 3, Shard: 2, Node: "n3"},
					}
				}),
			why.Failed, []string{"It has a run on each of 3 hosts: 1 FAILED, 1 SKIPPED, 1 SUCCESS. Shard 3 of 3: It ran on n3 and ended FAILED: no space."},
			isDue + "\n02 02:00:00 noticed: due 02:00; shard 1 of 3, for n1" +
				"\n02 02:00:00 held: instance 98, due 2026-03-02 01:00:00 +00:00, runs since 2026-03-02 01:00:00 +00:00, until 2026-03-02 02:30:00 +00:00" +
				"\n02 02:00:00 skipped: shard 2, n2: an earlier run has not ended on n2 (limit 1)" +
				"\n02 02:01:00 outcome: shard 1, n1: SUCCESS after 1m0s\n02 02:01:30 outcome: shard 3, n3: FAILED after 1m30s",
		},
		{
			"shards that succeeded", facts(row(ax.StatusSuccess, shard(1, "n2")), row(ax.StatusSuccess, shard(0, "n1"))),
			why.Succeeded, []string{"It has a run on each of 2 hosts: 2 SUCCESS. Shard 1 of 3: It ran on n1"}, isDue,
		},
		{
			"waits for a place", facts(
				row(ax.StatusTriggered, func(r *ax.Instance) { r.Reason, r.StartedAt = "waits for a place (queue)", time.Time{} }, "0 trigger_ready waits for a place (queue)"),
				func(f *why.Facts) {
					f.Others = []ax.Instance{{ID: 99, ScheduledAt: at(-60), StartedAt: at(-50), Status: ax.StatusRunning}, {ID: 98, ScheduledAt: at(-90), StartedAt: at(-80), Status: ax.StatusRunning}}
				}),
			why.Waiting, []string{"held up by the instances 98, 99"},
			isDue + "\n02 02:00:00 held: instance 98, due 2026-03-02 00:30:00 +00:00, runs since 2026-03-02 00:40:00 +00:00" +
				"\n02 02:00:00 held: instance 99, due 2026-03-02 01:00:00 +00:00, runs since 2026-03-02 01:10:00 +00:00\n02 02:00:00 waits: waits for a place (queue)",
		},
		{
			"canceled while it waited", facts(row(ax.StatusCanceled, func(r *ax.Instance) { r.Reason, r.StartedAt = "canceled by lin", time.Time{} })),
			why.Canceled, []string{"It did not run: canceled by lin."}, isDue,
		},
		{
			"canceled", facts(row(ax.StatusCanceled, func(r *ax.Instance) { r.Reason = "canceled by lin" }, "1 cancel canceled by lin")),
			why.Canceled, []string{"It did not run to its end: canceled by lin."}, isDue + "\n02 02:01:00 canceled: canceled by lin",
		},
		{
			"the schedule has changed since", facts(noStep(), row(ax.StatusSuccess, nil), former(true, true, func(t *ax.Task) { t.Schedule.Cron = "0 0 0/2 * * ?" })),
			why.Succeeded, []string{"succeeded"},
			"02 02:00:00 schedule: cron 0 0 2 * * ? (UTC): as it is now, it does not make the task due at this time\n" +
				"02 03:00:00 task: the task was changed by eve: its schedule was cron 0 0 0/2 * * ? (UTC) before",
		},
		{
			"a fixed delay", facts(noStep(), row(ax.StatusSuccess, nil), func(f *why.Facts) { f.Task.Schedule.Cron, f.Task.Schedule.Delay = "", time.Hour }),
			why.Succeeded, nil, "02 02:00:00 schedule: delay 1h0m0s (UTC): due so long after the end of the run before",
		},
		{
			"moved here by a calendar", facts(noStep(trigger.Step{At: at(-1440), Due: due, Verdict: trigger.VerdictMoved, Blackout: "all day"}), row(ax.StatusSuccess, nil)),
			why.Succeeded, nil, isDue + " instead of 2026-03-01 02:00:00 +00:00: blackout all day",
		},
		{
			"a run by hand at the same instant is another matter", facts(row(ax.StatusSuccess, func(r *ax.Instance) { r.Kind = ax.KindManual })),
			why.Unknown, nil, isDue,
		},
	})
}

// missed is a MISSED instance of several due times, noticed so many minutes
// after the due time.
func missed(noticed float64, n int, until time.Time) func(*ax.Instance) {
	return func(r *ax.Instance) {
		r.Reason, r.CreatedAt, r.EndedAt, r.StartedAt = "missed: late by more than 1m0s", at(noticed), at(noticed), time.Time{}
		r.Missed, r.MissedUntil = n, until
		if n > 1 {
			r.Reason = fmt.Sprintf("%d due times %s", n, r.Reason)
		}
	}
}

func TestMissed(t *testing.T) {
	t.Parallel()
	restart := func(f *why.Facts) {
		f.Nodes = []ax.Node{{Name: "n1", Version: "1.0", StartedAt: at(119)}, {Name: "n0", StartedAt: at(-600), BeatAt: at(-5)}}
	}
	check(t, []test{
		{
			"no host ran", facts(restart, row(ax.StatusMissed, missed(120, 1, due), "120 outcome missed: late by more than 1m0s")),
			why.Missed, []string{"It did not run. No host ran then: n1 was started at 2026-03-02 03:59:00 +00:00; the misfire policy is skip (late by more than 1m0s)."},
			isDue + "\n02 03:59:00 host: n1 was started (version 1.0)\n02 04:00:00 missed: late by more than 1m0s",
		},
		{
			"one of many", facts(restart, func(f *why.Facts) {
				e := ax.Instance{ID: 90, ScheduledAt: at(-60), Kind: ax.KindScheduled, Status: ax.StatusMissed}
				missed(120, 120, at(59))(&e)
				f.Earlier = &e
			}),
			why.Missed, []string{"one of 120 due times from 2026-03-02 01:00:00 +00:00 to 2026-03-02 02:59:00 +00:00", "No host ran then"},
			isDue + "\n02 03:59:00 host: n1 was started (version 1.0)",
		},
		{
			"the MISSED row before ends before it", facts(func(f *why.Facts) {
				e := ax.Instance{ID: 90, ScheduledAt: at(-60), Status: ax.StatusMissed}
				missed(120, 10, at(-50))(&e)
				f.Earlier = &e
			}),
			why.Unknown, nil, isDue,
		},
		{
			"a host ran and noticed late", facts(row(ax.StatusMissed, missed(3, 1, due)), func(f *why.Facts) {
				f.Nodes = []ax.Node{{Name: "n1", StartedAt: at(-600), BeatAt: now}}
			}),
			why.Missed, []string{"It was noticed only at 2026-03-02 02:03:00 +00:00, 3m0s late"}, isDue,
		},
		{
			"parked then", facts(audit(-5, "task.park", `{"reason":"no plugin offers the trigger \"random\""}`), audit(110, "task.unpark", ""), row(ax.StatusMissed, missed(120, 1, due))),
			why.Missed, []string{`The task was parked then: no plugin offers the trigger "random"`},
			"02 01:55:00 park: parked: no plugin offers the trigger \"random\"\n" + isDue + "\n02 03:50:00 park: it could go on",
		},
		{
			"made up for", facts(row(ax.StatusMissed, missed(120, 1, due)), row(ax.StatusSuccess, func(r *ax.Instance) {
				r.Kind, r.CreatedAt, r.StartedAt, r.EndedAt = ax.KindBackfill, at(600), at(600), at(601)
			}, "600 trigger_ready backfill by lin")),
			why.Succeeded, []string{"It was made up for by a backfill: It ran on n1"}, isDue + "\n02 12:00:00 waits: backfill by lin",
		},
	})
}
