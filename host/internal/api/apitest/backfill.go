package apitest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/ax"
)

// sampleBackfill lets a backfill of any task have three due times, of which two
// are to run. How far it is changes each time that it is asked.
func sampleBackfill(b *Backend, changes *Changes) {
	var asked atomic.Int32
	known := func(name string) error {
		_, err := b.OnTask(context.Background(), name)
		return err
	}
	b.OnBackfill = func(_ context.Context, name string, o api.BackfillOptions) (api.BackfillPlan, error) {
		if err := known(name); err != nil {
			return api.BackfillPlan{}, err
		}
		if o.To.IsZero() {
			o.To = Noon()
		}
		plan := api.BackfillPlan{Task: name, From: o.From, To: o.To, Due: 3, New: 2, Existing: 1}
		if !o.From.Before(o.To) {
			return plan, &api.Invalid{Reason: "to: expected a time after from"}
		}
		if o.DryRun {
			plan.Times = []api.BackfillTime{
				{At: Noon().AddDate(0, 0, -3), Run: true},
				{At: Noon().AddDate(0, 0, -2), Run: true, Status: ax.StatusMissed, Kind: ax.KindScheduled, Instance: "101"},
				{At: Noon().AddDate(0, 0, -1), Status: ax.StatusSuccess, Kind: ax.KindBackfill, Instance: "105"},
			}
			return plan, nil
		}
		changes.add(fmt.Sprintf("backfill %s from %s to %s limit=%d again=%t by %s", name, utc(o.From), utc(o.To), o.Limit, o.Again, o.Actor))
		return plan, nil
	}
	b.OnProgress = func(_ context.Context, name string, span api.BackfillSpan) (api.BackfillProgress, error) {
		p := api.BackfillProgress{Task: name, From: span.From, To: span.To, Total: 2, Waiting: 1, Running: 1}
		if asked.Add(1) > 1 {
			p.Waiting, p.Running, p.Succeeded, p.Failed, p.Done = 0, 0, 1, 1, true
		}
		return p, known(name)
	}
	b.OnEndBackfill = func(_ context.Context, name string, span api.BackfillSpan, actor string) (api.BackfillCanceled, error) {
		changes.add(fmt.Sprintf("cancel backfill %s from %s to %s by %s", name, utc(span.From), utc(span.To), actor))
		return api.BackfillCanceled{Canceled: 1, Running: 1}, known(name)
	}
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }
