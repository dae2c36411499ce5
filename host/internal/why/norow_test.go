package why_test

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/trigger"
	"github.com/axsched/ax/host/internal/why"
	"github.com/axsched/ax/pluginapi/calendar"
)

func TestNoInstance(t *testing.T) {
	t.Parallel()
	check(t, []test{
		{
			"paused and resumed", facts(audit(-60, "task.pause", `{}`), audit(60, "task.resume", "")),
			why.Paused, []string{"The schedule of the task was paused by lin on 2026-03-02 01:00:00 +00:00, and resumed by lin on 2026-03-02 03:00:00 +00:00."},
			"02 01:00:00 pause: paused by lin on 2026-03-02 01:00:00 +00:00\n" + isDue + "\n02 03:00:00 pause: resumed by lin",
		},
		{
			"paused until a time", facts(audit(-60, "task.pause", `{"until":"2026-03-02T09:00:00Z"}`)),
			why.Paused, []string{"until 2026-03-02 09:00:00 +00:00."}, "02 01:00:00 pause: paused by lin on 2026-03-02 01:00:00 +00:00 until 2026-03-02 09:00:00 +00:00\n" + isDue,
		},
		{
			"a pause that was over", facts(audit(-60, "task.pause", `{}`), audit(-50, "task.resume", "")), why.Unknown, []string{"neither"}, isDue,
		},
		{
			"switched off then", facts(former(false, false, func(t *ax.Task) { t.Enabled = false })),
			why.Disabled, []string{"switched off"}, isDue + "\n02 03:00:00 task: the task was changed by eve: it was switched on",
		},
		{"switched off", facts(func(f *why.Facts) { f.Task.Enabled = false }), why.Disabled, []string{"was switched off"}, isDue},
		{
			"made later", facts(func(f *why.Facts) { f.Task.CreatedAt = at(30) }),
			why.Absent, []string{"it was made by config on 2026-03-02 02:30:00 +00:00"},
			isDue + "\n02 02:30:00 task: it was made by config on 2026-03-02 02:30:00 +00:00, after that",
		},
		{
			"removed then", facts(audit(-30, "task.delete", `{"revision":3}`), audit(30, "task.create", `{"revision":4}`)),
			why.Absent, []string{"removed by lin on 2026-03-02 01:30:00 +00:00", "there again from 2026-03-02 02:30:00 +00:00 on"},
			"02 01:30:00 task: it was removed by lin on 2026-03-02 01:30:00 +00:00, and there again from 2026-03-02 02:30:00 +00:00 on\n" + isDue,
		},
		{
			"the schedule was another one", facts(former(true, false, func(t *ax.Task) { t.Schedule.Cron = "0 0 5 * * ?" })),
			why.Changed, []string{"the schedule was cron 0 0 5 * * ? (UTC) until eve changed it on 2026-03-02 03:00:00 +00:00"},
			isDue + "\n02 03:00:00 task: the task was changed by eve: its schedule was cron 0 0 5 * * ? (UTC) before",
		},
		{
			"due by the schedule of then, which changed before it was recorded", facts(noStep(), former(true, true, func(t *ax.Task) { t.Schedule.Cron = "0 0 0/2 * * ?" })),
			why.Changed, []string{"given up"},
			"02 02:00:00 schedule: cron 0 0 2 * * ? (UTC): as it is now, it does not make the task due at this time\n" +
				"02 03:00:00 task: the task was changed by eve: its schedule was cron 0 0 0/2 * * ? (UTC) before",
		},
		{
			"the calendar was another one", facts(former(false, false, func(*ax.Task) {})),
			why.Changed, []string{"eve changed the task"}, isDue + "\n02 03:00:00 task: the task was changed by eve: its calendar or its limits were others before",
		},
		{
			"no room", facts(pending, func(f *why.Facts) { f.Held, f.HeldSince = true, due }),
			why.Held, []string{"waits for room since 2026-03-02 02:00:00 +00:00: all workers are busy and the queue is full"},
			isDue + "\n02 02:00:00 held: all workers are busy and the queue is full",
		},
		{"paused, nobody knows since when", facts(pending, func(f *why.Facts) { f.Task.Paused = true }), why.Paused, []string{"is paused"}, isDue},
		{"just now", facts(pending), why.Held, []string{"on its way"}, isDue},
		{
			"those before it come first", facts(pending, func(f *why.Facts) { f.Task.NextAt = at(-60) }),
			why.Held, []string{"waits for the due times before it, from 2026-03-02 01:00:00 +00:00 on"}, isDue,
		},
		{
			"parked", facts(pending, func(f *why.Facts) { f.Task.Parked = "the plugin random is quarantined" }),
			why.Parked, []string{"the task is parked: the plugin random is quarantined."}, isDue,
		},
		{"deleted since", facts(func(f *why.Facts) { f.Kept = at(10) }), why.Forgotten, []string{"deleted"}, isDue},
		{
			"before the schedule was first seen", facts(func(f *why.Facts) { f.Task.AnchorAt = at(10) }),
			why.Changed, []string{"in force since 2026-03-02 02:10:00 +00:00"}, isDue,
		},
	})
}

// A plugin that is away cannot tell its due times, but some were fetched ahead.
func TestPluginAway(t *testing.T) {
	t.Parallel()
	away := func(f *why.Facts) {
		f.Steps, f.Trouble = nil, "no plugin offers it"
		f.Task.Schedule.Cron, f.Task.Schedule.Trigger = "", &ax.Use{Name: "random"}
	}
	const isDue = "02 02:00:00 schedule: the trigger random (UTC) makes the task due at this time"
	check(t, []test{
		{"nothing is known", facts(away), why.Unknown, []string{"cannot be asked: no plugin offers it."}, ""},
		{"the next one", facts(away, pending), why.Held, nil, isDue},
		{
			"fetched ahead", facts(away, func(f *why.Facts) { f.Now, f.Task.NextAt, f.Task.Planned = at(-90), at(-60), []time.Time{due} }),
			why.ToCome, nil, isDue,
		},
		{"with an instance", facts(away, row(ax.StatusSuccess, nil)), why.Succeeded, nil, "02 02:00:00 schedule: the trigger random (UTC) cannot be asked: no plugin offers it"},
		{
			"missed with others", facts(away, func(f *why.Facts) {
				e := ax.Instance{ID: 90, ScheduledAt: at(-60), Kind: ax.KindScheduled, Status: ax.StatusMissed}
				missed(120, 2, at(59))(&e)
				f.Earlier = &e
			}),
			why.Missed, nil, "02 02:00:00 schedule: the trigger random (UTC) cannot be asked: no plugin offers it",
		},
	})
}

func TestToCome(t *testing.T) {
	t.Parallel()
	soon := func(f *why.Facts) { f.Now, f.Task.NextAt = at(-90), due }
	paused := func(until time.Time) func(*why.Facts) {
		return func(f *why.Facts) { f.Task.Paused, f.Task.PausedUntil = true, until }
	}
	check(t, []test{
		{
			"after a fixed delay", facts(soon, noStep(), func(f *why.Facts) { f.Task.Schedule.Cron, f.Task.Schedule.Delay = "", time.Hour }),
			why.ToCome, []string{"It is due in 1h30m."}, "02 02:00:00 schedule: delay 1h0m0s (UTC) makes the task due at this time",
		},
		{"it will run", facts(soon), why.ToCome, []string{"It is due in 1h30m."}, isDue},
		{
			"paused", facts(soon, paused(time.Time{}), audit(-120, "task.pause", "{}")), why.Paused, []string{"It will not run", "paused by lin on 2026-03-02 00:00:00 +00:00."},
			"02 00:00:00 pause: paused by lin on 2026-03-02 00:00:00 +00:00\n" + isDue,
		},
		{"paused, nobody knows by whom", facts(soon, paused(at(60))), why.Paused, []string{"It will not run: the schedule of the task is paused."}, isDue},
		{"the pause ends before", facts(soon, paused(at(-30))), why.ToCome, nil, isDue},
		{"switched off", facts(soon, func(f *why.Facts) { f.Task.Enabled = false }), why.Disabled, []string{"It will not run"}, isDue},
		{
			"parked", facts(soon, func(f *why.Facts) { f.Task.Parked = "no plugin" }, audit(-100, "task.park", `{"reason":"no plugin"}`)),
			why.Parked, []string{"parked: no plugin."}, "02 00:20:00 park: parked: no plugin\n" + isDue,
		},
	})
}

