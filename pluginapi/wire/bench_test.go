package wire_test

import (
	"context"
	"testing"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
)

func BenchmarkRun(b *testing.B) {
	j := job(b, func(context.Context, *pluginapi.Run) (pluginapi.Result, error) { return pluginapi.Result{}, nil })
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got := j.Run(b.Context(), pluginapi.Fire{}); got.Err != nil {
				b.Fatal(got.Err)
			}
		}
	})
}

// BenchmarkOutput measures lines from a job to its host.
func BenchmarkOutput(b *testing.B) {
	const n = 200_000
	line := []byte("a line of ordinary length, as programs write them\n")
	j := job(b, func(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
		for range n {
			_, _ = run.Output.Write(line)
		}
		return pluginapi.Result{}, nil
	})
	arrived := 0
	j.OnLine = func(plugintest.Line) { arrived++ }
	for b.Loop() {
		if got := j.Run(b.Context(), pluginapi.Fire{}); got.Err != nil {
			b.Fatal(got.Err)
		}
	}
	b.ReportMetric(float64(arrived)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(100*float64(arrived)/float64(n*b.N), "%arrived")
}
