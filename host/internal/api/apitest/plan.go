package apitest

import (
	"context"
	"time"

	"github.com/axsched/ax/host/internal/api"
	"github.com/axsched/ax/host/internal/preview"
)

// Plan implements api.Backend.
func (b *Backend) Plan(ctx context.Context, c *api.Candidate) (*preview.Plan, error) {
	if b.OnPlan == nil {
		return &preview.Plan{Added: []preview.TaskPlan{}, Changed: []preview.TaskPlan{}, Removed: []preview.TaskPlan{}}, nil
	}
	return b.OnPlan(ctx, c)
}

// SampleConfig is the file that the sample's host reads.
const SampleConfig = "/etc/ax/config.yaml"

// samplePlan is a plan with everything that there may be in one.
func samplePlan(_ context.Context, c *api.Candidate) (*preview.Plan, error) {
	day := func(n int) time.Time { return Noon().AddDate(0, 0, n) }
	if c != nil && len(c.Tasks) == 0 {
		return &preview.Plan{
			Config: SampleConfig, Added: []preview.TaskPlan{}, Changed: []preview.TaskPlan{}, Removed: []preview.TaskPlan{}, Unchanged: 3,
		}, nil
	}
	return &preview.Plan{
		Config: SampleConfig, Unchanged: 30, Warnings: []string{"http has changed, which takes a restart of the host"},
		Added: []preview.TaskPlan{
			{Task: "new", After: []time.Time{day(1), day(2)}, Beyond: []preview.Beyond{{At: day(2), Calendars: []string{"cn"}}}},
			{Task: "plugged", Note: `no plugin offers the trigger "random"`},
		},
		Changed: []preview.TaskPlan{{
			Task:   "每日对账",
			Fields: []preview.Field{{Field: "days of calendar cn"}, {Field: "job.with"}, {Field: "jitter", After: "30s"}, {Field: "timeout", Before: "1m", After: "2m"}},
			Before: []time.Time{day(1), day(2)}, After: []time.Time{day(1), day(3)},
			Moves: []preview.Move{
				{At: day(2), Before: day(2), Reason: "2026-03-04 is closed in cn: 春节, from cn.csv"},
				{At: day(4), Before: day(4), After: day(5)},
				{At: day(7), After: day(7)},
			},
			MovesTotal: 4,
		}},
		Removed: []preview.TaskPlan{{Task: "warm-up", Before: []time.Time{day(1)}}, {Task: "off"}},
	}, nil
}