func TestNotDue(t *testing.T) {
	t.Parallel()
	check(t, []test{
		{
			"between two", facts(noStep()), why.NotDue,
			[]string{"The task was not due at this time: cron 0 0 2 * * ? (UTC) does not name it; it was due before that at 2026-03-01 02:00:00 +00:00, and is due after it at 2026-03-03 02:00:00 +00:00."}, "",
		},
		{"before the first", facts(noStep(), func(f *why.Facts) { f.Before = time.Time{} }), why.NotDue, []string{"due for the first time after it at"}, ""},
		{"after the last", facts(noStep(), func(f *why.Facts) { f.After = time.Time{} }), why.NotDue, []string{"and never after it."}, ""},
		{"to come", facts(noStep(), func(f *why.Facts) { f.Now = at(-60) }), why.NotDue, []string{"The task is not due at this time"}, ""},
		{
			"closed", facts(noStep(trigger.Step{At: due, Verdict: trigger.VerdictClosed, Closed: &calendar.Day{
				Date: calendar.DateOf(due), Layer: "cn", Reason: "National Day", Source: "cn.csv",
			}})),
			why.Closed, []string{"The task was not due: 2026-03-02 is closed in cn: National Day, from cn.csv."},
			"02 02:00:00 schedule: cron 0 0 2 * * ? (UTC) names this time, and leaves it out: 2026-03-02 is closed in cn: National Day, from cn.csv",
		},
		{
			"blackout", facts(noStep(trigger.Step{At: due, Verdict: trigger.VerdictBlackout, Blackout: "22:00-06:00"})),
			why.Blackout, []string{"The task was not due: blackout 22:00-06:00."},
			"02 02:00:00 schedule: cron 0 0 2 * * ? (UTC) names this time, and leaves it out: blackout 22:00-06:00",
		},
		{
			"moved away", facts(noStep(trigger.Step{At: due, Due: at(240), Verdict: trigger.VerdictMoved, Blackout: "22:00-06:00"}), func(f *why.Facts) { f.Now = at(-60) }),
			why.Moved, []string{"The task will not be due at this time but at 2026-03-02 06:00:00 +00:00: blackout 22:00-06:00."},
			"02 02:00:00 schedule: cron 0 0 2 * * ? (UTC) names this time, and leaves it out: blackout 22:00-06:00",
		},
		{
			"a fixed delay", facts(noStep(), func(f *why.Facts) { f.Task.Schedule.Cron, f.Task.Schedule.Delay = "", time.Hour }),
			why.NotDue, []string{"it is due 1h0m0s after the end of each run"}, "",
		},
	})
}

func TestFormerOf(t *testing.T) {
	t.Parallel()
	update := func(minutes float64, version string) func(*why.Facts) {
		return audit(minutes, "task.update", `{"revision":2,"before":{"name":"nightly","schedule":{"version":"`+version+`"}}}`)
	}
	f := facts(update(-60, "v1"), audit(-50, "task.pause", "{}"), update(60, "v2"), update(90, "v3"))
	for minutes, want := range map[float64]string{-70: "v1", 0: "v2", 70: "v3"} {
		if got := why.FormerOf(f.Audit, at(minutes)); got == nil || got.Task.Schedule.Version != want || got.ChangedBy != "lin" {
			t.Errorf("at %v: %+v, want %s", minutes, got, want)
		}
	}
	if got := why.FormerOf(f.Audit, at(91)); got != nil {
		t.Errorf("now: %+v", got)
	}
}
