package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
	"github.com/axsched/ax/host/internal/engine"
	"github.com/axsched/ax/host/internal/store"
)

const (
	// maxBackfill is how many due times one backfill may have.
	maxBackfill = 100_000
	// dueBatch is how many of them a trigger is asked for at once.
	dueBatch = 1000
	// recordTime bounds the writing of them: an answer of the API has a minute.
	recordTime = 45 * time.Second
)

// Backfill runs past due times of a task, or says which ones it would run.
func (b backend) Backfill(ctx context.Context, name string, o api.BackfillOptions) (api.BackfillPlan, error) {
	plan, err := b.planBackfill(ctx, name, o, time.Now())
	if err != nil || o.DryRun {
		return plan, err
	}
	var times []time.Time
	for _, t := range plan.Times {
		if t.Run {
			times = append(times, t.At)
		}
	}
	plan.Times = nil
	if len(times) == 0 {
		return plan, nil
	}
	// Who asked may go away, the rest is written all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	n, err := b.h.engine.Backfill(ctx, engine.Backfill{Task: name, Times: times, Limit: o.Limit, By: o.Actor})
	b.audit(ctx, o.Actor, "task.backfill", name, plan)
	b.h.log.Info("backfill", "task", name, "from", plan.From, "to", plan.To, "new", n, "limit", o.Limit, "by", o.Actor)
	if errors.Is(err, context.DeadlineExceeded) {
		return plan, &api.Unavailable{Reason: fmt.Sprintf(
			"%d of %d due times were recorded in time, and run; the same request again adds the rest", n, len(times))}
	}
	return plan, b.backfillError(name, err)
}

// planBackfill says of each due time in the span whether it is to run.
func (b backend) planBackfill(ctx context.Context, name string, o api.BackfillOptions, now time.Time) (api.BackfillPlan, error) {
	plan := api.BackfillPlan{Task: name, From: o.From, To: o.To}
	if plan.To.IsZero() || plan.To.After(now) {
		plan.To = now
	}
	l := b.h.live.Load()
	entry, ok := l.entries[name]
	views := b.h.engine.Views(name)
	switch {
	case !ok || len(views) == 0:
		return plan, b.noTask(name)
	case !plan.From.Before(now):
		return plan, &api.Invalid{Reason: "from: a backfill is for due times that are past; what is to come is up to the schedule"}
	case !plan.From.Before(plan.To):
		return plan, &api.Invalid{Reason: "to: expected a time after from"}
	case entry.Row.Schedule.Delay > 0:
		return plan, &api.Invalid{Reason: "the schedule is a fixed delay after the end of each run, so it has no due times in the past but those that ran"}
	}
	due, err := dueTimes(ctx, entry.Trigger, plan.From, plan.To)
	if err != nil {
		return plan, err
	}
	rows, err := b.h.store.DueRows(ctx, l.cfg.App, name, plan.From, plan.To)
	if err != nil {
		return plan, err
	}
	plan.Times = backfillTimes(due, rows, pendingFrom(&views[0].Row), o.Again)
	plan.Due = len(due)
	for _, t := range plan.Times {
		if t.Run {
			plan.New++
		}
	}
	plan.Existing = plan.Due - plan.New
	return plan, nil
}

// pendingFrom is the first due time that the schedule itself will see to, zero
// if it will see to none.
func pendingFrom(row *ax.TaskRow) time.Time {
	if !row.Enabled || row.Paused {
		return time.Time{}
	}
	return row.NextAt
}

// dueTimes lists the due times from <= due < to.
func dueTimes(ctx context.Context, trigger engine.Trigger, from, to time.Time) ([]time.Time, error) {
	var all []time.Time
	after, last := from.Add(-1), to.Add(-1)
	for {
		times, exhausted, err := trigger.Next(ctx, after, last, dueBatch)
		if err != nil {
			return nil, &api.Unavailable{Reason: "the due times cannot be computed: " + err.Error()}
		}
		all = append(all, times...)
		if len(all) > maxBackfill {
			return nil, &api.Invalid{Reason: fmt.Sprintf(
				"more than %d due times lie between from and to, the first %d of them before %s: choose a shorter span",
				maxBackfill, maxBackfill, all[maxBackfill].Format(time.RFC3339))}
		}
		if exhausted || len(times) == 0 {
			return all, nil
		}
		if after = times[len(times)-1]; !after.Before(last) {
			return all, nil
		}
	}
}

