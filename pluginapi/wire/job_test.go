package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/plugintest"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// jobFunc is a job without settings.
type jobFunc func(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error)

// Run implements pluginapi.Job.
func (f jobFunc) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	return f(ctx, run)
}

// job serves one job and returns it.
func job(t testing.TB, f jobFunc) *plugintest.Job {
	t.Helper()
	return plugintest.New(t, jobComponent(f)).Job("job", nil)
}

func jobComponent(f jobFunc) pluginapi.Component {
	return pluginapi.JobOf("job", "For a test.", func(struct{}, pluginapi.Env) (pluginapi.Job, error) { return f, nil })
}

func TestRunCarriesEverything(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute).Truncate(time.Microsecond)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	j := job(t, func(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
		if !run.Deadline.Equal(deadline) {
			t.Errorf("deadline %s, want %s", run.Deadline, deadline)
		}
		if end, ok := ctx.Deadline(); !ok || !end.Equal(deadline) {
			t.Errorf("context ends %s", end)
		}
		if run.Task != "copy" || run.Attempt != 2 || run.Params["n"] != int64(1) {
			t.Errorf("fire %+v", run.Fire)
		}
		run.Log.Info("begun", "attempt", run.Attempt)
		fmt.Fprintf(run.Output, "one\ntwo\nrest \xff")
		run.Progress(1, 2, "half")
		return pluginapi.Result{Message: "done", Data: map[string]any{"rows": 5}, Deferred: true}, nil
	})
	got := j.Run(ctx, pluginapi.Fire{Task: "copy", Attempt: 2, Params: map[string]any{"n": 1}})
	if got.Err != nil || got.Result.Message != "done" || got.Result.Data["rows"] != int64(5) || !got.Result.Deferred {
		t.Errorf("attempt %+v", got)
	}
	var lines []string
	for _, l := range got.Lines {
		lines = append(lines, l.Level+": "+l.Text)
	}
	if want := "info: begun attempt=2|output: one|output: two|output: rest \uFFFD"; strings.Join(lines, "|") != want {
		t.Errorf("lines %q", lines)
	}
	if len(got.Progress) != 1 || got.Progress[0] != (plugintest.Progress{Done: 1, Total: 2, Message: "half"}) {
		t.Errorf("progress %v", got.Progress)
	}
}

func TestTenThousandLinesInOrder(t *testing.T) {
	t.Parallel()
	const n = 10_000
	got := job(t, func(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
		for i := range n {
			if i%2 == 0 {
				fmt.Fprintln(run.Output, i)
			} else {
				run.Log.Error(fmt.Sprint(i))
			}
		}
		return pluginapi.Result{}, nil
	}).Run(t.Context(), pluginapi.Fire{})
	if got.Err != nil || got.Dropped != 0 || len(got.Lines) != n {
		t.Fatalf("%d lines, %d dropped, %v", len(got.Lines), got.Dropped, got.Err)
	}
	for i, l := range got.Lines {
		if l.Text != fmt.Sprint(i) {
			t.Fatalf("line %d is %q", i, l.Text)
		}
	}
}

func TestSoftCancelKeepsLastLinesAndOutcome(t *testing.T) {
	t.Parallel()
	for reason, cause := range map[string]error{
		wire.ReasonTimeout: pluginapi.ErrTimeout, wire.ReasonCanceled: pluginapi.ErrCanceled,
		wire.ReasonReplaced: pluginapi.ErrReplaced, wire.ReasonDrain: pluginapi.ErrDrain,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			j := job(t, func(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
				run.Log.Info("ready")
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), cause) {
					t.Errorf("cause %v", context.Cause(ctx))
				}
				for i := range 1000 {
					fmt.Fprintln(run.Output, "last", i)
				}
				return pluginapi.Result{}, fmt.Errorf("copy rows: %w", ctx.Err())
			})
			j.OnLine = func(l plugintest.Line) {
				if l.Text == "ready" {
					cancel(cause)
				}
			}
			got := j.Run(ctx, pluginapi.Fire{})
			if got.EndedBy != reason || got.Err == nil || !strings.Contains(got.Err.Error(), cause.Error()) {
				t.Errorf("ended by %q: %v", got.EndedBy, got.Err)
			}
			if len(got.Lines) != 1001 || got.Lines[1000].Text != "last 999" {
				t.Errorf("%d lines", len(got.Lines))
			}
		})
	}
}

// The plugin itself ends a run at its deadline, should the host not do so.
func TestDeadlineHoldsWithoutTheHost(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, jobComponent(func(ctx context.Context, _ *pluginapi.Run) (pluginapi.Result, error) {
		<-ctx.Done()
		return pluginapi.Result{}, ctx.Err()
	}))
	id, err := host.Prepare(pluginapi.KindJob, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	outcome := runRaw(t, host.Client, &pb.RunRequest{
		SpecId: id, RunId: "run", Fire: &pb.Fire{}, Deadline: wire.EncodeTime(time.Now().Add(20 * time.Millisecond)),
	})
	if outcome.GetEndedBy() != wire.ReasonTimeout || outcome.GetProblem().GetMessage() != pluginapi.ErrTimeout.Error() {
		t.Errorf("outcome %v", outcome)
	}
}

// runRaw runs without the help of package plugintest and returns the outcome.
func runRaw(t *testing.T, client *wire.Client, request *pb.RunRequest) *pb.RunOutcome {
	t.Helper()
	stream, err := client.Job.Run(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	for {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if event.GetOutcome() != nil {
			if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
				t.Errorf("after the outcome: %v", err)
			}
			return event.GetOutcome()
		}
	}
}

