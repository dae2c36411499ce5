package metrics

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// BenchmarkRun is what the metrics of a run cost it: its due time, its start, its end
// and a transaction, which many runs share as a rule.
func BenchmarkRun(b *testing.B) {
	m := New(Config{Gauges: quiet()})
	inst := ax.Instance{Kind: ax.KindScheduled, Attempt: 1, ScheduledAt: noon, Status: ax.StatusSuccess}
	out := ax.Outcome{Status: ax.StatusSuccess, StartedAt: noon, EndedAt: noon.Add(time.Second)}
	b.ReportAllocs()
	for b.Loop() {
		m.DueRecorded(1)
		m.Observe(ax.Happening{What: ax.AttemptStarted, At: noon, Instance: inst})
		m.Observe(ax.Happening{What: ax.AttemptEnded, Instance: inst, Outcome: out})
		m.Database("write", time.Millisecond, "")
	}
}
