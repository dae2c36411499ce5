package pluginhost

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host/internal/ax"
)

// benchHost is a host with a running good plugin.
func benchHost(b *testing.B) *Host {
	b.Helper()
	th := &testHost{dir: b.TempDir()}
	h, err := New(Config{Dir: th.dir, RunDir: b.TempDir(), Log: hclog.NewNullLogger()})
	if err != nil {
		b.Fatal(err)
	}
	install(b, th.dir, "ax-plugin-alpha", "good")
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.Stop(b.Context()) })
	return h
}

func BenchmarkRun(b *testing.B) {
	h := benchHost(b)
	job := work(h, "ok", "")
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if out := job.Run(b.Context(), request(), ignore); out.Status != ax.StatusSuccess {
				b.Errorf("outcome = %+v", out)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkNextMany(b *testing.B) {
	h := benchHost(b)
	trigger := every(h)
	questions := make([]NextQuestion, 100)
	for i := range questions {
		questions[i] = NextQuestion{Trigger: trigger, After: time.Unix(int64(i), 0), Max: 64}
	}
	for b.Loop() {
		for _, a := range h.NextMany(b.Context(), questions) {
			if a.Err != nil {
				b.Fatal(a.Err)
			}
		}
	}
	b.ReportMetric(float64(b.N*100*64)/b.Elapsed().Seconds(), "times/s")
}
