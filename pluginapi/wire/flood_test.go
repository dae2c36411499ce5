package wire_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// A host that is slower than the job gets everything: the job waits for it.
func TestSlowHostGetsAll(t *testing.T) {
	t.Parallel()
	const n = 50_000
	j := job(t, func(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
		for i := range n {
			if i%2 == 0 {
				fmt.Fprintln(run.Output, i)
			} else {
				run.Log.Info(fmt.Sprint(i))
			}
			if i == n/2 {
				run.Progress(int64(i), n, "half")
			}
		}
		return pluginapi.Result{Message: "done"}, nil
	})
	seen := 0
	j.OnLine = func(plugintest.Line) {
		if seen++; seen%1000 == 0 {
			time.Sleep(5 * time.Millisecond) // this is what makes the host slow
		}
	}
	got := j.Run(t.Context(), pluginapi.Fire{})
	if got.Err != nil || got.Dropped != 0 || len(got.Lines) != n || got.Result.Message != "done" {
		t.Fatalf("%d lines, %d dropped, %q, %v", len(got.Lines), got.Dropped, got.Result.Message, got.Err)
	}
	for i, l := range got.Lines {
		if l.Text != fmt.Sprint(i) {
			t.Fatalf("line %d is %q", i, l.Text)
		}
	}
	if len(got.Progress) != 1 || got.Progress[0].Done != n/2 {
		t.Errorf("progress %v", got.Progress)
	}
}

// flood writes until the run's context ends, and tells what it wrote.
func flood(ctx context.Context, run *pluginapi.Run) (lines, bytes uint64) {
	text := strings.Repeat("x", 200)
	for ctx.Err() == nil {
		fmt.Fprintln(run.Output, text)
		lines, bytes = lines+1, bytes+uint64(len(text))
	}
	return lines, bytes
}

// A cancel reaches a job that waits for a host that does not read; the job ends
// soon, what is missing is told exactly, and the flood hides no error.
func TestCancelWhileOutputWaits(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	var lines, bytes uint64
	j := job(t, func(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
		run.Log.Error("something is wrong")
		lines, bytes = flood(ctx, run)
		more := strings.Repeat("y", 1<<20) // a last buffer that nobody will take
		fmt.Fprint(run.Output, strings.ReplaceAll(more, "yyyyyyyy", "yyyyyyy\n"))
		lines, bytes = lines+1<<17, bytes+7<<17
		run.Log.Error("the end")
		close(ended)
		return pluginapi.Result{}, ctx.Err()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	j.OnLine = func(plugintest.Line) { // the first one stops the host
		cancel(pluginapi.ErrCanceled)
		<-ended
	}
	begin := time.Now()
	got := j.Run(ctx, pluginapi.Fire{})
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("the run ended after %s", took)
	}
	if got.EndedBy != "canceled" || got.Dropped == 0 {
		t.Errorf("ended by %q, %d lines dropped, %v", got.EndedBy, got.Dropped, got.Err)
	}
	kept, size := uint64(0), uint64(0)
	errs := map[string]bool{}
	for _, l := range got.Lines {
		if l.Level == "error" {
			errs[l.Text] = true
			continue
		}
		kept, size = kept+1, size+uint64(len(l.Text))
	}
	if kept+got.Dropped != lines || size+got.DroppedBytes != bytes {
		t.Errorf("%d lines of %d bytes kept, %d of %d dropped; %d of %d were written", kept, size, got.Dropped, got.DroppedBytes, lines, bytes)
	}
	if !errs["something is wrong"] || !errs["the end"] {
		t.Errorf("the flood hid an error, got only %v", errs)
	}
}

// A host that goes away frees a job that waits for it at once.
func TestHostGoneWhileOutputWaits(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	host := plugintest.New(t, jobComponent(func(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
		flood(ctx, run)
		close(ended)
		return pluginapi.Result{}, ctx.Err()
	}))
	id, err := host.Prepare(pluginapi.KindJob, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := host.Client.Job.Run(ctx, &pb.RunRequest{SpecId: id, RunId: "run", Fire: &pb.Fire{}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // accepted, and lines; then the host reads no more
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	cancel()
	<-ended
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the job ended after %s", took)
	}
}

// A run whose output nobody takes holds up no other run of the plugin, nor any
// other call.
func TestStalledRunLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	const n = 50_000
	host := plugintest.New(t,
		pluginapi.JobOf("stalled", "Floods a host that does not read.", func(struct{}, pluginapi.Env) (pluginapi.Job, error) {
			return jobFunc(func(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
				flood(ctx, run)
				return pluginapi.Result{}, ctx.Err()
			}), nil
		}),
		jobComponent(func(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
			for i := range n {
				fmt.Fprintln(run.Output, i)
			}
			return pluginapi.Result{}, nil
		}))
	ctx, cancel := context.WithCancelCause(t.Context())
	stalled, release := make(chan struct{}), make(chan struct{})
	j := host.Job("stalled", nil)
	stall := sync.OnceFunc(func() {
		close(stalled)
		<-release
	})
	j.OnLine = func(plugintest.Line) { stall() }
	var wg sync.WaitGroup
	wg.Go(func() {
		if got := j.Run(ctx, pluginapi.Fire{}); got.EndedBy != "canceled" {
			t.Errorf("ended by %q, %v", got.EndedBy, got.Err)
		}
	})
	<-stalled
	for range 3 {
		if got := host.Job("job", nil).Run(t.Context(), pluginapi.Fire{}); got.Err != nil || len(got.Lines) != n {
			t.Errorf("another run has %d lines of %d, %v", len(got.Lines), n, got.Err)
		}
	}
	cancel(pluginapi.ErrCanceled)
	close(release)
	wg.Wait()
}