// backfillTimes says of each due time whether it is to run, by the rows as
// store.DueRows returns them. From pending on, if that is not zero, the schedule
// itself sees to due times without a row. again lets those run as well that have
// succeeded.
func backfillTimes(due []time.Time, rows []store.DueRow, pending time.Time, again bool) []api.BackfillTime {
	times := make([]api.BackfillTime, 0, len(due))
	var scheduled, backfilled *store.DueRow // the newest rows up to the due time
	for _, at := range due {
		at := at.Truncate(time.Microsecond) // as the rows have it
		for len(rows) > 0 && !rows[0].ScheduledAt.After(at) {
			if rows[0].Kind == ax.KindBackfill {
				backfilled = &rows[0]
			} else {
				scheduled = &rows[0]
			}
			rows = rows[1:]
		}
		t := api.BackfillTime{At: at, Run: true}
		switch {
		case backfilled != nil && backfilled.ScheduledAt.Equal(at):
			t = beside(at, backfilled, false)
		case scheduled != nil && scheduled.ScheduledAt.Equal(at):
			t = beside(at, scheduled, rerun(scheduled.Status, again))
		case scheduled != nil && !scheduled.MissedUntil.Before(at):
			t = beside(at, scheduled, true)
		case !pending.IsZero() && !at.Before(pending):
			t.Status, t.Run = ax.StatusPending, false
		}
		times = append(times, t)
	}
	return times
}

// beside is a due time that has a row.
func beside(at time.Time, row *store.DueRow, run bool) api.BackfillTime {
	return api.BackfillTime{At: at, Run: run, Status: row.Status, Kind: row.Kind, Instance: row.ID.String()}
}

// rerun reports whether a due time runs in a backfill although it has a
// scheduled instance.
func rerun(s ax.Status, again bool) bool {
	return s.Final() && (again || s != ax.StatusSuccess)
}

// BackfillProgress says how far the backfills of a task are.
func (b backend) BackfillProgress(ctx context.Context, name string, span api.BackfillSpan) (api.BackfillProgress, error) {
	p := api.BackfillProgress{Task: name, From: span.From, To: span.To}
	l := b.h.live.Load()
	if _, ok := l.entries[name]; !ok {
		return p, b.noTask(name)
	}
	counts, err := b.h.store.CountInstances(ctx, ax.InstanceFilter{
		App: l.cfg.App, Task: name, Kinds: []ax.Kind{ax.KindBackfill}, Since: span.From, Until: span.To,
	})
	if err != nil {
		return p, err
	}
	for status, n := range counts {
		p.Total += n
		switch status {
		case ax.StatusTriggered, ax.StatusDispatched:
			p.Waiting += n
		case ax.StatusRunning:
			p.Running += n
		case ax.StatusRetrying:
			p.Retrying += n
		case ax.StatusSuccess:
			p.Succeeded += n
		case ax.StatusFailed, ax.StatusTimeout, ax.StatusLost:
			p.Failed += n
		default:
			p.Canceled += n
		}
	}
	p.Done = p.Waiting+p.Running+p.Retrying == 0
	return p, nil
}

// CancelBackfill cancels the due times that wait in a backfill.
func (b backend) CancelBackfill(ctx context.Context, name string, span api.BackfillSpan, actor string) (api.BackfillCanceled, error) {
	n, err := b.h.engine.CancelBackfill(name, span.From, span.To, actor)
	if err != nil {
		return api.BackfillCanceled{}, b.backfillError(name, err)
	}
	p, err := b.BackfillProgress(ctx, name, span)
	if err != nil {
		return api.BackfillCanceled{}, err
	}
	canceled := api.BackfillCanceled{Canceled: n, Running: p.Waiting + p.Running + p.Retrying}
	b.audit(ctx, actor, "task.backfill.cancel", name, canceled)
	b.h.log.Info("backfill canceled", "task", name, "canceled", n, "by", actor)
	return canceled, nil
}

func (b backend) backfillError(name string, err error) error {
	switch {
	case errors.Is(err, engine.ErrUnknownTask):
		return b.noTask(name)
	case errors.Is(err, engine.ErrStopping):
		return &api.Unavailable{Reason: err.Error()}
	}
	return err
}

// auditTime bounds the writing of a row of the audit trail.
const auditTime = 5 * time.Second

// audit adds to the trail what was done to a task, also if the time of the
// request is over by now; that it cannot be written undoes nothing.
func (b backend) audit(ctx context.Context, actor, action, task string, detail any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	text, err := json.Marshal(detail)
	if err == nil {
		err = b.h.store.Audit(ctx, ax.AuditRow{
			At: time.Now(), App: b.h.live.Load().cfg.App, Actor: actor, Action: action, Object: task, Detail: text,
		})
	}
	if err != nil {
		b.h.log.Error("cannot write the audit trail", "action", action, "task", task, "error", err)
	}
}