// Closing the stream is the hard stop: the job's context ends.
func TestBrokenStreamEndsTheRun(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	host := plugintest.New(t, jobComponent(func(ctx context.Context, _ *pluginapi.Run) (pluginapi.Result, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return pluginapi.Result{}, ctx.Err()
	}))
	id, err := host.Prepare(pluginapi.KindJob, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := host.Client.Job.Run(ctx, &pb.RunRequest{SpecId: id, RunId: "run", Fire: &pb.Fire{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if cause := <-ended; cause == nil || errors.Is(cause, pluginapi.ErrCanceled) {
		t.Errorf("cause %v", cause)
	}
}

func TestRunsThatAreNotBegun(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	host := plugintest.New(t, jobComponent(func(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
		<-release
		return pluginapi.Result{}, nil
	}))
	id, err := host.Prepare(pluginapi.KindJob, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := host.Client.Job.Run(t.Context(), &pb.RunRequest{SpecId: id, RunId: "twice", Fire: &pb.Fire{}})
	if err != nil {
		t.Fatal(err)
	}
	if event, err := first.Recv(); err != nil || event.GetAccepted() == nil {
		t.Fatalf("first event %v, %v", event, err)
	}
	for kind, request := range map[pb.Problem_Kind]*pb.RunRequest{
		pb.Problem_UNKNOWN_SPEC: {SpecId: "nobody", RunId: "a", Fire: &pb.Fire{}},
		pb.Problem_INVALID:      {SpecId: id, RunId: "twice", Fire: &pb.Fire{}},
	} {
		stream, err := host.Client.Job.Run(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		event, err := stream.Recv()
		if err != nil || event.GetOutcome().GetProblem().GetKind() != kind {
			t.Errorf("%v: first event is %v, %v; want an outcome of kind %v", request, event, err, kind)
		}
	}
	close(release)
}

func TestCancelOfAnUnknownRun(t *testing.T) {
	t.Parallel()
	host := plugintest.New(t, jobComponent(nil))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reply, err := host.Client.Job.Cancel(ctx, &pb.CancelRequest{RunId: "nobody"})
	if err != nil || reply.GetFound() {
		t.Errorf("%v, %v", reply, err)
	}
}

func TestJobsThatEndBadly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		run  jobFunc
		kind pb.Problem_Kind
		text string
	}{
		"error": {func(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
			return pluginapi.Result{}, errors.New("disk full")
		}, pb.Problem_RETRYABLE, "disk full"},
		"permanent error": {func(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
			return pluginapi.Result{}, pluginapi.Permanent(errors.New("no such table"))
		}, pb.Problem_PERMANENT, "no such table"},
		"panic": {func(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
			panic("oops")
		}, pb.Problem_INTERNAL, "panic: oops"},
		"nil map": {func(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
			var m map[string]int
			m[run.Task] = 1 //nolint:govet,staticcheck // the panic is the point
			return pluginapi.Result{}, nil
		}, pb.Problem_INTERNAL, "nil map"},
		"nil job": {nil, pb.Problem_INTERNAL, "nil pointer"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := job(t, test.run)
			for range 2 { // the plugin lives on
				got := j.Run(t.Context(), pluginapi.Fire{})
				p, ok := errors.AsType[*wire.ProblemError](got.Err)
				if !ok || p.Kind != test.kind || !strings.Contains(p.Message, test.text) {
					t.Errorf("got %#v", got.Err)
				}
				if (p.Stack != "") != (test.kind == pb.Problem_INTERNAL) {
					t.Errorf("stack %q", p.Stack)
				}
			}
		})
	}
}

// What a job knows of its failure, such as an exit code, goes with the error.
func TestDataOfAFailure(t *testing.T) {
	t.Parallel()
	got := job(t, func(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
		return pluginapi.Result{Data: map[string]any{"exit_code": 3}}, errors.New("failed")
	}).Run(t.Context(), pluginapi.Fire{})
	if got.Err == nil || got.Result.Data["exit_code"] != int64(3) {
		t.Errorf("attempt %+v", got)
	}
}

func TestDataThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"too large": strings.Repeat("x", 70_000), "no JSON": make(chan int), "panics": panicky{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := job(t, func(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
				return pluginapi.Result{Message: "done", Data: map[string]any{"x": value}}, nil
			}).Run(t.Context(), pluginapi.Fire{})
			if got.Err != nil || got.Result.Data != nil || got.Result.Message != "done" {
				t.Errorf("attempt %+v", got)
			}
			if len(got.Lines) != 1 || got.Lines[0].Level != "warn" {
				t.Errorf("lines %v", got.Lines)
			}
		})
	}
}

type panicky struct{}

// MarshalJSON implements json.Marshaler.
func (panicky) MarshalJSON() ([]byte, error) { panic("oops") }

func TestManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	j := job(t, func(_ context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
		fmt.Fprintln(run.Output, run.InstanceID)
		return pluginapi.Result{Message: run.InstanceID}, nil
	})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			id := fmt.Sprint("instance ", i)
			got := j.Run(t.Context(), pluginapi.Fire{InstanceID: id})
			if got.Err != nil || got.Result.Message != id || len(got.Lines) != 1 || got.Lines[0].Text != id {
				t.Errorf("%s: %+v", id, got)
			}
		})
	}
	wg.Wait()
}
