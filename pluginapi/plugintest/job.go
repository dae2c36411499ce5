package plugintest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
	"github.com/axsched/ax/pluginapi/wire"
)

// Job runs one job of a plugin.
type Job struct {
	// OnLine, if set, is called with each line as it arrives.
	OnLine func(Line)

	host *Host
	spec string
}

// Line is a line that a run logged or wrote.
type Line struct {
	At    time.Time
	Level string // output, trace, debug, info, warn or error
	Text  string
}

// Progress is one report of Run.Progress.
type Progress struct {
	Done, Total int64
	Message     string
}

// Attempt is what came of one run.
type Attempt struct {
	Result pluginapi.Result
	// Err is the job's error; [pluginapi.IsPermanent] works on it.
	Err error
	// EndedBy says why the run's context had ended before the job returned Err:
	// timeout, canceled, replaced or drain.
	EndedBy string
	Lines   []Line
	// Dropped lines are missing among Lines, with DroppedBytes of text, because
	// the host did not take them for too long.
	Dropped, DroppedBytes uint64

	Progress []Progress
	Beats    int
}

// Job makes a job from settings.
func (h *Host) Job(name string, settings any, options ...Option) *Job {
	h.t.Helper()
	return &Job{host: h, spec: h.mustPrepare(pluginapi.KindJob, name, settings, options)}
}

// Run does one run and waits for its outcome. When ctx ends, the run is
// canceled softly, with context.Cause(ctx) if that is one of the causes of
// package pluginapi. The deadline of ctx is the run's deadline. What a test
// leaves out of fire is filled in.
func (j *Job) Run(ctx context.Context, fire pluginapi.Fire) Attempt {
	j.host.t.Helper()
	in, err := encodeFire(fire)
	if err != nil {
		return Attempt{Err: err}
	}
	request := &pb.RunRequest{SpecId: j.spec, Fire: in, RunId: fmt.Sprintf("run-%d", j.host.specs.Add(1))}
	if deadline, ok := ctx.Deadline(); ok {
		request.Deadline = wire.EncodeTime(deadline)
	}
	hard, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stream, err := j.host.Client.Job.Run(hard, request)
	if err != nil {
		return Attempt{Err: fmt.Errorf("call Run: %w", err)}
	}
	defer context.AfterFunc(ctx, func() {
		j.cancel(request.GetRunId(), context.Cause(ctx))
		time.AfterFunc(callLimit, cut)
	})()
	return j.follow(stream)
}

func (j *Job) cancel(runID string, cause error) {
	reason := wire.EncodeReason(cause)
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		reason = wire.ReasonTimeout
	case reason == "":
		reason = wire.ReasonCanceled
	}
	ctx, stop := j.host.limit(context.Background())
	defer stop()
	// A run that has ended by itself is not found; either way Run sees its end.
	_, _ = j.host.Client.Job.Cancel(ctx, &pb.CancelRequest{RunId: runID, Reason: reason})
}

// follow collects events and checks their order.
func (j *Job) follow(stream pb.Job_RunClient) Attempt {
	var a Attempt
	for first, ended := true, false; ; first = false {
		event, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && ended:
			return a
		case errors.Is(err, io.EOF):
			a.Err = errors.New("the run ended without an outcome")
			return a
		case err != nil:
			a.Err = fmt.Errorf("follow run: %w", err)
			return a
		case ended:
			j.host.t.Errorf("event after the outcome: %v", event)
		}
		outcome := event.GetOutcome()
		ended = outcome != nil
		if first && event.GetAccepted() == nil && !ended {
			j.host.t.Errorf("first event is not accepted but %v", event)
		}
		if err := a.take(event, j.OnLine); err != nil {
			a.Err = err
			return a
		}
	}
}

func (a *Attempt) take(event *pb.RunEvent, onLine func(Line)) (err error) {
	switch e := event.GetEvent().(type) {
	case *pb.RunEvent_Logs:
		a.Dropped += e.Logs.GetDropped()
		a.DroppedBytes += e.Logs.GetDroppedBytes()
		for _, l := range e.Logs.GetLines() {
			line := Line{wire.DecodeTime(l.GetAt(), nil), l.GetLevel(), l.GetText()}
			a.Lines = append(a.Lines, line)
			if onLine != nil {
				onLine(line)
			}
		}
	case *pb.RunEvent_Progress:
		a.Progress = append(a.Progress, Progress{e.Progress.GetDone(), e.Progress.GetTotal(), e.Progress.GetMessage()})
	case *pb.RunEvent_Beat:
		a.Beats++
	case *pb.RunEvent_Outcome:
		a.Err = wire.DecodeProblem(e.Outcome.GetProblem())
		a.EndedBy = e.Outcome.GetEndedBy()
		a.Result = pluginapi.Result{Message: e.Outcome.GetMessage(), Deferred: e.Outcome.GetDeferred()}
		a.Result.Data, err = wire.DecodeObject(e.Outcome.GetData())
	}
	return err
}
